/**
 * The handler of `/internal/audit`: the changes that people, API keys and the operator made in a workspace.
 */
import { Api, Caller } from "@wac/api"
import { Audit, type AuditEntry, StoreError, Time } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

const shown = ({ action, address, at, by, detail, id, requestId, target }: AuditEntry.AuditEntry) => ({
  id,
  at: Time.iso(at),
  action,
  target,
  by,
  address,
  requestId,
  detail
})

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const audit = yield* Audit.Audit
    return HttpApiBuilder.group(Api, "audit", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query: { cursor: _cursor, limit: _limit, ...filter }, query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const page = yield* audit.list(workspaceId, filter, yield* Paging.request(query, "aud"))
          return { ...Paging.internalList(page, shown), since: Time.iso(yield* audit.since) }
        }, StoreError.orUnavailable)
      }))
  })
)
