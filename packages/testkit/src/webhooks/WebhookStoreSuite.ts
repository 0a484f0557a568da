/**
 * Conformance of `WebhookStore`: a webhook's settings, secrets and removal, and which events get a delivery.
 */
import { assert } from "@effect/vitest"
import { type Id, type StoreError, WebhookStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as DeliveryFixture from "./DeliveryFixture.ts"

const { claim, complete, record, tidy, tryOne, views } = DeliveryFixture
const { day, hour, putWebhook, second, webhook, world } = Fixture

const stateOf = (
  { workspace }: Fixture.World
): Effect.Effect<WebhookStore.WebhookState, StoreError.StoreError, WebhookStore.WebhookStore> =>
  Effect.map(WebhookStore.WebhookStore.use((store) => store.get(workspace.id)), Option.getOrThrow)

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("put stores the first candidate as given", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore.WebhookStore
      const own = yield* world()
      assert.deepStrictEqual(yield* store.get(own.workspace.id), Option.none())
      assert.deepStrictEqual(yield* store.find(own.workspace.id), Option.none())
      const candidate = yield* webhook(own, {
        url: "https://receiver.example/pfad?ä=1",
        envelope: "b",
        eventTypes: ["message.failed", "message.received"],
        secrets: [
          { sealed: Fixture.sealed(5), expiresAt: null },
          { sealed: Fixture.sealed(4), expiresAt: own.start + day }
        ]
      })
      assert.deepStrictEqual(yield* store.put(candidate), { webhook: candidate, created: true })
      assert.deepStrictEqual(
        yield* store.get(own.workspace.id),
        Option.some({ webhook: candidate, heldCount: 0, oldestHeldAt: null, oldestTriedAt: null })
      )
      assert.deepStrictEqual(yield* store.find(own.workspace.id), Option.some(candidate))
    }))

  it.effect("put changes url, envelope, types and time, and keeps id, secrets, state and health", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore.WebhookStore
      const own = yield* world()
      const first = yield* webhook(own, {
        pausedAt: own.start + 1,
        health: {
          consecutiveFailures: 7,
          failuresSince: own.start - hour,
          lastFailure: { at: own.start, message: "answered 500; only 200 counts" },
          lastSuccessAt: own.start - day,
          slowAt: own.start - day,
          lastAttemptAt: own.start,
          recoveredAt: own.start - 2 * day
        }
      })
      yield* store.put(first)
      const second = yield* webhook(own, {
        url: "https://elsewhere.example/",
        envelope: "a",
        eventTypes: ["message.read"],
        secrets: [{ sealed: Fixture.sealed(9), expiresAt: null }],
        createdAt: own.start + hour,
        updatedAt: own.start + hour
      })
      const expected = {
        ...first,
        url: second.url,
        envelope: second.envelope,
        eventTypes: second.eventTypes,
        updatedAt: second.updatedAt
      }
      assert.deepStrictEqual(yield* store.put(second), { webhook: expected, created: false })
      assert.deepStrictEqual((yield* stateOf(own)).webhook, expected)
    }))

  it.effect("of racing creators, one creates the webhook", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore.WebhookStore
      const own = yield* world()
      const candidates = yield* Effect.replicateEffect(webhook(own), 20)
      const results = yield* Effect.forEach(candidates, store.put, { concurrency: "unbounded" })
      const created = results.filter((result) => result.created)
      assert.strictEqual(created.length, 1)
      const winner = created[0]!.webhook
      assert.deepStrictEqual(results.filter((result) => result.webhook.id !== winner.id), [])
      const { webhook: stored } = yield* stateOf(own)
      assert.strictEqual(stored.id, winner.id)
      assert.deepStrictEqual(stored.secrets, candidates.find(({ id }) => id === winner.id)!.secrets)
      assert.include(candidates.map(({ url }) => url), stored.url)
    }))

  it.effect("each workspace has its own webhook", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore.WebhookStore
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const mine = yield* putWebhook(own)
      assert.deepStrictEqual(yield* store.get(other.workspace.id), Option.none())
      assert.isFalse(yield* store.remove(other.workspace.id, own.start))
      yield* record(other, 1)
      assert.deepStrictEqual(yield* views(own), [])
      assert.deepStrictEqual((yield* stateOf(own)).webhook, mine)
    }))

  it.effect("only events of subscribed types, recorded while a webhook is set, get a delivery", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* record(own, 1)
      yield* putWebhook(own, { eventTypes: ["message.delivered"], envelope: "a" })
      yield* record(own, 1, own.start + 1)
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start + 2 })
      yield* MessageFixture.report({ status: "delivered", at: own.start + 3, reference: messageId })
      yield* MessageFixture.report({ status: "read", at: own.start + 4, reference: messageId })
      const shown = yield* views(own)
      assert.deepStrictEqual(
        shown.map(({ delivery }) => [delivery.eventType, delivery.envelope, delivery.sequence]),
        [["message.delivered", "a", 2]]
      )
    }))

  it.effect("a change of types and envelope applies to later events only", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const first = yield* putWebhook(own, { envelope: "a" })
      yield* record(own, 1)
      yield* putWebhook(own, { envelope: "b", eventTypes: ["message.sent"], updatedAt: own.start + 1 })
      yield* record(own, 1, own.start + 2)
      yield* MessageFixture.sent(own, { now: own.start + 3 })
      const shown = yield* views(own)
      assert.deepStrictEqual(
        shown.map(({ delivery }) => [delivery.eventType, delivery.envelope, delivery.status, delivery.webhookId]),
        [
          ["message.received", "a", "pending", first.id],
          ["message.sent", "b", "pending", first.id]
        ]
      )
    }))

  it.effect("rotateSecret puts a new secret before the live ones, which then expire", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore.WebhookStore
      const own = yield* world()
      const before = yield* putWebhook(own, {
        secrets: [
          { sealed: Fixture.sealed(9), expiresAt: null },
          { sealed: Fixture.sealed(8), expiresAt: own.start + hour },
          { sealed: Fixture.sealed(7), expiresAt: own.start + second },
          { sealed: Fixture.sealed(6), expiresAt: own.start + second + 1 }
        ]
      })
      const rotation = { workspaceId: own.workspace.id, webhookId: before.id }
      const after = yield* store.rotateSecret({
        ...rotation,
        secret: Fixture.sealed(10),
        previousExpiresAt: own.start + day,
        now: own.start + second
      })
      const expected = {
        ...before,
        secrets: [
          { sealed: Fixture.sealed(10), expiresAt: null },
          { sealed: Fixture.sealed(9), expiresAt: own.start + day },
          { sealed: Fixture.sealed(8), expiresAt: own.start + hour },
          { sealed: Fixture.sealed(6), expiresAt: own.start + second + 1 }
        ]
      }
      assert.deepStrictEqual(after, Option.some(expected))
      assert.deepStrictEqual((yield* stateOf(own)).webhook, expected)
      // a claim returns the secrets that are live then
      yield* record(own, 1)
      const { deliveries } = yield* claim(own, { now: own.start + hour })
      assert.deepStrictEqual(deliveries[0]!.secrets, expected.secrets.slice(0, 2))

      const atOnce = { secret: Fixture.sealed(11), previousExpiresAt: own.start + hour, now: own.start + hour }
      const alone = yield* store.rotateSecret({ ...rotation, ...atOnce })
      assert.deepStrictEqual(Option.getOrThrow(alone).secrets, [{ sealed: Fixture.sealed(11), expiresAt: null }])
    }))

  it.effect("rotateSecret leaves at most eight live secrets, even if rotations race, and affects only its own webhook", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore.WebhookStore
      const own = yield* world()
      const other = yield* world({ start: own.start })
      const rotate = (workspaceId: Id.WorkspaceId, webhookId: Id.WebhookId, mark: number) =>
        store.rotateSecret({
          workspaceId,
          webhookId,
          secret: Fixture.sealed(mark),
          previousExpiresAt: own.start + day + mark,
          now: own.start
        })
      const theirs = yield* putWebhook(other)
      assert.deepStrictEqual(yield* rotate(own.workspace.id, theirs.id, 20), Option.none())
      const mine = yield* putWebhook(own)
      assert.deepStrictEqual(yield* rotate(own.workspace.id, theirs.id, 20), Option.none())
      assert.deepStrictEqual(yield* rotate(own.workspace.id, yield* Fixture.id("whk"), 20), Option.none())

      const marks = Array.from({ length: 12 }, (_, i) => 30 + i)
      const rotated = yield* Effect.forEach(marks, (mark) => rotate(own.workspace.id, mine.id, mark), {
        concurrency: "unbounded"
      })
      const { secrets } = (yield* stateOf(own)).webhook
      assert.strictEqual(secrets.length, 8)
      assert.deepStrictEqual(secrets.filter(({ expiresAt }) => expiresAt === null), secrets.slice(0, 1))
      // the rotations were serialized: each saw the previous one's secrets
      const lengths = rotated.map((one) => Option.getOrThrow(one).secrets.length)
      assert.deepStrictEqual(lengths.sort((a, b) => a - b), [2, 3, 4, 5, 6, 7, 8, 8, 8, 8, 8, 8])
      assert.deepStrictEqual((yield* stateOf(other)).webhook, theirs)
    }))

  it.effect("remove skips open deliveries, leaves ended ones, and attempts in flight are recorded", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore.WebhookStore
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      yield* tryOne(own, { startedAt: own.start, outcome: "delivered" })
      yield* record(own, 2, own.start + second)
      const inFlight = yield* claim(own, { now: own.start + second + 1, limit: 2 })
      // its second event waits for the first one's end
      const { messageId } = yield* MessageFixture.sent(own, { now: own.start + 2 * second })
      yield* MessageFixture.report({ status: "delivered", at: own.start + 2 * second, reference: messageId })
      const at = own.start + 5 * second

      assert.isTrue(yield* store.remove(own.workspace.id, at))
      assert.deepStrictEqual(yield* store.get(own.workspace.id), Option.none())
      assert.isFalse(yield* store.remove(own.workspace.id, at))
      const shown = yield* views(own)
      assert.deepStrictEqual(
        shown.map(({ delivery, status }) => [
          delivery.eventType,
          delivery.status,
          status,
          delivery.completedAt,
          delivery.nextAttemptAt
        ]),
        [
          ["message.received", "delivered", "delivered", own.start + DeliveryFixture.durationMs, null],
          ["message.received", "skipped", "skipped", at, null],
          ["message.received", "skipped", "skipped", at, null],
          ["message.sent", "skipped", "skipped", at, null],
          ["message.delivered", "skipped", "skipped", at, null]
        ]
      )
      assert.deepStrictEqual((yield* claim(own, { now: own.start + day })).deliveries, [])

      // what the receiver answered is recorded: success delivers, failure is not tried again
      yield* tidy(at + second, 4)
      const ends = [["delivered", own.start + second + DeliveryFixture.durationMs], ["skipped", at]] as const
      for (const [i, [status, completedAt]] of ends.entries()) {
        const claimed = { delivery: inFlight.deliveries[i]!.delivery, token: inFlight.token }
        const outcome = status === "delivered" ? "delivered" : "status"
        const { attempt, recorded } = yield* complete(claimed, { startedAt: own.start + second, outcome })
        assert.isTrue(recorded)
        assert.isFalse((yield* complete(claimed, { startedAt: own.start + second, outcome })).recorded)
        const late = yield* DeliveryFixture.view(own, claimed.delivery.id)
        assert.deepStrictEqual(
          [late.status, late.delivery.attemptCount, late.delivery.completedAt, late.delivery.nextAttemptAt],
          [status, 1, completedAt, null]
        )
        assert.deepStrictEqual(late.attempts, [attempt])
      }
      assert.deepStrictEqual((yield* claim(own, { now: own.start + 2 * day })).deliveries, [])
    }))

  it.effect("a webhook set after a removal is a new one, and gets later events only", () =>
    Effect.gen(function*() {
      const store = yield* WebhookStore.WebhookStore
      const own = yield* world()
      yield* putWebhook(own)
      yield* record(own, 1)
      yield* store.remove(own.workspace.id, own.start + 1)
      const candidate = yield* webhook(own, { createdAt: own.start + 2, updatedAt: own.start + 2 })
      assert.deepStrictEqual(yield* store.put(candidate), { webhook: candidate, created: true })
      const { command } = yield* MessageFixture.inbound(own, { now: own.start + 3 })
      const { deliveries } = yield* claim(own, { now: own.start + 3 })
      assert.deepStrictEqual(deliveries.map(({ event }) => event.id), [command.ids.events[0]!])
      assert.strictEqual(deliveries[0]!.delivery.webhookId, candidate.id)
    }))

  it.effect("heldCount and oldestHeldAt report what waits while the webhook is paused, and nothing while it is active", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const other = yield* world({ start: own.start })
      yield* putWebhook(own, { pausedAt: own.start })
      yield* putWebhook(other)
      for (const { start, ...rest } of [own, other]) {
        yield* record({ start, ...rest }, 3, start + 5)
        // a delivery that waits for its predecessor is held too
        const { messageId } = yield* MessageFixture.sent({ start, ...rest }, { now: start + hour })
        yield* MessageFixture.report({ status: "delivered", at: start + hour, reference: messageId })
      }
      const { heldCount, oldestHeldAt, webhook } = yield* stateOf(own)
      assert.deepStrictEqual([heldCount, oldestHeldAt, webhook.pausedAt], [5, own.start + 5, own.start])
      const active = yield* stateOf(other)
      assert.deepStrictEqual([active.heldCount, active.oldestHeldAt], [0, null])
      assert.strictEqual((yield* views(own, { status: "held" })).length, 5)
      assert.strictEqual((yield* views(other, { status: "held" })).length, 0)
    }))

  it.effect("oldestTriedAt is the first attempt of the oldest delivery that has been tried without a success since", () =>
    Effect.gen(function*() {
      const own = yield* world()
      const at = Effect.map(stateOf(own), ({ oldestTriedAt }) => oldestTriedAt)
      yield* putWebhook(own)
      yield* record(own, 3)
      const { deliveries, token } = yield* claim(own, { now: own.start + second })
      assert.strictEqual(yield* at, null)
      const [one, two, three] = deliveries.map(({ delivery }) => ({ delivery, token }))
      yield* complete(two!, { startedAt: own.start + 3 * second })
      assert.strictEqual(yield* at, own.start + 3 * second)
      yield* complete(one!, { startedAt: own.start + 2 * second })
      assert.strictEqual(yield* at, own.start + 2 * second)
      // a success came after both, so neither will pause it
      yield* complete(three!, { startedAt: own.start + 4 * second, outcome: "delivered" })
      assert.strictEqual(yield* at, null)
      yield* record(own, 1, own.start + 5 * second)
      const again = yield* claim(own, { now: own.start + 5 * second })
      const fresh = again.deliveries.find(({ delivery }) => delivery.attemptCount === 0)!
      yield* complete({ ...fresh, token: again.token }, { startedAt: own.start + 5 * second })
      assert.strictEqual(yield* at, own.start + 5 * second)
    }))
}
