import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { DeliveryId } from "../../src/Id.ts"
import { nextSlotAt, slots } from "../../src/webhooks/AttemptSlots.ts"
import type { Attempt, Delivery } from "../../src/webhooks/Delivery.ts"
import {
  beginTest,
  type Complete,
  complete,
  completeDirectly,
  type Loaded,
  type Retry,
  retry,
  skip
} from "../../src/webhooks/DeliveryStep.ts"
import type { Webhook } from "../../src/webhooks/Webhook.ts"
import { standing } from "../../src/webhooks/WebhookHealth.ts"
import { inBatches, sizes } from "../batches.ts"
import { between, checks, day, hour, minute, second, upTo } from "../checks.ts"
import { attempt, delivery, event, health, id, start, webhook } from "../samples.ts"

/** The stored deliveries, with every claim that commands may name. */
class World {
  readonly webhooks: Map<string, Webhook>
  readonly deliveries: Map<DeliveryId, Delivery>
  readonly attempts: Array<readonly [DeliveryId, Attempt["id"]]> = []
  readonly ended = new Set<string>()
  /** In the order of their last rounds. */
  readonly begun = new Set<DeliveryId>()

  constructor(webhooks: ReadonlyArray<Webhook>, deliveries: ReadonlyArray<Delivery>) {
    this.webhooks = new Map(webhooks.map((one) => [one.id, one]))
    this.deliveries = new Map(deliveries.map((one) => [one.id, one]))
  }

  loaded(): Loaded {
    return {
      now: (asked) => asked,
      order: (webhookId, orderKey) =>
        [...this.deliveries.values()]
          .filter((one) => one.webhookId === webhookId && one.orderKey === orderKey && one.status === "pending")
          .sort((a, b) => a.sequence! - b.sequence!)
    }
  }

  complete(batch: ReadonlyArray<Complete>): ReadonlyArray<boolean> {
    const { answers, writes } = complete({
      ...this.loaded(),
      webhook: (webhookId) => this.webhooks.get(webhookId),
      claimed: (name, token) => this.ended.has(`${name.id} ${token}`) ? undefined : this.deliveries.get(name.id)
    }, batch)
    for (const one of writes.deliveries) this.deliveries.set(one.id, one)
    for (const one of writes.webhooks) this.webhooks.set(one.id, { ...this.webhooks.get(one.id)!, ...one })
    for (const one of writes.attempts) this.attempts.push([one.deliveryId, one.attempt.id])
    batch.forEach(({ delivery, token }) => this.ended.add(`${delivery.id} ${token}`))
    return answers
  }

  retry(batch: ReadonlyArray<Retry>): ReadonlyArray<unknown> {
    const { answers, writes } = retry({
      ...this.loaded(),
      present: (workspaceId) => [...this.webhooks.values()].find((one) => one.workspaceId === workspaceId),
      delivery: (workspaceId, deliveryId) => {
        const found = this.deliveries.get(deliveryId)
        return found?.workspaceId === workspaceId ? found : undefined
      }
    }, batch)
    for (const one of [...writes.begun, ...writes.freed]) this.deliveries.set(one.id, one)
    for (const one of writes.begun) {
      this.begun.delete(one.id)
      this.begun.add(one.id)
    }
    return answers
  }
}

const completion = (of: Delivery, fields: Partial<Attempt> = {}, token = "t"): Complete => ({
  now: start + minute,
  delivery: of,
  token,
  attempt: attempt(fields),
  jitter: 0
})

const good = { outcome: "delivered", statusCode: 200 } as const

const first = delivery({ id: id("dlv", 1) })
const second_ = delivery({ id: id("dlv", 2), sequence: 2, nextAttemptAt: null })
const third = delivery({ id: id("dlv", 3), sequence: 3, nextAttemptAt: null })

describe("recording attempts", () => {
  it("an attempt with a lost claim changes nothing", () => {
    const lost = new World([webhook()], [first])
    assert.deepStrictEqual(lost.complete([completion(first)]), [true])
    assert.deepStrictEqual(lost.complete([completion(first)]), [false])
    assert.lengthOf(lost.attempts, 1)
  })

  it.each(
    [
      { ...good, status: "delivered", completedAt: start + 50 },
      { outcome: "status", statusCode: 503, status: "skipped", completedAt: start + 10 }
    ] as const
  )("an attempt at a delivery that was skipped meanwhile is recorded: $outcome", (_) => {
    const { completedAt, status, ...fields } = _
    const skipped = { ...first, status: "skipped", nextAttemptAt: null, completedAt: start + 10 } as const
    for (const webhooks of [[], [webhook()]]) {
      const world = new World(webhooks, [skipped])
      const command = completion(skipped, { ...fields, startedAt: start, durationMs: 50 })
      assert.deepStrictEqual(world.complete([command]), [true])
      const after = world.deliveries.get(first.id)!
      assert.deepStrictEqual(
        [after.status, after.attemptCount, after.completedAt, after.nextAttemptAt],
        [status, 1, completedAt, null]
      )
      assert.lengthOf(world.attempts, 1)
    }
  })

  it("a claim ends with its first record, even within a batch", () => {
    const world = new World([webhook()], [first])
    assert.deepStrictEqual(world.complete([completion(first), completion(first, good)]), [true, false])
    assert.strictEqual(world.deliveries.get(first.id)?.status, "pending")
  })

  it("the next delivery of an order is due once the previous one has ended, and no other", () => {
    const world = new World([webhook()], [third, second_, first])
    world.complete([completion(first)])
    assert.isNull(world.deliveries.get(second_.id)?.nextAttemptAt)
    world.complete([completion(first, good, "later")])
    assert.strictEqual(world.deliveries.get(second_.id)?.nextAttemptAt, start + minute)
    assert.isNull(world.deliveries.get(third.id)?.nextAttemptAt)
  })
})

describe("asking for a delivery again", () => {
  const ask = { now: start + hour, workspaceId: id("ws"), id: first.id }

  it("a retry returns the delivery's new round and its webhook", () => {
    const world = new World([webhook()], [delivery({ status: "exhausted", completedAt: start, nextAttemptAt: null })])
    assert.deepStrictEqual(world.retry([ask]), [{
      delivery: delivery({ trigger: "manual", orderKey: null, sequence: null, nextAttemptAt: start + hour }),
      webhook: webhook()
    }])
  })

  it.each<[string, Delivery | undefined, Webhook | undefined]>([
    ["an unknown delivery", undefined, webhook()],
    ["a delivery of another workspace", delivery({ workspaceId: id("ws", 2) }), webhook()],
    ["a delivery to a webhook before the present one", delivery({ webhookId: id("whk", 2) }), webhook()],
    ["a delivery without a present webhook", delivery(), undefined],
    ["a test", delivery({ trigger: "test" }), webhook()]
  ])("%s is not tried again", (_, found, present) => {
    const world = new World(present === undefined ? [] : [present], found === undefined ? [] : [found])
    assert.deepStrictEqual(world.retry([ask]), [undefined])
    assert.deepStrictEqual([...world.deliveries.values()], found === undefined ? [] : [found])
  })

  it("a retried delivery that waits leaves its order, and others still wait for the first", () => {
    const world = new World([webhook()], [first, second_, third])
    world.retry([{ ...ask, id: second_.id }])
    assert.strictEqual(world.deliveries.get(second_.id)?.nextAttemptAt, start + hour)
    assert.isNull(world.deliveries.get(third.id)?.nextAttemptAt)
    world.complete([completion(first, good)])
    assert.strictEqual(world.deliveries.get(third.id)?.nextAttemptAt, start + minute)
  })

  it("a retried delivery that was skipped frees the next of its order", () => {
    const skipped = delivery({ status: "skipped", completedAt: start, nextAttemptAt: null })
    const world = new World([webhook()], [skipped, second_, third])
    world.retry([ask])
    assert.strictEqual(world.deliveries.get(second_.id)?.nextAttemptAt, start + hour)
    assert.isNull(world.deliveries.get(third.id)?.nextAttemptAt)
  })
})

describe("skipping deliveries", () => {
  it("skipping ends deliveries, and frees the first of each remaining order", () => {
    const world = new World([webhook()], [first, second_, third])
    assert.deepStrictEqual(skip(world.loaded(), [first], start + hour).deliveries, [
      { ...first, status: "skipped", nextAttemptAt: null, completedAt: start + hour },
      { ...second_, nextAttemptAt: start + hour }
    ])
    assert.lengthOf(skip(world.loaded(), [first, second_, third], start + hour).deliveries, 3)
  })
})

describe("beginning a test", () => {
  const command = {
    now: start,
    event: event({ type: "webhook.test", orderKey: null, sequence: null }),
    deliveryId: id("dlv", 9),
    trigger: "probe",
    token: "t",
    leaseUntil: start + 20 * second
  } as const

  it("event and delivery carry the storage's time, and the lease keeps its length", () => {
    const { answers: [begun], writes } = beginTest({ now: () => start + day, present: () => webhook() }, [command])
    assert.deepStrictEqual(writes.tests, [begun!])
    assert.strictEqual(begun?.event.createdAt, start + day)
    assert.strictEqual(begun?.delivery.createdAt, start + day)
    assert.strictEqual(begun?.leaseUntil, start + day + 20 * second)
    assert.isNull(begun?.delivery.nextAttemptAt)
  })

  it("there is no test without a webhook", () => {
    const nothing = beginTest({ now: (asked) => asked, present: () => undefined }, [command])
    assert.deepStrictEqual(nothing, { answers: [undefined], writes: { tests: [] } })
  })
})

const kind = Schema.Struct({
  kind: Schema.Literals(["complete", "complete", "retry"]),
  delivery: between(1, 8),
  token: between(1, 3),
  isGood: Schema.Boolean,
  minutes: between(0, 26 * 60),
  jitter: Schema.Literals([0, 0.5])
})

const world = () =>
  new World([
    webhook({ health: health({ consecutiveFailures: 4, failuresSince: start }) }),
    webhook({
      id: id("whk", 2),
      workspaceId: id("ws", 2),
      resumedAt: start + hour,
      health: health({ lastSuccessAt: start })
    })
  ], [
    first,
    second_,
    third,
    delivery({ id: id("dlv", 4), trigger: "test", orderKey: null, sequence: null, nextAttemptAt: null }),
    delivery({
      id: id("dlv", 5),
      status: "exhausted",
      attemptCount: 1,
      roundAttempts: 1,
      firstAttemptAt: start,
      lastAttemptAt: start,
      nextAttemptAt: null,
      completedAt: start
    }),
    ...[6, 7].map((n) =>
      delivery({
        id: id("dlv", n),
        workspaceId: id("ws", 2),
        webhookId: id("whk", 2),
        orderKey: id("msg", 2),
        sequence: n,
        attemptCount: 1,
        roundAttempts: 1,
        firstAttemptAt: start,
        lastAttemptAt: start,
        nextAttemptAt: n === 6 ? start : null
      })
    )
  ])

it.prop("batches decide the same as their commands one by one", { commands: upTo(kind, 30), sizes }, (_) => {
  const play = (sizes: ReadonlyArray<number>) => {
    const own = world()
    const answers = inBatches(_.commands, sizes, (command) => command.kind, (kind, batch): ReadonlyArray<unknown> => {
      const named = batch.map((command) => ({
        ...command,
        of: own.deliveries.get(id("dlv", command.delivery)) ?? delivery({ id: id("dlv", command.delivery) }),
        at: start + command.minutes * minute
      }))
      return kind === "retry"
        ? own.retry(named.map(({ at, of }) => ({ now: at, workspaceId: of.workspaceId, id: of.id })))
        : own.complete(
          named.map(({ at, isGood, jitter, of, token }) => ({
            ...completion(of, { startedAt: at, ...isGood ? good : {} }, `t${token}`),
            now: at,
            jitter
          }))
        )
    })
    return { answers, ...own, begun: [...own.begun] }
  }
  assert.deepStrictEqual(play(_.sizes), play([]))
}, checks)

const success = Schema.Struct({
  startedAt: between(start - day, start + day),
  durationMs: between(0, 5000),
  attemptCount: between(0, 3),
  trigger: Schema.Literals(["automatic", "manual", "test"]),
  lastSuccessAt: between(start - day, start + day),
  slowAgo: Schema.NullOr(between(10 * second, hour)),
  resumedAt: Schema.NullOr(between(start - hour, start + hour)),
  isRetried: Schema.Boolean
})

it.prop("a success decided from its claim equals the decision from everything stored, if the webhook is healthy", {
  success
}, ({ success: given }) => {
  const { attemptCount, lastSuccessAt, resumedAt, slowAgo, trigger } = given
  const claimed = delivery({
    trigger,
    attemptCount,
    lastAttemptAt: attemptCount === 0 ? null : start - 2 * day,
    orderKey: null,
    sequence: null
  })
  const healthy = webhook({
    resumedAt,
    health: health({
      lastSuccessAt,
      slowAt: slowAgo === null ? null : lastSuccessAt - slowAgo,
      lastAttemptAt: start,
      recoveredAt: start
    })
  })
  assert.strictEqual(standing(healthy.health), "healthy")
  const command = completion(claimed, {
    ...good,
    startedAt: given.startedAt,
    durationMs: given.durationMs,
    number: attemptCount + 1
  })
  const decided = completeDirectly(command)
  assert.strictEqual(decided === undefined, given.durationMs >= second)
  if (decided === undefined) return
  // a person may have retried it meanwhile
  const stored = given.isRetried && trigger !== "test" ? { ...claimed, trigger: "manual" as const } : claimed
  const world = new World([healthy], [stored])
  world.complete([command])
  const after = world.webhooks.get(healthy.id)!
  assert.deepStrictEqual(world.deliveries.get(claimed.id), { ...decided.delivery, trigger: stored.trigger })
  assert.deepStrictEqual(after, {
    ...healthy,
    health: {
      ...healthy.health,
      lastSuccessAt: Math.max(lastSuccessAt, decided.endedAt),
      lastAttemptAt: decided.endedAt
    }
  })
  assert.strictEqual(standing(after.health), "healthy")
  assert.deepStrictEqual([slots(after.health), nextSlotAt(after.health)], [slots(healthy.health), null])
}, checks)

it.each<[string, Partial<Attempt>, Partial<Delivery>]>([
  ["a failure", {}, {}],
  ["a slow success", { ...good, durationMs: second }, {}],
  ["a success after a failure in its round", { ...good, durationMs: 1 }, {
    attemptCount: 1,
    roundAttempts: 1,
    firstAttemptAt: start,
    lastAttemptAt: start
  }]
])("%s is not completed directly", (_, ended, of) => {
  assert.isUndefined(completeDirectly(completion(delivery(of), ended)))
})
