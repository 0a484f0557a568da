/**
 * The handlers of `/internal/requests` (the recorded requests of a workspace and the values of their bodies) and
 * `/internal/settings/request-values` (whether such values are recorded).
 */
import { Api, Caller } from "@wac/api"
import { type ApiRequest, Requests, RequestValues, StoreError, Time } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

/** A request in the dashboard's list. */
const shown = (request: ApiRequest.ApiRequest) => ({
  id: request.id,
  ...request.caller,
  method: request.method,
  route: request.route,
  status: request.status,
  code: request.code,
  reason: request.reason,
  at: Time.iso(request.at),
  durationMs: request.durationMs,
  subject: request.subject
})

const settings = ({ until }: RequestValues.Setting) => ({ on: until !== null, until: Time.isoOrNull(until) })

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const requests = yield* Requests.Requests
    const values = yield* RequestValues.RequestValues
    return HttpApiBuilder.group(Api, "requests", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(
          function*({ query: { apiKeyId, id, reason, refused, route, since, status, until, ...query } }) {
            const { workspaceId } = yield* Caller.CurrentSession
            const filter = {
              ...(id === undefined ? {} : { id }),
              ...(refused === undefined ? {} : { refused }),
              ...(reason === undefined ? {} : { word: reason }),
              ...(apiKeyId === undefined ? {} : { apiKeyId }),
              ...(route === undefined ? {} : { route }),
              ...(status === undefined ? {} : { status }),
              ...Paging.between(since, until)
            }
            const [page, { groups, since: countedSince, total }] = yield* Effect.all([
              requests.list(workspaceId, filter, yield* Paging.request(query, "req")),
              requests.summary(workspaceId)
            ], { concurrency: "unbounded" })
            return {
              ...Paging.internalList(page, shown),
              since: Time.iso(countedSince),
              total,
              groups: groups.map((group) => ({ ...group, lastAt: Time.iso(group.lastAt) }))
            }
          },
          StoreError.orUnavailable
        ),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const request = yield* requests.get(workspaceId, params.id)
          const valuesUntil = yield* values.keptUntil(workspaceId, request.id)
          return { ...shown(request), fields: request.fields, valuesUntil: Time.isoOrNull(valuesUntil) }
        }, StoreError.orUnavailable),
        values: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const { fields, omitted } = yield* values.get(workspaceId, params.id)
          return {
            data: fields.map(({ isCut, isRedacted, path, value }) => ({
              path,
              value,
              redacted: isRedacted,
              cut: isCut
            })),
            omitted
          }
        }, StoreError.orUnavailable),
        valuesSettings: Effect.fnUntraced(function*() {
          const { workspaceId } = yield* Caller.CurrentSession
          return settings(yield* values.setting(workspaceId))
        }, StoreError.orUnavailable),
        configureValues: Effect.fnUntraced(function*({ payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const changed = settings(yield* values.configure(workspaceId, payload.on))
          const exchange = yield* Exchange
          exchange.changed = {
            detail: changed.until === null ? { on: "no" } : { on: "yes", until: changed.until }
          }
          return changed
        }, StoreError.orUnavailable)
      }))
  })
)
