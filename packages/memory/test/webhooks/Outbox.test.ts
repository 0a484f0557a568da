import { assert, it } from "@effect/vitest"
import { type Delivery, DeliveryStep, type Event, type Id, type Webhook, WebhookHealth } from "@wac/core"
import { type Consignment, Outbox } from "../../src/webhooks/Outbox.ts"

const webhook: Webhook.Webhook = {
  id: "whk_1" as Id.WebhookId,
  workspaceId: "ws_1" as Id.WorkspaceId,
  url: "https://receiver.example/events",
  envelope: "combined",
  eventTypes: ["message.received", "message.sent"],
  secrets: [],
  createdAt: 0,
  updatedAt: 0,
  pausedAt: null,
  resumedAt: null,
  health: { ...WebhookHealth.initial, lastSuccessAt: 0 }
}

let serial = 0
const added = new Map<Id.DeliveryId, Consignment>()
const add = (outbox: Outbox, createdAt: number, orderKey: string | null = null): Consignment => {
  serial++
  const event: Event.Event = {
    id: `evt_${serial}` as Id.EventId,
    workspaceId: webhook.workspaceId,
    type: "message.received",
    createdAt,
    orderKey: orderKey as Id.MessageId | null,
    sequence: orderKey === null ? null : serial,
    data: {},
    trace: null
  }
  const consignment = outbox.add(event, `dlv_${serial}` as Id.DeliveryId)
  added.set(consignment.id, consignment)
  return consignment
}

const claim = (outbox: Outbox, now: number, until = now + 15_000): ReadonlyArray<Consignment> => {
  const claimed: Array<Consignment> = []
  if (!outbox.isReady(now)) return claimed
  while (claimed.length < 100) {
    const next = outbox.claim(now, { token: "t", until })
    if (next === undefined) return claimed
    claimed.push(next)
  }
  return assert.fail("there is no end to it")
}

const attempt = (consignment: Consignment, outcome: Delivery.AttemptOutcome, startedAt: number): Delivery.Attempt => ({
  id: "att_1" as Id.AttemptId,
  number: consignment.delivery.attemptCount + 1,
  trigger: "automatic",
  startedAt,
  durationMs: 0,
  outcome,
  statusCode: null,
  message: outcome,
  url: "https://receiver.example/",
  address: null,
  timings: null,
  response: null,
  retryAfter: null
})

/** Records an attempt, as the store does. */
const end = (outbox: Outbox, consignment: Consignment, outcome: Delivery.AttemptOutcome, now: number) => {
  const { writes } = DeliveryStep.complete({
    now: () => now,
    order: (_, orderKey) => outbox.order(orderKey),
    webhook: () => outbox.webhook,
    claimed: () => consignment.delivery
  }, [{ now, delivery: consignment.delivery, token: "t", attempt: attempt(consignment, outcome, now), jitter: 0 }])
  for (const state of writes.webhooks) outbox.keepWebhook({ ...outbox.webhook, ...state })
  outbox.endClaim(consignment)
  for (const delivery of writes.deliveries) outbox.keep(added.get(delivery.id)!, delivery)
}

it("no more deliveries are in flight than there are slots, and an ended lease frees a slot", () => {
  const outbox = new Outbox(webhook)
  for (let i = 0; i < 20; i++) add(outbox, i)
  const claimed = claim(outbox, 100, 500)
  assert.deepStrictEqual(claimed.map(({ event }) => event.createdAt), Array.from({ length: 16 }, (_, i) => i))
  assert.strictEqual(outbox.nextAt(100), 500)
  assert.lengthOf(claim(outbox, 499), 0)
  // expired claims have waited longer than deliveries that were never claimed
  assert.deepStrictEqual(claim(outbox, 500, 900).map(({ id }) => id), claimed.map(({ id }) => id))
})

it("nextAt returns when something can be claimed, and null while the webhook is paused", () => {
  const outbox = new Outbox(webhook)
  assert.isNull(outbox.nextAt(0))
  const first = add(outbox, 0)
  add(outbox, 50)
  assert.strictEqual(outbox.nextAt(10), 10)
  assert.deepStrictEqual(claim(outbox, 10), [first])
  assert.strictEqual(outbox.nextAt(10), 50)
  outbox.webhook = { ...webhook, pausedAt: 40 }
  add(outbox, 70)
  assert.isFalse(outbox.isReady(60))
  assert.isNull(outbox.nextAt(60))
})

it("a failing webhook gets one attempt at a time with a gap, first attempts before retries", () => {
  const outbox = new Outbox(webhook)
  for (let i = 0; i < 5; i++) add(outbox, 0)
  for (const consignment of claim(outbox, 0)) end(outbox, consignment, "timeout", 0)
  assert.isTrue(WebhookHealth.isFailing(outbox.webhook.health))
  // the retries are due after one second, when the gap ends too
  const fresh = add(outbox, 10)
  assert.isFalse(outbox.isReady(10))
  assert.strictEqual(outbox.nextAt(10), 1000)
  const probe = claim(outbox, 1000)
  assert.deepStrictEqual(probe, [fresh])
  assert.strictEqual(outbox.nextAt(1000), 16_000)
  end(outbox, fresh, "timeout", 1200)
  assert.isFalse(outbox.isReady(1200))
  assert.strictEqual(outbox.nextAt(1200), 2200)
  const [retry, ...others] = claim(outbox, 2200)
  assert.lengthOf(others, 0)
  end(outbox, retry!, "delivered", 2300)
  // recovered: everything that waits is due, even with a later retry time
  assert.lengthOf(claim(outbox, 2300), 5)
})

it("only the first open sequence of an order key is claimed", () => {
  const outbox = new Outbox(webhook)
  const [first, second, third] = [add(outbox, 0, "msg_1"), add(outbox, 1, "msg_1"), add(outbox, 2, "msg_1")]
  assert.deepStrictEqual(claim(outbox, 10), [first])
  end(outbox, first, "timeout", 10)
  assert.lengthOf(claim(outbox, 500), 0)
  assert.deepStrictEqual(claim(outbox, 2000), [first])
  end(outbox, first, "delivered", 2000)
  assert.deepStrictEqual(claim(outbox, 2000), [second])
  assert.isNull(third.delivery.nextAttemptAt)
  end(outbox, second, "delivered", 2100)
  assert.strictEqual(third.delivery.nextAttemptAt, 2100)
})

it("a released delivery is due again as before", () => {
  const outbox = new Outbox(webhook)
  const [older, newer] = [add(outbox, 0), add(outbox, 1)]
  for (const consignment of claim(outbox, 5)) outbox.release(consignment)
  assert.deepStrictEqual(claim(outbox, 5), [older, newer])
})

/** Counts every access to a consignment or its place. */
const counting = (outbox: Outbox, looks: { count: number }) => {
  const count = <A extends object>(target: A, field: keyof A) => {
    let value = target[field]
    Object.defineProperty(target, field, {
      get: () => {
        looks.count++
        return value
      },
      set: (next) => {
        value = next
      }
    })
  }
  for (const consignment of outbox.open) {
    const { place } = consignment
    for (const field of ["delivery", "lease", "place"] as const) count(consignment, field)
    for (const field of ["at", "dueAt", "serial", "consignment"] as const) count(place!, field)
  }
}

it("a waiting backlog costs claims nothing, and draining it costs little per delivery", () => {
  const size = 16_384
  const outbox = new Outbox(webhook)
  for (let i = 0; i < size; i++) add(outbox, 1_000_000 + i)
  const looks = { count: 0 }
  counting(outbox, looks)
  for (let now = 0; now < 100; now++) {
    assert.isFalse(outbox.isReady(now))
    assert.strictEqual(outbox.nextAt(now), 1_000_000)
  }
  // scanning at each claim would be 3 million
  assert.isBelow(looks.count, 100 * 20)
  looks.count = 0
  let drained = 0
  for (let claims = 0; claims < size && outbox.open.size > 0; claims++) {
    const claimed = claim(outbox, 2_000_000)
    for (const consignment of claimed) end(outbox, consignment, "delivered", 2_000_000)
    drained += claimed.length
  }
  assert.strictEqual(drained, size)
  // each is accessed, so the count is meaningful
  assert.isAtLeast(looks.count, size)
  // a heap of them is 14 levels high, and each step down compares some fields of two or three
  assert.isBelow(looks.count, size * 14 * 12)
})
