/**
 * The handlers of `/internal/alerts`: problems that a person should look at, and who is notified of them.
 */
import { Api, Caller } from "@wac/api"
import { type Alert, Alerts, StoreError, Time } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

const shown = ({ closedAt, id, kind, message, openedAt, subject }: Alert.Alert) => ({
  id,
  kind,
  subject,
  message,
  openedAt: Time.iso(openedAt),
  closedAt: Time.isoOrNull(closedAt)
})

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const alerts = yield* Alerts.Alerts
    return HttpApiBuilder.group(Api, "alerts", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query: { open, ...query } }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const filter = open === undefined ? {} : { open }
          return Paging.internalList(
            yield* alerts.list(workspaceId, filter, yield* Paging.request(query, "alr")),
            shown
          )
        }, StoreError.orUnavailable),
        settings: Effect.fnUntraced(function*() {
          const { workspaceId } = yield* Caller.CurrentSession
          return yield* alerts.settings(workspaceId)
        }, StoreError.orUnavailable),
        configure: Effect.fnUntraced(function*({ payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return yield* alerts.configure(workspaceId, payload)
        }, StoreError.orUnavailable)
      }))
  })
)
