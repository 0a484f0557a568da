/**
 * The handlers of `/internal/webhook/deliveries`: the deliveries of events, their attempts, and retries.
 */
import { Api, Caller } from "@wac/api"
import {
  type AttemptRequest,
  Deliveries,
  type Delivery,
  type DeliveryStore,
  type Id,
  Member,
  StoreError,
  Time,
  Webhooks
} from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

/** An attempt as the dashboard shows it. */
export const attempt = (attempt: AttemptRequest.ShownAttempt) => ({
  id: attempt.id,
  number: attempt.number,
  trigger: attempt.trigger,
  startedAt: Time.iso(attempt.startedAt),
  durationMs: attempt.durationMs,
  outcome: attempt.outcome,
  statusCode: attempt.statusCode,
  message: attempt.message,
  timings: attempt.timings,
  request: { ...attempt.request, address: attempt.address },
  response: attempt.response
})

/** A delivery in the list. */
export const listed = ({ customer, delivery, lastAttempt, status }: DeliveryStore.ListedDelivery) => ({
  id: delivery.id,
  eventId: delivery.eventId,
  eventType: delivery.eventType,
  customer,
  status,
  attemptCount: delivery.attemptCount,
  lastAttempt,
  // a held delivery waits for a person, not for a time
  nextAttemptAt: status === "held" ? null : Time.isoOrNull(delivery.nextAttemptAt),
  createdAt: Time.iso(delivery.createdAt),
  completedAt: Time.isoOrNull(delivery.completedAt)
})

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const deliveries = yield* Deliveries.Deliveries
    const webhooks = yield* Webhooks.Webhooks

    /** `null` if the command cannot be made, so that the attempts can still be shown. */
    const curl = (workspaceId: Id.WorkspaceId, { id }: Delivery.Delivery) =>
      webhooks.curl({ workspaceId, deliveryId: id }).pipe(
        Effect.catchTag(["NotFound", "ServerError"], () => Effect.succeed(null))
      )

    return HttpApiBuilder.group(Api, "deliveries", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query: { cursor: _cursor, limit: _limit, since, until, ...rest }, query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const filter = { ...rest, ...Paging.between(since, until) }
          return Paging.internalList(
            yield* deliveries.list(workspaceId, filter, yield* Paging.request(query, "dlv")),
            listed
          )
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { role, workspaceId } = yield* Caller.CurrentSession
          const detail = yield* deliveries.get(workspaceId, params.id)
          return {
            ...listed(detail),
            attempts: detail.attempts.map(attempt),
            curl: Member.roleRefusal(role, "developer") === undefined
              ? yield* curl(workspaceId, detail.delivery)
              : null
          }
        }, StoreError.orUnavailable),
        retry: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return listed(yield* deliveries.retry(workspaceId, params.id))
        }, StoreError.orUnavailable)
      }))
  })
)
