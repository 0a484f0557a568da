import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { WorkspaceId } from "../../src/Id.ts"
import { Deliveries } from "../../src/webhooks/Deliveries.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { minute, second } from "../checks.ts"
import { advance } from "../clock.ts"
import { deliveryOf, posted, receiver, scheduling, startScheduler, startsOf } from "../scheduling.ts"
import { world } from "../world.ts"

const retry = (workspaceId: WorkspaceId, id: string) =>
  Effect.provide(Deliveries.use((deliveries) => deliveries.retry(workspaceId, id)), Deliveries.layer)

const get = (workspaceId: WorkspaceId, id: string) =>
  Effect.provide(Deliveries.use((deliveries) => deliveries.get(workspaceId, id)), Deliveries.layer)

describe("deliveries", () => {
  it.effect(
    "a retried delivery is attempted again with the same body and id",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver({ envelope: "b" })
        yield* startScheduler
        const eventId = yield* happens
        yield* advance(minute)
        const { delivery } = yield* deliveryOf(workspace.id, eventId)
        assert.strictEqual(delivery.status, "delivered")
        // later settings apply to later events only
        yield* Webhooks.use((webhooks) =>
          webhooks.put({
            workspaceId: workspace.id,
            url: "https://elsewhere.example/",
            envelope: "a",
            eventTypes: ["message.sent"]
          })
        )
        const retried = yield* retry(workspace.id, delivery.id)
        assert.deepStrictEqual([retried.status, retried.delivery.trigger], ["pending", "manual"])
        yield* advance(second)
        assert.deepStrictEqual(yield* startsOf(eventId), [0, minute])
        const [first, again] = yield* posted
        assert.strictEqual(again!.body, first!.body)
        assert.strictEqual(again!.url, "https://elsewhere.example/")
        const detail = yield* get(workspace.id, delivery.id)
        assert.deepStrictEqual(detail.attempts.map(({ number, trigger }) => [number, trigger]), [
          [1, "automatic"],
          [2, "manual"]
        ])
      })
    )
  )

  it.effect(
    "deliveries of others are not found, and tests and those of a removed webhook are refused",
    scheduling(() =>
      Effect.gen(function*() {
        const { happens, workspace } = yield* receiver()
        const other = yield* world()
        const eventId = yield* happens
        const { delivery } = yield* deliveryOf(workspace.id, eventId)
        for (const ask of [get, retry]) {
          const error = yield* Effect.flip(Effect.asVoid(ask(other.workspace.id, delivery.id)))
          assert.strictEqual(error._tag, "NotFound")
        }
        yield* Webhooks.use((webhooks) => webhooks.test(workspace.id))
        const [request] = yield* posted
        const test = yield* deliveryOf(workspace.id, request!.eventId as typeof eventId)
        const refused = yield* Effect.flip(retry(workspace.id, test.delivery.id))
        assert.deepInclude(refused, { _tag: "InvalidBody", param: "id" })
        yield* Webhooks.use((webhooks) => webhooks.remove(workspace.id))
        const gone = yield* Effect.flip(retry(workspace.id, delivery.id))
        assert.deepInclude(gone, { _tag: "InvalidBody", param: "id" })
        assert.match(gone.message, /removed/)
      })
    )
  )
})
