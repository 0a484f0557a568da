/**
 * Conformance of `MessageStore` over random command sequences: after each command the storage must agree with a small
 * model, which holds one binding and one message per key and applies the core's pure decisions to them. A test's title
 * contains its seed, and a failure lists the commands that led to it.
 */
import { assert } from "@effect/vitest"
import { Event, EventStore, type Id, Message, MessageStore, SendBinding } from "@wac/core"
import { Cause, Duration, Effect, Option, Predicate } from "effect"
import * as Fixture from "../Fixture.ts"
import * as SeededRandom from "../SeededRandom.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { hour, minute, second, world } = Fixture

const seeds = { all: 25, few: 6 }
const racingSeeds = { first: 1000, all: 10, few: 5 }

/** Commands per seed, and the range of their times, within which no key expires. */
const length = 60
const horizon = 20 * hour

/** The expected record under one key. */
interface Held {
  readonly binding: SendBinding.SendBinding
  readonly message: Message.Message
  /** The outcome of each call of the provider; `undefined` while it runs. */
  readonly calls: ReadonlyArray<MessageStore.SendEnd["_tag"] | undefined>
}

const told = (message: Message.Message, transitions: ReadonlyArray<Message.Transition>) =>
  Event.ofTransitions(message, transitions, { events: [] }, 0)

/** A message without the one field that a new try may change. */
const comparable = ({ statusAt: _, ...message }: Message.Message) => message

/** Runs a property. A failure names the seed and the commands. */
const property = (
  { seed }: { readonly seed: number },
  commands: (seed: number, history: Array<string>) => Fixture.Play<void>
) =>
  Effect.suspend(() => {
    const history: Array<string> = []
    return Effect.catchCause(commands(seed, history), (cause) => {
      const told = `seed ${seed}, after: ${history.join("; ")}`
      return Effect.die(new Error(`${told}\n${Cause.pretty(cause)}`))
    })
  })

/** Registers the tests. */
export const tests = (it: Fixture.It, runs: SeededRandom.Runs): void => {
  const [ordered, racing] = [SeededRandom.seeds(seeds, runs), SeededRandom.seeds(racingSeeds, runs)]
  it.effect.each(ordered)("the storage agrees with the model, seed $seed", (given) => property(given, run))
  it.effect.each(racing)("racing commands keep the laws, seed $seed", (given) => property(given, race))
}

const run = (seed: number, history: Array<string>): Fixture.Play<void> =>
  Effect.gen(function*() {
    const random = SeededRandom.make(seed)
    const store = yield* MessageStore.MessageStore
    const events = yield* EventStore.EventStore
    const own = yield* world()
    const keys = ["one", "two", "three"]
    const held = new Map<string, Held>()
    const commands = new Map<string, MessageStore.AcceptSend>()
    const expected = new Map<Id.MessageId, Array<Event.Event>>()
    const providerIds = new Map<string, string>()
    let now = own.start

    const providerId = Effect.fnUntraced(function*(key: string) {
      const known = providerIds.get(key) ?? (yield* MessageFixture.acceptedOutcome).providerMessageId
      providerIds.set(key, known)
      return known
    })
    const judged = (key: string, fingerprint: string) =>
      SendBinding.judge(held.get(key)?.binding, held.get(key)?.message, fingerprint, now)
    const move = (key: string, moved: Message.Update, rest: Partial<SendBinding.SendBinding> = {}) => {
      const { binding, calls } = held.get(key)!
      const { events, message } = told(moved.message, moved.transitions)
      expected.set(message.id, [...expected.get(message.id) ?? [], ...events])
      held.set(key, { binding: { ...binding, ...rest }, message, calls })
    }
    const endCall = (key: string, end: MessageStore.SendEnd["_tag"]) => {
      const present = held.get(key)!
      held.set(key, { ...present, calls: [...present.calls.slice(0, -1), end] })
    }

    const accept = Effect.fnUntraced(function*(key: string) {
      const fingerprint = random.below(8) === 0 ? "other" : "usual"
      const verdict = judged(key, fingerprint)
      const { accepted, command } = yield* MessageFixture.accept(own, { now, key, fingerprint })
      if (verdict._tag !== "Unbound" && verdict._tag !== "Released") {
        const { readings: _, ...answer } = accepted
        assert.strictEqual(answer._tag, verdict._tag)
        if (verdict._tag === "Answered" && verdict.answer._tag === "Sent") {
          assert.deepStrictEqual(answer, verdict as typeof answer)
        }
        return
      }
      if (accepted._tag !== "Claimed") return assert.fail(`expected a claim, got ${MessageFixture.describe(accepted)}`)
      const claim = { token: command.claimToken, leaseUntil: command.leaseUntil }
      const before = held.get(key)
      commands.set(key, { ...command, messageId: accepted.message.id })
      if (verdict._tag === "Unbound" || before === undefined) {
        assert.strictEqual(accepted.message.id, command.messageId)
        assert.deepStrictEqual([accepted.message.status, accepted.message.sequence], ["sending", 0])
        held.set(key, {
          binding: {
            fingerprint,
            messageId: command.messageId,
            claim,
            answer: null,
            lastFailure: null,
            expiresAt: null
          },
          message: accepted.message,
          calls: [undefined]
        })
        return
      }
      // the provider is never called twice, unless every earlier call certainly sent nothing
      assert.deepStrictEqual(before.calls.filter((end) => end !== "NotSent"), [])
      assert.strictEqual(accepted.message.id, before.message.id)
      held.set(key, {
        ...before,
        binding: { ...before.binding, claim },
        calls: [...before.calls, undefined]
      })
    })

    const endOf = Effect.fnUntraced(function*(tag: MessageStore.SendEnd["_tag"], key: string) {
      const ends: { readonly [Tag in MessageStore.SendEnd["_tag"]]: MessageStore.SendEnd } = {
        Accepted: { _tag: "Accepted", providerMessageId: yield* providerId(key) },
        Refused: yield* MessageFixture.refusedOutcome(now),
        NotSent: yield* MessageFixture.notSentOutcome,
        Unknown: { _tag: "Unknown" }
      }
      return ends[tag]
    })

    const settle = Effect.fnUntraced(function*(key: string) {
      const command = commands.get(key)
      if (command === undefined) return
      const present = held.get(key)
      const live = present !== undefined && present.binding.claim?.token === command.claimToken
      const stale = random.below(6) === 0
      const tag = random.pick<MessageStore.SendEnd["_tag"]>(
        ["Accepted", "Refused", "NotSent", "NotSent", "Unknown", "Unknown"]
      )
      const end = yield* endOf(tag, key)
      const claimToken = stale ? yield* Fixture.word : command.claimToken
      const settled = yield* MessageFixture.settle({ ...command, claimToken }, end, now)
      if (!live || stale) {
        assert.isFalse(settled, "settled without the claim")
        return
      }
      assert.isTrue(settled, "a live claim was not settled")
      endCall(key, tag)
      const { message } = present
      switch (end._tag) {
        case "Accepted": {
          const { providerMessageId } = end
          const moved = Message.apply(message, { status: "sent", at: now, providerMessageId, error: null }, now)
          move(key, moved, { claim: null, answer: SendBinding.sent(message, providerMessageId) })
          break
        }
        case "Refused":
          move(key, Message.apply(message, end.report, now), { claim: null, answer: end.answer })
          break
        case "NotSent":
          move(key, { message, transitions: [] }, { claim: null, lastFailure: end.answer })
          break
        case "Unknown": {
          const status = message.status === "sending" ? "unknown" : message.status
          move(key, { message: { ...message, status, statusAt: now }, transitions: [] }, { claim: null })
        }
      }
    })

    const report = Effect.fnUntraced(function*(key: string) {
      const present = held.get(key)
      if (present === undefined) return
      const status = random.pick(["sent", "sent", "delivered", "delivered", "read", "read", "failed"] as const)
      const named = yield* providerId(key)
      const providerMessageId = random.below(5) === 0 ? null : named
      const byName = providerMessageId !== null && present.message.providerMessageId !== null && random.below(2) === 0
      const at = now - random.below(5) * second
      const reference = byName ? null : present.message.id
      assert.isTrue(yield* MessageFixture.report({ status, at, now, reference, providerMessageId }))
      const error = status === "failed" ? MessageFixture.refusedError : null
      move(key, Message.apply(present.message, { status, at, providerMessageId, error }, now))
    })

    const sweep = Effect.fnUntraced(function*() {
      yield* store.sweep(now)
      for (const [key, { binding, message }] of held) {
        if (binding.claim !== null && binding.claim.leaseUntil <= now) {
          endCall(key, "Unknown")
          const status = message.status === "sending" ? "unknown" : message.status
          move(key, { message: { ...message, status, statusAt: now }, transitions: [] }, { claim: null })
        } else if (
          message.status === "unknown" && message.statusAt + Duration.toMillis(Message.unknownTimeout) <= now
        ) {
          move(key, {
            message: { ...message, status: "failed", statusAt: now, failedAt: now, error: Message.deliveryUnknown },
            transitions: [{ to: "failed", at: now }]
          })
        }
      }
    })

    const abandon = Effect.fnUntraced(function*(key: string) {
      const present = held.get(key)
      const command = commands.get(key)
      const claim = present?.binding.claim
      // only a process that has not called the provider yet abandons
      if (present === undefined || command === undefined || claim == null || claim.leaseUntil <= now) return
      if (present.message.status !== "sending" || present.message.providerMessageId !== null) return
      const { messageId } = command
      yield* store.abandon({ ...command, now })
      if (present.calls.length === 1) {
        held.delete(key)
        commands.delete(key)
        assert.deepStrictEqual(yield* store.get(own.workspace.id, messageId), Option.none())
      } else {
        held.set(key, {
          ...present,
          binding: { ...present.binding, claim: null },
          calls: present.calls.slice(0, -1)
        })
      }
    })

    /** Lets time pass. A sweep runs at every lease's end, so that nothing depends on when one happens to run. */
    const wait = Effect.fnUntraced(function*() {
      const until = now + random.pick([1, second, 29 * second, 30 * second, 5 * minute, 10 * minute, hour])
      if (until >= own.start + horizon) return
      while (true) {
        const ends = [...held.values()]
          .map(({ binding }) => binding.claim?.leaseUntil ?? Infinity)
          .filter((end) => end <= until)
        if (ends.length === 0) break
        now = Math.min(...ends)
        yield* sweep()
      }
      now = until
      history.push(`until ${now - own.start} ms`)
    })

    const steps: ReadonlyArray<readonly [string, (key: string) => Fixture.Step<void>]> = [
      ["accept", accept],
      ["accept", accept],
      ["accept", accept],
      ["settle", settle],
      ["settle", settle],
      ["report", report],
      ["report", report],
      ["sweep", sweep],
      ["abandon", abandon],
      ["wait", wait]
    ]
    const ranksSeen = new Map<Id.MessageId, Message.Message>()
    for (let i = 0; i < length; i++) {
      const [name, step] = random.pick(steps)
      const key = random.pick(keys)
      history.push(`${name} ${key}`)
      yield* step(key)
      for (const [key, { binding, message }] of held) {
        const stored = Option.getOrThrow(yield* store.get(own.workspace.id, message.id))
        assert.deepStrictEqual(comparable(stored), comparable(message), `the message of ${key}`)
        assertNoStepBack(ranksSeen.get(message.id), stored)
        ranksSeen.set(message.id, stored)
        const { fingerprint } = binding
        const request = { workspaceId: own.workspace.id, route: "POST /v1/messages", key, fingerprint }
        const verdict = yield* store.lookUp(request as MessageStore.KeyedRequest, now)
        assert.strictEqual(verdict._tag, judged(key, fingerprint)._tag, `the verdict on ${key}`)
      }
    }

    const { items } = yield* events.list(own.workspace.id, {}, { limit: 100, after: null })
    for (const [id, list] of expected) {
      const stored = items.filter(({ orderKey }) => orderKey === id)
      assert.deepStrictEqual(
        stored.map(({ data, sequence, type }) => ({ data, sequence, type })),
        list.map(({ data, sequence, type }) => ({ data, sequence, type }))
      )
      assertLawful(stored)
    }
    assert.strictEqual(items.length, [...expected.values()].flat().length)
  })

/** A status never falls, except from a failure that was concluded from silence. */
const assertNoStepBack = (before: Message.Message | undefined, after: Message.Message) => {
  if (before === undefined || before.status === after.status) return
  if (Message.isConcluded(before)) return
  assert.isAtLeast(
    Message.rankOf(after.status),
    Message.rankOf(before.status),
    `${before.status} became ${after.status}`
  )
}

/** Whether an event reports a failure that we concluded from silence. The real outcome may follow. */
const isConclusion = ({ data }: Event.Event) =>
  Predicate.hasProperty(data["error"], "reason") && data["error"].reason === Message.deliveryUnknown.reason

/**
 * Checks one message's events: a sequence without a gap, no step twice, the steps in order, and `corrects` from a
 * failure on, in each event of its correction.
 */
const assertLawful = (events: ReadonlyArray<Event.Event>) => {
  assert.isAtMost(events.filter(isConclusion).length, 1)
  const types = events.filter((event) => !isConclusion(event)).map(({ type }) => type)
  assert.deepStrictEqual(events.map(({ sequence }) => sequence), events.map((_, i) => i + 1))
  assert.strictEqual(new Set(types).size, types.length, `told twice: ${types.join(", ")}`)
  const ladder = types.filter((type) => type !== "message.failed")
  assert.deepStrictEqual(ladder, ["message.sent", "message.delivered", "message.read"].slice(0, ladder.length))
  for (const [i, { data, type }] of events.entries()) {
    const before = events[i - 1]
    const isFirst = before?.type === "message.failed"
    const isFurther = before?.data["corrects"] === "failed" && before.createdAt === events[i]!.createdAt
    if (data["corrects"] === undefined) assert.isFalse(isFirst, `${type} after a failure corrects nothing`)
    else assert.isTrue(type !== "message.failed" && (isFirst || isFurther), `${type} corrects nothing`)
  }
}

/** Rounds of commands that race for one key. Asserts only what holds in any order. */
const race = (seed: number, history: Array<string>): Fixture.Play<void> =>
  Effect.gen(function*() {
    const random = SeededRandom.make(seed)
    const store = yield* MessageStore.MessageStore
    const events = yield* EventStore.EventStore
    const own = yield* world()
    const key = yield* Fixture.word
    const { providerMessageId } = yield* MessageFixture.acceptedOutcome
    let now = own.start
    let running: MessageStore.AcceptSend | undefined
    let messageId: Id.MessageId | undefined
    let sendable = true
    let before: Message.Message | undefined
    for (let round = 0; round < 12; round++) {
      now += random.pick([1, second, 10 * second, 31 * second, 11 * minute])
      const end = random.pick<MessageStore.SendEnd>([
        { _tag: "Accepted", providerMessageId },
        yield* MessageFixture.notSentOutcome,
        yield* MessageFixture.notSentOutcome,
        yield* MessageFixture.notSentOutcome,
        { _tag: "Unknown" }
      ])
      const settling = running
      const reported = random.shuffle(["sent", "delivered", "read"] as const).slice(0, random.below(3))
      const reports = messageId === undefined || round < 4 ? [] : reported
      history.push(
        `round at ${now - own.start}: ${settling === undefined ? "nothing" : end._tag}, ${reports.join(" ")}`
      )
      const claims: Array<MessageStore.AcceptSend> = []
      let settled = false
      const accept = Effect.map(MessageFixture.accept(own, { key, now }), ({ accepted, command }) => {
        if (accepted._tag === "Claimed") claims.push({ ...command, messageId: accepted.message.id })
      })
      const racers: Array<Fixture.Step<unknown>> = Array.from({ length: 6 }, () => accept)
      racers.push(store.sweep(now))
      if (settling !== undefined) {
        racers.push(Effect.map(MessageFixture.settle(settling, end, now), (result) => {
          settled = result
        }))
      }
      for (const status of reports) {
        racers.push(MessageFixture.report({ status, at: now, reference: messageId!, providerMessageId }))
      }
      yield* Effect.all(random.shuffle(racers), { concurrency: "unbounded", discard: true })

      if (settled && end._tag !== "NotSent") sendable = false
      assert.isAtMost(claims.length, 1, "two claims at once")
      if (claims.length === 1) {
        assert.isTrue(sendable, "claimed again although a former call may have sent")
        if (settling !== undefined) assert.isTrue(settled, "a running claim was taken over")
        messageId ??= claims[0]!.messageId
        assert.strictEqual(claims[0]!.messageId, messageId)
        running = claims[0]
      } else if (settled || (settling !== undefined && settling.leaseUntil <= now)) {
        // a claim that ended without a settlement may have sent
        if (!settled) sendable = false
        running = undefined
      }
      if (messageId === undefined) continue
      const message = Option.getOrThrow(yield* store.get(own.workspace.id, messageId))
      assertNoStepBack(before, message)
      before = message
      const { items } = yield* events.list(own.workspace.id, {}, { limit: 100, after: null })
      assertLawful(items)
      assert.strictEqual(message.sequence, items.length)
    }
  })
