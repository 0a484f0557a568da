/**
 * Conformance of `MessageStore` over random sequences of reports: whatever is reported before a send is settled, after
 * that, and after silence, the best report wins, and the events and the quota agree with it. The expected state comes
 * from a small model. A failure names the seed and the sequence.
 */
import { assert } from "@effect/vitest"
import { type Event, EventStore, type Id, Message, MessageStore, UsageStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as SeededRandom from "../SeededRandom.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, minute, second } = Fixture

/** How many messages get their reports at the same time. */
const size = 500

const reportKinds = ["sent", "delivered", "read", "failed", "played"] as const
type ReportKind = (typeof reportKinds)[number]

const ends = ["Accepted", "Refused", "NotSent", "Unknown"] as const

/** The steps of one message, in this order. */
interface Sequence {
  readonly beforeEnd: ReadonlyArray<ReportKind>
  readonly end: (typeof ends)[number]
  readonly afterEnd: ReadonlyArray<ReportKind>
  /** The reports after a sweep has concluded the sends without a report. */
  readonly afterSilence: ReadonlyArray<ReportKind>
}

const sequence = (random: SeededRandom.SeededRandom): Sequence => {
  const some = (most: number) => Array.from({ length: random.below(most + 1) }, () => random.pick(reportKinds))
  return {
    beforeEnd: random.often([], some(3)),
    end: random.pick(ends),
    afterEnd: some(4),
    afterSilence: some(4)
  }
}

const rank = { sending: 1, unknown: 2, sent: 3, failed: 4, delivered: 5, read: 6 }
const ladder = ["sent", "delivered", "read"] as const

/** The expected state of a message. */
class Expected {
  status: keyof typeof rank = "sending"
  isConcluded = false
  isPlayed = false
  spendsQuota = true
  readonly events: Array<readonly [status: string, corrects: string | undefined]> = []

  private readonly best: Array<keyof typeof rank> = ["sending"]

  report(given: ReportKind): void {
    const status = given === "played" ? "read" : given
    if (given === "played") this.isPlayed = true
    this.best.push(status)
    if (rank[status] <= (this.isConcluded ? rank.unknown : rank[this.status])) return
    const hadFailed = this.status === "failed"
    if (status === "failed") {
      if (!hadFailed) this.events.push(["failed", undefined])
    } else {
      const known = this.events.map(([status]) => status)
      for (const step of ladder.filter((step) => rank[step] <= rank[status] && !known.includes(step))) {
        this.events.push([step, hadFailed ? "failed" : undefined])
      }
      this.spendsQuota = true
    }
    this.status = status
    this.isConcluded = false
  }

  end(end: Sequence["end"]): void {
    if (end === "Accepted") this.report("sent")
    if (end === "Unknown" && this.status === "sending") this.status = "unknown"
    if (end === "Refused") {
      this.report("failed")
      if (this.status === "failed") this.spendsQuota = false
    }
  }

  silence(): void {
    if (this.status !== "sending" && this.status !== "unknown") return
    if (this.status === "sending") this.spendsQuota = false
    this.events.push(["failed", undefined])
    this.status = "failed"
    this.isConcluded = true
  }

  /** The best of all reports, in whatever order they came; a failure if there was none. */
  get truth(): string {
    const best = this.best.reduce((best, one) => rank[one] > rank[best] ? one : best)
    return best === "sending" ? "failed" : best
  }
}

/** Registers the tests. */
export const tests = (it: Fixture.It, runs: SeededRandom.Runs): void => {
  const sequences = SeededRandom.count({ few: 100, all: 500, long: 100_000 }, runs)
  it.effect(
    `the best report wins in ${sequences} random sequences, and events and quota say so`,
    () =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        let read: Reading = { after: null, used: 0 }
        for (let seed = 1; (seed - 1) * size < sequences; seed++) {
          read = yield* play(own, seed, Math.min(size, sequences - (seed - 1) * size), read)
        }
      }),
    // a database makes several round trips for each sequence
    { timeout: 600_000 + sequences * 30 }
  )
}

/** The part of a workspace that was read so far. */
interface Reading {
  /** The last event. */
  readonly after: string | null
  /** The messages that should count against the quota. */
  readonly used: number
}

const play = (own: Fixture.World, seed: number, count: number, { after, used }: Reading): Fixture.Play<Reading> =>
  Effect.gen(function*() {
    const random = SeededRandom.make(seed)
    const store = yield* MessageStore.MessageStore
    const messages = yield* Effect.forEach(
      Array.from({ length: count }, () => sequence(random)),
      (sequence) =>
        Effect.map(MessageFixture.claimed(own), ({ command }) => ({ sequence, command, expected: new Expected() })),
      { concurrency: 64 }
    )
    type Played = (typeof messages)[number]
    const each = (carryOut: (played: Played) => Fixture.Step<unknown>) =>
      Effect.forEach(messages, carryOut, { concurrency: 64, discard: true })
    const reports = (which: "beforeEnd" | "afterEnd" | "afterSilence", from: number) =>
      each(({ command: { messageId }, expected, sequence }) =>
        Effect.forEach(sequence[which], (given, i) =>
          Effect.gen(function*() {
            expected.report(given)
            const status = given === "played" ? "read" : given
            const at = from + i
            const report = {
              status,
              at,
              providerMessageId: null,
              error: status === "failed" ? MessageFixture.refusedError : null,
              isPlayed: given === "played"
            }
            const ids = yield* Fixture.eventIds
            assert.isDefined(
              yield* store.applyReport({ now: at, providerNumberId: null, reference: messageId, report, ids })
            )
          }), { discard: true })
      )

    yield* reports("beforeEnd", own.start)
    const at = own.start + second
    yield* each(({ command, expected, sequence }) =>
      Effect.gen(function*() {
        expected.end(sequence.end)
        const end: MessageStore.SendEnd = sequence.end === "Accepted"
          ? yield* MessageFixture.acceptedOutcome
          : sequence.end === "Refused"
          ? yield* MessageFixture.refusedOutcome(at)
          : sequence.end === "NotSent"
          ? yield* MessageFixture.notSentOutcome
          : { _tag: "Unknown" }
        assert.isTrue(yield* MessageFixture.settle(command, end, at))
      })
    )
    yield* reports("afterEnd", at + second)
    for (const now of [at + 11 * minute, at + day + minute]) yield* store.sweep(now)
    for (const { expected } of messages) expected.silence()
    yield* reports("afterSilence", at + 2 * day)

    const all = yield* eventsAfter(own, after)
    const events = new Map<Id.MessageId | null, Array<Event.Event>>()
    for (const event of all) events.set(event.orderKey, [...events.get(event.orderKey) ?? [], event])
    yield* each(({ command: { messageId }, expected, sequence }) =>
      Effect.gen(function*() {
        const message = Option.getOrThrow(yield* store.get(own.workspace.id, messageId))
        const list = events.get(messageId) ?? []
        const which = `seed ${seed}: ${JSON.stringify(sequence)}`
        assert.strictEqual(expected.status, expected.truth, which)
        assert.deepStrictEqual(
          {
            status: message.status,
            failed: [message.failedAt !== null, message.error !== null],
            isConcluded: Message.isConcluded(message),
            isPlayed: message.playedAt !== null,
            events: list.map(({ data }) => [data["status"], data["corrects"]]),
            sequence: [message.sequence, ...list.map(({ sequence }) => sequence)]
          },
          {
            status: expected.status,
            failed: [expected.status === "failed", expected.status === "failed"],
            isConcluded: expected.isConcluded,
            isPlayed: expected.isPlayed,
            events: expected.events.map(([status, corrects]) => [status, corrects]),
            sequence: [expected.events.length, ...expected.events.map((_, i) => i + 1)]
          },
          which
        )
      })
    )
    const spent = used + messages.filter(({ expected }) => expected.spendsQuota).length
    const months = yield* UsageStore.UsageStore.use((usage) => usage.months(own.workspace.id))
    assert.deepStrictEqual(months.map(({ used }) => used), [spent], `the quota after seed ${seed}`)
    return { after: all.at(-1)?.id ?? after, used: spent }
  })

const eventsAfter = (own: Fixture.World, after: string | null): Fixture.Step<ReadonlyArray<Event.Event>> =>
  Effect.gen(function*() {
    const store = yield* EventStore.EventStore
    const all: Array<Event.Event> = []
    while (true) {
      const { items, next } = yield* store.list(own.workspace.id, {}, { limit: 500, after: all.at(-1)?.id ?? after })
      all.push(...items)
      if (next === null) return all
    }
  })
