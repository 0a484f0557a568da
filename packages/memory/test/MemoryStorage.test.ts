import { assert, it } from "@effect/vitest"
import { DeliveryStore, type Event, type Id, PepperStore, WebhookHealth } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import { record } from "../src/events/Journal.ts"
import { MemoryStorage } from "../src/index.ts"
import { type Memory, State } from "../src/State.ts"
import * as Deliveries from "../src/webhooks/DeliveryStore.ts"
import { Outbox } from "../src/webhooks/Outbox.ts"

const pepper = (keyId: string) => ({ keyId, nonce: new Uint8Array(), ciphertext: new Uint8Array() })

it.effect("every build of the layer creates a new storage, shared by all of its ports", () =>
  Effect.gen(function*() {
    const build = Layer.build(Layer.fresh(MemoryStorage.layer))
    const [one, other] = [yield* build, yield* build]
    const adopt = (context: typeof one, keyId: string) =>
      Context.get(context, PepperStore.PepperStore).adopt(pepper(keyId))
    assert.strictEqual((yield* adopt(one, "a")).keyId, "a")
    assert.strictEqual((yield* adopt(other, "b")).keyId, "b")
    assert.strictEqual((yield* adopt(one, "c")).keyId, "a")
  }))

const deliveries = Deliveries.layer.pipe(Layer.provideMerge(State.layer))

/** Adds a webhook with `due` due deliveries. */
const addWebhook = (memory: Memory, name: string, due: number): void => {
  const workspaceId = `ws_${name}` as Id.WorkspaceId
  memory.outboxes.set(
    workspaceId,
    new Outbox({
      id: `whk_${name}` as Id.WebhookId,
      workspaceId,
      url: `https://${name}.example/`,
      envelope: "combined",
      eventTypes: ["message.received"],
      secrets: [],
      createdAt: 0,
      updatedAt: 0,
      pausedAt: null,
      resumedAt: null,
      health: { ...WebhookHealth.initial, lastSuccessAt: 0 }
    })
  )
  for (let i = 0; i < due; i++) {
    const event: Event.Event = {
      id: `evt_${name}${i}` as Id.EventId,
      workspaceId,
      type: "message.received",
      createdAt: 0,
      orderKey: null,
      sequence: null,
      data: {},
      trace: null
    }
    record(memory, [event], [`dlv_${name}${i}` as Id.DeliveryId])
  }
}

/** How many deliveries of each webhook one claim returns. */
const claim = Effect.fnUntraced(function*(healthy: number) {
  const store = yield* DeliveryStore.DeliveryStore
  const { deliveries } = yield* store.claimDue({
    now: 1,
    limit: { healthy, doubtful: 0 },
    token: "t",
    leaseUntil: 100
  })
  const shares: Record<string, number> = {}
  for (const { delivery } of deliveries) {
    shares[delivery.webhookId.slice(4)] = (shares[delivery.webhookId.slice(4)] ?? 0) + 1
  }
  return shares
})

it.effect("webhooks take turns within a claim and across claims", () =>
  Effect.gen(function*() {
    const memory = yield* State
    addWebhook(memory, "a", 100)
    addWebhook(memory, "b", 2)
    addWebhook(memory, "c", 100)
    assert.deepStrictEqual(yield* claim(8), { a: 3, b: 2, c: 3 })
    addWebhook(memory, "d", 1)
    const served = []
    for (let i = 0; i < 5; i++) served.push(...Object.keys(yield* claim(1)))
    assert.sameMembers(served.slice(0, 3), ["a", "c", "d"])
    assert.sameMembers(served.slice(3), ["a", "c"])
  }).pipe(Effect.provide(deliveries)))
