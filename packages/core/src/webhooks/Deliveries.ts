/**
 * The service that lists, shows and retries deliveries for the dashboard (contract §6). Reads and writes through
 * `DeliveryStore`.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { InvalidBody, type NotFound } from "../Errors.ts"
import { EventStore } from "../events/EventStore.ts"
import * as Id from "../Id.ts"
import * as Lookup from "../Lookup.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import { shown, type ShownAttempt } from "./AttemptRequest.ts"
import * as Delivery from "./Delivery.ts"
import { type DeliveryFilter, DeliveryStore, type ListedDelivery } from "./DeliveryStore.ts"

/** A delivery with its attempts, oldest first. */
export interface DeliveryDetail extends ListedDelivery {
  readonly attempts: ReadonlyArray<ShownAttempt>
}

const refused = (message: string) => new InvalidBody({ reason: "invalid_field", param: "id", message })

export class Deliveries extends Context.Service<Deliveries, {
  /** Lists deliveries, newest first. */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: DeliveryFilter,
    page: PageRequest
  ) => Effect.Effect<Page<ListedDelivery>, StoreError>
  readonly get: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<DeliveryDetail, NotFound | StoreError>
  /**
   * Retries a delivery immediately and then by a new run of the retry schedule, even if it has ended. It sends the same
   * event in the same variant. While the webhook is paused, the delivery is held. Tests and deliveries to a removed
   * webhook are refused.
   */
  readonly retry: (
    workspaceId: Id.WorkspaceId,
    id: string
  ) => Effect.Effect<ListedDelivery, InvalidBody | NotFound | StoreError>
}>()("@wac/core/webhooks/Deliveries") {
  static readonly layer = Layer.effect(
    Deliveries,
    Effect.gen(function*() {
      const store = yield* DeliveryStore
      const events = yield* EventStore

      const find = (workspaceId: Id.WorkspaceId, text: string) =>
        Lookup.find("delivery", Id.parse(Id.DeliveryId, text), (id) => store.get(workspaceId, id))

      const get = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, id: string) {
        const found = yield* find(workspaceId, id)
        const { envelope, eventId } = found.delivery
        const event = Option.getOrThrow(yield* events.get(workspaceId, eventId))
        return { ...found, attempts: found.attempts.map((attempt) => shown(event, envelope, attempt)) }
      })

      const retry = Effect.fn("Deliveries.retry")(function*(workspaceId: Id.WorkspaceId, id: string) {
        const { customer, delivery, lastAttempt } = yield* find(workspaceId, id)
        if (Delivery.isTest(delivery)) return yield* refused("a test is attempted only once; run another test instead")
        const retried = yield* store.retry(workspaceId, delivery.id, yield* Clock.currentTimeMillis)
        return Option.isSome(retried)
          ? { ...retried.value, customer, lastAttempt }
          : yield* refused("the webhook of this delivery has been removed")
      })

      return Deliveries.of({ list: store.list, get, retry })
    })
  )
}
