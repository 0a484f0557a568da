/**
 * What PostgreSQL adds to the conformance suites: several processes on one database, and overlapping transactions.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { AttemptSlots, Delivery, DeliveryStore, type Id, WebhookHealth, WebhookStore } from "@wac/core"
import { DeliveryFixture, Fixture, MessageFixture, SeededRandom } from "@wac/testkit"
import { Clock, Duration, Effect, Fiber, FiberSet, Latch, Option } from "effect"
import * as Complete from "../../src/webhooks/Complete.ts"
import { carryOut } from "../carryOut.ts"
import * as DeliveryProcesses from "./DeliveryProcesses.ts"

const { claim, claimOne, complete, tryOne, view } = DeliveryFixture
const { hour, minute, putWebhook, second, world } = Fixture
const { blocked, elsewhere, open, Other, record, startProcess } = DeliveryProcesses

const idsOf = ({ deliveries }: DeliveryStore.Claimed) => deliveries.map(({ delivery }) => delivery.id)

/** How many deliveries each webhook has. */
const countsOf = (claims: ReadonlyArray<DeliveryStore.Claimed>) => {
  const counts = new Map<Id.WebhookId, number>()
  for (const { delivery } of claims.flatMap(({ deliveries }) => deliveries)) {
    counts.set(delivery.webhookId, (counts.get(delivery.webhookId) ?? 0) + 1)
  }
  return counts
}

const failing = (start: number): WebhookHealth.WebhookHealth => ({
  ...WebhookHealth.initial,
  consecutiveFailures: WebhookHealth.failingAfter,
  failuresSince: start - hour,
  lastFailure: { at: start - hour, message: "answered 500; only 200 counts" },
  lastAttemptAt: start - hour
})

layer(DeliveryProcesses.layer, { excludeTestServices: true })("two processes", (it) => {
  it.effect("racing claimers fill every webhook's slots and no more, round after round", () =>
    Effect.gen(function*() {
      const first = yield* world()
      const worlds = [first]
      while (worlds.length < 5) worlds.push(yield* world({ start: first.start }))
      for (const own of worlds) {
        yield* putWebhook(own, own === first ? { health: failing(own.start) } : {})
        yield* DeliveryFixture.record(own, 20)
      }
      const deliveries = yield* DeliveryStore.DeliveryStore
      for (let round = 0; round < 25; round++) {
        const now = first.start + minute + round * second
        const claimer = Effect.replicateEffect(claim(worlds, { now, limit: 9 }), 3)
        const claims = yield* Effect.all([claimer, elsewhere(claimer), elsewhere(claimer), claimer], {
          concurrency: "unbounded"
        })
        const rest = yield* claim(worlds, { now })
        const all = [...claims.flat(), rest]
        const ids = all.flatMap(idsOf)
        assert.strictEqual(new Set(ids).size, ids.length)
        const counts = countsOf(all)
        assert.deepStrictEqual([...counts.values()].sort((a, b) => a - b), [1, 16, 16, 16, 16])
        for (const claimed of all) {
          yield* deliveries.release(
            claimed.token,
            claimed.deliveries.map(({ delivery }) => delivery)
          )
        }
      }
    }))

  it.effect("a process continues with deliveries that the other one has claimed, released or left", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      // one look each, so that from here on both know only what they are notified of
      yield* claim(own, { now: own.start })
      yield* elsewhere(claim(own, { now: own.start }))

      const { messageId } = yield* MessageFixture.sent(own)
      yield* MessageFixture.report({ status: "read", at: own.start + 1, reference: messageId })
      const { attempt, claimed } = yield* tryOne(own, { startedAt: own.start + 1 })
      const retryAt = attempt.startedAt + attempt.durationMs + second
      const early = yield* elsewhere(claim(own, { now: retryAt - 1 }))
      assert.deepStrictEqual([early.deliveries, early.nextDueAt], [[], retryAt])
      const retry = yield* elsewhere(claimOne(own, { now: retryAt }))
      assert.strictEqual(retry.delivery.id, claimed.delivery.id)
      assert.deepStrictEqual((yield* claim(own, { now: retryAt })).deliveries, [])

      // released there, claimed here, and abandoned
      yield* elsewhere(DeliveryStore.DeliveryStore.use(({ release }) => release(retry.token, [retry.delivery])))
      const again = yield* claimOne(own, { now: retryAt })
      const late = yield* elsewhere(claimOne(own, { now: retryAt + DeliveryFixture.lease }))
      assert.strictEqual(late.delivery.id, again.delivery.id)
      assert.isFalse((yield* complete(again, { startedAt: retryAt, outcome: "delivered" })).recorded)
      yield* elsewhere(complete(late, { startedAt: retryAt, outcome: "delivered", now: retryAt + minute }))
      const follower = yield* claimOne(own, { now: retryAt + minute })
      assert.deepStrictEqual([follower.delivery.orderKey, follower.delivery.sequence], [messageId, 2])
    }))

  it.effect("a waiting process is woken by what the other one records and by what it releases", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const waiter = Effect.gen(function*() {
        const { awaitHint } = yield* DeliveryStore.DeliveryStore
        let quiet = false
        for (let i = 0; i < 100 && !quiet; i++) {
          quiet = Option.isNone(yield* Effect.timeoutOption(awaitHint, "300 millis"))
        }
        return yield* Effect.forkChild(awaitHint, { startImmediately: true })
      })
      const recording = yield* elsewhere(waiter)
      yield* DeliveryFixture.record(own, 1)
      yield* Fiber.join(recording)
      const claimed = yield* claimOne(own, { now: own.start })
      const releasing = yield* elsewhere(waiter)
      yield* DeliveryStore.DeliveryStore.use(({ release }) => release(claimed.token, [claimed.delivery]))
      yield* Fiber.join(releasing)
    }))

  it.effect("an attempt wakes waiting processes if it makes something due, not if it only schedules its retry", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      const { awaitHint } = yield* DeliveryStore.DeliveryStore
      const quiet = Effect.gen(function*() {
        for (let i = 0; i < 100; i++) if (Option.isNone(yield* Effect.timeoutOption(awaitHint, "300 millis"))) return
      })
      const { messageId } = yield* MessageFixture.sent(own)
      yield* MessageFixture.report({ status: "delivered", at: own.start, reference: messageId })
      const first = yield* claimOne(own, { now: own.start })
      yield* quiet
      const waiting = yield* Effect.forkChild(awaitHint, { startImmediately: true })
      yield* complete(first, { startedAt: own.start })
      // by now, every notification has arrived
      const again = yield* claimOne(own, { now: own.start + minute })
      assert.isUndefined(waiting.pollUnsafe())
      assert.deepStrictEqual([again.delivery.id, again.delivery.attemptCount], [first.delivery.id, 1])
      // its follower is due with its end
      yield* complete(again, { startedAt: own.start + minute, outcome: "delivered" })
      yield* Fiber.join(waiting)
    }))

  it.effect("deliveries recorded while an older transaction was open are claimed, and so are that transaction's", () =>
    Effect.gen(function*() {
      const slowOwn = yield* world()
      const own = yield* world({ start: slowOwn.start })
      yield* putWebhook(slowOwn)
      yield* putWebhook(own)
      const both = [slowOwn, own]
      yield* claim(both, { now: own.start })
      const slow = yield* open(record(slowOwn, {}))
      const [deliveryId] = yield* record(own, {})
      assert.deepStrictEqual(idsOf(yield* claim(both, { now: own.start })), [deliveryId!])
      assert.deepStrictEqual(idsOf(yield* claim(both, { now: own.start })), [])
      yield* slow.commit
      assert.strictEqual((yield* claim(both, { now: own.start })).deliveries.length, 1)
      assert.deepStrictEqual((yield* claim(both, { now: own.start })).deliveries, [])
    }))

  it.effect("a claim does not wait for a completion, and nothing that it passes over is lost", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const webhook = yield* putWebhook(own)
      yield* claim(own, { now: own.start })
      yield* DeliveryFixture.record(own, 20)
      const now = own.start + second
      const completion = yield* open(client`select from wac.webhook_health where webhook_id = ${webhook.id} for update`)
      const first = yield* claim(own, { now, limit: 3 })
      assert.strictEqual(first.deliveries.length, 3)
      const second_ = yield* claim(own, { now, limit: 3 })
      assert.strictEqual(second_.deliveries.length, 3)
      // webhooks that it could not put in line are looked at again soon
      assert.isAbove(second_.nextDueAt!, now)
      assert.isAtMost(second_.nextDueAt!, now + 50)
      yield* completion.commit
      assert.strictEqual((yield* claim(own, { now })).deliveries.length, 10)
      assert.strictEqual((yield* claim(own, { now: now + DeliveryFixture.lease })).deliveries.length, 16)
    }))

  it.effect("a follower that is recorded while its predecessor ends becomes due, whichever comes first", () =>
    Effect.gen(function*() {
      for (const first of ["the follower", "the end"] as const) {
        const own = yield* world()
        yield* putWebhook(own)
        const { messageId } = yield* MessageFixture.sent(own)
        const predecessor = yield* claimOne(own, { now: own.start })
        const follow = record(own, { orderKey: messageId, sequence: 2, type: "message.delivered" })
        const attempt = yield* DeliveryFixture.attempt(predecessor.delivery, {
          startedAt: own.start,
          outcome: "delivered"
        })
        if (first === "the follower") {
          const following = yield* open(follow)
          const ending = yield* Effect.forkChild(
            complete(predecessor, { startedAt: own.start, outcome: "delivered" }),
            { startImmediately: true }
          )
          yield* blocked
          yield* following.commit
          assert.isTrue((yield* Fiber.join(ending)).recorded)
        } else {
          const ending = yield* open(carryOut(Complete.complete, [{
            now: own.start + attempt.durationMs,
            delivery: predecessor.delivery,
            token: predecessor.token,
            attempt,
            jitter: 0
          }]))
          const following = yield* Effect.forkChild(follow, { startImmediately: true })
          yield* blocked
          yield* ending.commit
          yield* Fiber.join(following)
        }
        const { delivery } = yield* claimOne(own, { now: own.start + minute })
        assert.deepStrictEqual([delivery.orderKey, delivery.sequence], [messageId, 2], first)
      }
    }))

  it.effect("a process that starts finds what another one noticed but left", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const { url } = yield* Other
      const own = yield* world()
      yield* putWebhook(own)
      yield* DeliveryFixture.record(own, 2)
      yield* tryOne(own, { startedAt: own.start })
      // as if a crash had come between the look and its record
      yield* client`update wac.webhook_health set ready_at = null`
      const now = own.start + minute
      const seen = yield* Effect.scoped(
        Effect.flatMap(startProcess(url), (process) => Effect.provideContext(claim(own, { now }), process))
      )
      assert.strictEqual(seen.deliveries.length, 2)
    }))

  it.effect("a process that was suspended while thousands of deliveries came and went finds all that are left", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      const other = yield* world({ start: own.start })
      yield* putWebhook(own)
      yield* putWebhook(other)
      const both = [own, other]
      yield* claim(both, { now: own.start })
      const events = [...yield* DeliveryFixture.record(own, 3), ...yield* DeliveryFixture.record(other, 3)]
      yield* client`select setval('wac.positions', (select last_value from wac.positions) + 1000000)`
      const now = own.start + minute
      const first = yield* claim(both, { now, limit: 2 })
      const rest = yield* claim(both, { now })
      assert.deepStrictEqual(
        [...first.deliveries, ...rest.deliveries].map(({ event }) => event.id).sort(),
        events.sort()
      )
      // and afterwards the ones that come one by one
      const [later] = yield* DeliveryFixture.record(other, 1, now)
      assert.deepStrictEqual(DeliveryFixture.eventsOf(yield* claim(both, { now })), [later!])
    }))

  it.effect("an ended lease is taken over, unless its owner is just recording its attempt", () =>
    Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const own = yield* world()
      yield* putWebhook(own)
      yield* DeliveryFixture.record(own, 1)
      const first = yield* claimOne(own, { now: own.start })
      const now = own.start + DeliveryFixture.lease
      const recording = yield* open(client`delete from wac.delivery_claims where delivery_id = ${first.delivery.id}`)
      const early = yield* claim(own, { now })
      assert.deepStrictEqual(early.deliveries, [])
      assert.isNotNull(early.nextDueAt)
      yield* recording.commit
      yield* claimOne(own, { now })
    }))

  it.effect("a receiver's response is stored, whatever it contains", () =>
    Effect.gen(function*() {
      const own = yield* world()
      yield* putWebhook(own)
      yield* DeliveryFixture.record(own, 3)
      const said = ["\0 \ud800 \\u0000 \u{1F44D}", "{\"a\":\"\\u0000\"}", ""]
      for (const [i, body] of said.entries()) {
        const startedAt = own.start + (i + 1) * minute
        const claimed = yield* claim(own, { now: startedAt, limit: 1 })
        const [{ delivery }] = claimed.deliveries as [DeliveryStore.ClaimedDelivery]
        const response = { headers: { "x-odd": body, "": "" }, body }
        const { attempt, recorded } = yield* complete({ delivery, token: claimed.token }, {
          startedAt,
          outcome: "delivered",
          attempt: { response, message: `said ${body}` }
        })
        assert.isTrue(recorded)
        const { attempts } = yield* view(own, delivery.id)
        assert.deepStrictEqual(attempts, [{
          ...attempt,
          message: attempt.message.toWellFormed().replaceAll("\0", "\uFFFD")
        }])
      }
    }))

  const seeds = Array.from({ length: 60 }, (_, i) => ({ seed: i + 1 }))

  it.effect.each(seeds)(
    "attempts leave what the core decides, in one batch or one after another, seed $seed",
    ({ seed }) =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const { complete } = yield* DeliveryStore.DeliveryStore
        const random = SeededRandom.make(seed)
        const own = yield* world()
        const at = (spread: number) => own.start + random.below(spread) - spread / 2
        const moment = () => at(random.pick([2 * second, 2 * minute, 50 * hour]))
        const orNull = <A>(value: A) => random.pick([value, value, null])
        const failures = random.pick([0, 1, 4, 5, 6, 40])
        const lastFailure = orNull({ at: moment(), message: "before" })
        const lastSuccessAt = orNull(moment())
        let webhook = yield* putWebhook(own, {
          pausedAt: random.pick([null, null, null, own.start - hour]),
          resumedAt: random.pick([null, null, own.start - 25 * hour, own.start - 1]),
          health: {
            consecutiveFailures: failures,
            failuresSince: failures === 0 ? null : moment(),
            lastFailure,
            lastSuccessAt,
            slowAt: lastSuccessAt === null ? null : orNull(lastSuccessAt - random.pick([0, 1, 9_999, 10_000, hour])),
            lastAttemptAt: orNull(moment()),
            recoveredAt: orNull(moment())
          }
        })
        const rows = new Map<Id.DeliveryId, Delivery.Delivery>()
        for (const deliveryId of yield* record(own, ...Array.from({ length: 1 + random.below(6) }, () => ({})))) {
          const attemptCount = random.pick([0, 1, 2, 3, 4, 5, 6, 7, 8, 12])
          const roundAttempts = random.pick([attemptCount, attemptCount, Math.min(attemptCount, random.below(3))])
          const firstAttemptAt = roundAttempts === 0
            ? null
            : own.start - random.pick([0, 1, hour, 24 * hour, 30 * hour])
          const lastAttemptAt = attemptCount === 0 ? null : (firstAttemptAt ?? own.start) + 7
          yield* client`update wac.deliveries set attempt_count = ${attemptCount}, round_attempts = ${roundAttempts},
          first_attempt_at = ${firstAttemptAt}, last_attempt_at = ${lastAttemptAt} where id = ${deliveryId}`
          yield* client`insert into wac.delivery_claims (delivery_id, workspace_id, webhook_id, token, lease_until)
          values (${deliveryId}, ${own.workspace.id}, ${webhook.id}, 'mine', ${own.start + hour})`
          const { delivery } = yield* view(own, deliveryId)
          assert.deepStrictEqual(
            [delivery.attemptCount, delivery.roundAttempts, delivery.firstAttemptAt],
            [attemptCount, roundAttempts, firstAttemptAt]
          )
          rows.set(deliveryId, delivery)
        }

        // some twice, some under a wrong token
        const open = new Set(rows.keys())
        const commands = yield* Effect.forEach(
          random.shuffle([...rows.values(), ...random.shuffle([...rows.values()]).slice(0, 2)]),
          (delivery) =>
            Effect.map(
              DeliveryFixture.attempt(delivery, {
                startedAt: moment(),
                durationMs: random.below(5001),
                outcome: random.pick(["delivered", "delivered", "status", "timeout", "dns"]),
                attempt: {
                  message: random.pick(["so", "otherwise"]),
                  retryAfter: random.pick([
                    null,
                    null,
                    Duration.zero,
                    Duration.seconds(7),
                    Duration.minutes(40),
                    Duration.hours(5)
                  ])
                }
              }),
              (attempt) => ({
                now: attempt.startedAt + attempt.durationMs,
                delivery,
                token: random.pick(["mine", "mine", "mine", "not mine"]),
                attempt,
                jitter: random.pick([0, 0.1, 1 / 3, 0.5, 0.999999999, random.below(1_000_000) / 1_000_000])
              })
            )
        )
        const recorded = seed % 2 === 0
          ? yield* Effect.forEach(commands, complete)
          : (yield* client.withTransaction(carryOut(Complete.complete, commands))).map((one) => one !== "no")
        for (const [i, { attempt, delivery, jitter, token }] of commands.entries()) {
          const counts = token === "mine" && open.delete(delivery.id)
          assert.strictEqual(recorded[i], counts)
          if (!counts) continue
          const after = Delivery.afterAttempt(rows.get(delivery.id)!, webhook, attempt, jitter)
          rows.set(delivery.id, after.delivery)
          webhook = after.webhook
        }
        for (const [id, expected] of rows) assert.deepStrictEqual((yield* view(own, id)).delivery, expected)
        const state = yield* WebhookStore.WebhookStore.use((store) => store.get(own.workspace.id))
        assert.deepStrictEqual(Option.getOrThrow(state).webhook, webhook)
      })
  )
})

/** The maximum number of attempts in flight in one process. */
const hands = 24
/** A claimer's longest sleep: long, so that a missing notification is noticed. */
const sleep = 6 * second

layer(DeliveryProcesses.layer, { excludeTestServices: true })("two schedulers", (it) => {
  it.effect("two schedulers lose nothing, keep the order and the limits, and do not sleep while there is work", () =>
    Effect.gen(function*() {
      const start = yield* Clock.currentTimeMillis
      const worlds = yield* Effect.replicateEffect(world({ start }), 2)
      for (const own of worlds) yield* putWebhook(own)
      const random = SeededRandom.make(1)
      const inFlight = new Map<Id.WebhookId, number>()
      const delivered: Array<Delivery.Delivery> = []
      let most = 0
      let lastAt = start
      let longestPause = 0

      const attempt = Effect.fnUntraced(function*({ delivery }: DeliveryStore.ClaimedDelivery, token: string) {
        const { webhookId } = delivery
        inFlight.set(webhookId, (inFlight.get(webhookId) ?? 0) + 1)
        most = Math.max(most, inFlight.get(webhookId)!)
        const startedAt = yield* Clock.currentTimeMillis
        // retries due a second later or more are not announced: schedulers poll until then
        if (delivery.attemptCount === 0) longestPause = Math.max(longestPause, startedAt - lastAt)
        lastAt = startedAt
        yield* Effect.sleep(random.below(10))
        const now = yield* Clock.currentTimeMillis
        // the first retry comes after a second
        const outcome = delivery.attemptCount === 0 && random.below(25) === 0 ? "status" : "delivered"
        inFlight.set(webhookId, inFlight.get(webhookId)! - 1)
        if (outcome === "delivered") delivered.push(delivery)
        const { recorded } = yield* complete({ delivery, token }, {
          startedAt,
          outcome,
          durationMs: now - startedAt,
          now
        })
        assert.isTrue(recorded)
      })

      const scheduler = Effect.gen(function*() {
        const store = yield* DeliveryStore.DeliveryStore
        const token = yield* Fixture.word
        const busy = yield* FiberSet.make()
        const place = yield* Latch.make()
        let free = hands
        return yield* Effect.forever(Effect.gen(function*() {
          const limit = free
          if (limit === 0) {
            Latch.closeUnsafe(place)
            return yield* Latch.await(place)
          }
          const now = yield* Clock.currentTimeMillis
          const claimed = yield* store.claimDue({
            now,
            limit: { healthy: limit, doubtful: limit },
            token,
            leaseUntil: now + DeliveryFixture.lease
          })
          const end = Effect.sync(() => {
            free++
            Latch.openUnsafe(place)
          })
          for (const one of claimed.deliveries) {
            free--
            yield* FiberSet.run(busy, Effect.ensuring(attempt(one, token), end))
          }
          if (claimed.deliveries.length === limit) return
          const duration = Math.min(sleep, Math.max(0, (claimed.nextDueAt ?? Infinity) - now))
          yield* Effect.timeoutOrElse(store.awaitHint, { duration, orElse: () => Effect.void })
        }))
      }).pipe(Effect.scoped)

      // more at once than all slots, and messages in between
      const sender = Effect.fnUntraced(function*(own: Fixture.World) {
        for (let i = 0; i < 5; i++) {
          yield* record(own, ...Array.from({ length: 60 }, () => ({ now: start })))
          for (let j = 0; j < 4; j++) {
            const { messageId } = yield* MessageFixture.sent(own, { now: yield* Clock.currentTimeMillis })
            yield* Effect.sleep(random.below(60))
            yield* MessageFixture.report({ status: "read", at: yield* Clock.currentTimeMillis, reference: messageId })
          }
        }
      })
      const expected = 4 * 5 * (60 + 4 * 3)

      const schedulers = [
        yield* Effect.forkChild(scheduler),
        yield* Effect.forkChild(elsewhere(scheduler))
      ]
      yield* Effect.forEach(worlds, (own) => Effect.all([sender(own), elsewhere(sender(own))], { concurrency: 2 }), {
        concurrency: "unbounded"
      })
      for (let i = 0; i < 300 && delivered.length < expected; i++) {
        yield* Effect.raceFirst(Effect.sleep("100 millis"), Fiber.joinAll(schedulers))
      }
      yield* Fiber.interruptAll(schedulers)

      assert.strictEqual(delivered.length, expected)
      assert.strictEqual(new Set(delivered.map(({ id }) => id)).size, expected)
      assert.isAtMost(most, AttemptSlots.maxInFlight)
      const sequences = new Map<string, Array<number>>()
      for (const { orderKey, sequence } of delivered) {
        if (orderKey !== null) sequences.set(orderKey, [...sequences.get(orderKey) ?? [], sequence!])
      }
      assert.deepStrictEqual([...sequences.values()].filter((those) => those.join() !== "1,2,3"), [])
      // until the last first attempt there is always work, so no scheduler may sleep
      assert.isBelow(longestPause, sleep / 2)
    }))
})
