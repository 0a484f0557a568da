/**
 * Replay jobs and the deliveries that they retry, for every way in which deliveries end.
 */
import { assert } from "@effect/vitest"
import {
  ContactStore,
  type Delivery,
  DeliveryStore,
  EventStore,
  type Id,
  MessageStore,
  Replay,
  ReplayStore,
  type Time,
  WebhookHealth,
  WebhookStore
} from "@wac/core"
import { DeliveryFixture, Fixture, MessageFixture } from "@wac/testkit"
import { Effect } from "effect"
import { all, ask, askOne, type Game, property, world } from "./agreement.ts"

const { day, hour, minute, second } = Fixture

const contacts = ContactStore.ContactStore
const deliveries = DeliveryStore.DeliveryStore
const messages = MessageStore.MessageStore
const replays = ReplayStore.ReplayStore
const webhooks = WebhookStore.WebhookStore

const statuses: ReadonlyArray<Delivery.DeliveryStatus | undefined> = [
  undefined,
  "pending",
  "held",
  "delivered",
  "exhausted",
  "skipped"
]

/** The record of an attempt at `now`, identical in both storages. */
const attemptAt = (
  { delivery }: Pick<DeliveryStore.ClaimedDelivery, "delivery">,
  now: Time.Instant,
  outcome: Delivery.AttemptOutcome
): Delivery.Attempt => ({
  id: `att_${String(delivery.attemptCount).padStart(3, "0")}${delivery.id.slice(7)}` as Id.AttemptId,
  number: delivery.attemptCount + 1,
  trigger: delivery.trigger,
  startedAt: now,
  durationMs: 0,
  outcome,
  statusCode: outcome === "delivered" ? 200 : 500,
  message: "an answer",
  url: "https://receiver.example/",
  address: null,
  timings: null,
  response: null,
  retryAfter: null
})

property({ length: 70, checkEvery: 14 }, (random, note) =>
  Effect.gen(function*() {
    const own = yield* world()
    const { number, start, workspace: { id: workspaceId } } = own
    const stranger = yield* Fixture.id("ws")
    let now = start
    const jobs: Array<Replay.Replay> = []
    const sent: Array<Id.MessageId> = []
    const left: Array<{ readonly delivery: Delivery.Delivery; readonly token: string }> = []

    const receive = Effect.gen(function*() {
      const count = 1 + random.below(4)
      for (let i = 0; i < count; i++) {
        const command = {
          now: ++now,
          hashes: {},
          message: {
            providerNumberId: number.providerNumberId,
            providerMessageId: `wamid.${yield* Fixture.word}`,
            customer: { phone: MessageFixture.customer(random.below(5)), userId: null },
            at: now,
            type: "text",
            content: { body: "Hi" },
            context: null,
            preference: undefined
          },
          messageId: yield* Fixture.id("msg"),
          ids: yield* Fixture.eventIds
        }
        yield* askOne(contacts.use(({ recordInbound }) => recordInbound(command)))
      }
    })

    const send = Effect.gen(function*() {
      now++
      const command = yield* MessageFixture.sendCommand(own, { now })
      const { claimToken, messageId } = command
      const { _tag } = yield* askOne(messages.use(({ accept }) => accept(command)))
      assert.strictEqual(_tag, "Claimed")
      const settlement = {
        now,
        message: MessageFixture.asClaimed(command),
        claimToken,
        end: yield* MessageFixture.acceptedOutcome,
        ids: yield* Fixture.eventIds
      }
      assert.isTrue(yield* askOne(messages.use(({ settle }) => settle(settlement))))
      sent.push(messageId)
    })

    const report = Effect.gen(function*() {
      if (sent.length === 0) return
      now++
      const command = {
        now,
        providerNumberId: null,
        reference: random.pick(sent),
        report: { status: random.pick(["delivered", "read"] as const), at: now, providerMessageId: null, error: null },
        ids: yield* Fixture.eventIds
      }
      yield* askOne(messages.use(({ applyReport }) => applyReport(command)))
    })

    const claim = (token: string, now: Time.Instant, most: number) =>
      Effect.gen(function*() {
        const { claimDue } = yield* deliveries
        const limit = { healthy: most, doubtful: most }
        for (;;) {
          const claimed = yield* claimDue({ now, limit, token, leaseUntil: now + DeliveryFixture.lease })
          if (claimed.deliveries.length === 0 && claimed.nextDueAt !== null && claimed.nextDueAt <= now) continue
          return claimed.deliveries.toSorted((a, b) => a.delivery.id < b.delivery.id ? -1 : 1)
        }
      })

    /** Attempts everything that is due, a millisecond apart, because the order at equal times is not defined. */
    const attempt = Effect.gen(function*() {
      const token = yield* Fixture.word
      // receivers are healthy, unreliable or dead
      const health = random.pick([8, 8, 4, 0])
      const outcomes = Array.from({ length: 16 }, () =>
        random.below(8) < health ? "delivered" as const : "status" as const)
      const jitter = random.below(100) / 100
      const made = yield* askOne(Effect.gen(function*() {
        const made: Array<DeliveryStore.ClaimedDelivery> = []
        for (let i = 0;; i++) {
          const [one] = yield* claim(token, now + i, 1)
          if (one === undefined) {
            return made
          }
          made.push(one)
          const attempt = attemptAt(one, now + i, outcomes[i % outcomes.length]!)
          const { complete } = yield* deliveries
          assert.isTrue(yield* complete({ now: now + i, delivery: one.delivery, token, attempt, jitter }))
        }
      }))
      note(`${made.length} at ${now - start}`)
      now += made.length
    })

    /** Makes claims that are not carried out, or only later. */
    const leave = Effect.gen(function*() {
      const token = yield* Fixture.word
      for (const { delivery } of yield* askOne(claim(token, now, 100))) {
        left.push({ delivery, token })
      }
    })

    const end = Effect.gen(function*() {
      const one = left.splice(random.below(left.length), 1)[0]
      if (one === undefined) {
        return
      }
      if (random.below(2) === 0) {
        return yield* askOne(deliveries.use(({ release }) =>
          release(one.token, [one.delivery])
        ))
      }
      const attempt = attemptAt(one, now, random.pick(["delivered", "status"]))
      yield* askOne(deliveries.use(({ complete }) => complete({ now, ...one, attempt, jitter: 0 })))
    })

    const test = Effect.gen(function*() {
      const command = yield* DeliveryFixture.test(own, {
        now: ++now,
        trigger: random.pick(["test", "probe"])
      })
      yield* askOne(deliveries.use(({ beginTest }) => beginTest(command)))
      const { deliveryId: id, token } = command
      const found = yield* deliveries.use(({ get }) => get(command.event.workspaceId, id))
      if (found._tag === "Some") left.push({ delivery: found.value.delivery, token })
    })

    const retry = Effect.gen(function*() {
      now++
      const { items } = yield* deliveries.use(({ list }) => list(workspaceId, {}, { limit: 20, after: null }))
      const id = random.often(random.pick(items)?.delivery.id, undefined) ?? (yield* Fixture.id("dlv"))
      yield* askOne(deliveries.use(({ retry }) => retry(workspaceId, id, now)))
    })

    /** Without delay, so that both storages free deliveries behind skipped ones at the same time. */
    const tidy = askOne(deliveries.use(({ tidySkipped }) =>
      Effect.asVoid(Effect.repeat(Effect.suspend(() => tidySkipped(now, 100)), { while: (written) => written > 0 }))
    ))

    const change = Effect.gen(function*() {
      const webhook = yield* Fixture.webhook(own, {
        createdAt: now,
        updatedAt: now,
        health: { ...WebhookHealth.initial, lastSuccessAt: random.pick([null, start - day]) }
      })
      if (random.below(3) === 0) {
        yield* askOne(webhooks.use(({ remove }) =>
          remove(workspaceId, now)
        ))
        yield* tidy
      }
      yield* askOne(webhooks.use(({ put }) => put(webhook)))
    })

    const pause = Effect.suspend(() => {
      return askOne(webhooks.use(({ pause }) => pause(workspaceId, now)))
    })

    const resume = Effect.gen(function*() {
      const replay = random.pick(["all", "none", { since: now - random.pick([second, minute, hour]) }] as const)
      yield* askOne(webhooks.use(({ resume }) => resume({ workspaceId, now, replay })))
      yield* tidy
    })

    const create = Effect.gen(function*() {
      now++
      const since = start + random.below(now - start)
      const command = {
        id: yield* Fixture.id("job"),
        workspaceId,
        since: random.often(start, since),
        until: random.often(now, since + random.below(now - since), now + hour),
        status: random.often(null, ...Replay.statuses),
        now
      }
      const made = yield* askOne(replays.use(({ create }) => create(command)))
      if (made._tag === "Some") {
        jobs.push(made.value)
        note(`of ${made.value.total}`)
      }
    })

    const cancel = Effect.suspend(() => {
      const job = random.pick(jobs)
      if (job === undefined) return Effect.void
      const workspace = random.often(workspaceId, stranger)
      return askOne(replays.use(({ cancel }) => cancel(workspace, job.id, now)))
    })

    /** One delivery a step, because rounds that begin at the same time have no order. */
    const step = Effect.gen(function*() {
      const steps = 1 + random.below(8)
      for (let i = 0; i < steps; i++) {
        const at = ++now
        note(String(yield* askOne(replays.use(({ step }) => step(at, 1)))))
      }
    })

    const wait = Effect.sync(() => {
      now += random.pick([second, second, 5 * second, minute, 10 * minute, hour])
    })

    /** Without the waiting deliveries, among which PostgreSQL includes some in flight. */
    const backlog = deliveries.use(({ backlog }) =>
      Effect.map(
        backlog(now),
        ({ failingWebhooks, pausedWebhooks, pending }) => ({ failingWebhooks, pausedWebhooks, pending })
      )
    )

    const check = Effect.gen(function*() {
      const limit = random.pick([2, 100])
      yield* askOne(replays.use(({ list }) => all((page) => list(workspaceId, page), limit)))
      yield* ask(statuses.map((status) =>
        deliveries.use(({ list }) => all((page) => list(workspaceId, status === undefined ? {} : { status }, page)))
      ))
      yield* askOne(EventStore.EventStore.use(({ list }) =>
        all((page) => list(workspaceId, {}, page))
      ))
      yield* askOne(webhooks.use(({ get }) => get(workspaceId)))
      yield* ask(jobs.map(({ id }) => replays.use(({ get }) => get(workspaceId, id))))
      yield* askOne(backlog)
    })

    const steps: Game["steps"] = [
      ["receive", receive],
      ["receive", receive],
      ["receive", receive],
      ["send", send],
      ["report", report],
      ["report", report],
      ["attempt", attempt],
      ["attempt", attempt],
      ["attempt", attempt],
      ["attempt", attempt],
      ["leave", leave],
      ["end", end],
      ["test", test],
      ["retry", retry],
      ["change", change],
      ["pause", pause],
      ["resume", resume],
      ["resume", resume],
      ["create", create],
      ["create", create],
      ["step", step],
      ["step", step],
      ["cancel", cancel],
      ["wait", wait],
      ["wait", wait],
      ["wait", wait]
    ]
    yield* change
    return { steps, check }
  }))
