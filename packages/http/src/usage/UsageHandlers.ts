/**
 * The handler of `/internal/usage`: a workspace's activity, quota and costs over time.
 */
import { Api, Caller } from "@wac/api"
import { StoreError, Time, Usage } from "@wac/core"
import { Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const usage = yield* Usage.Usage
    return HttpApiBuilder.group(Api, "usage", (handlers) =>
      handlers.handleAll({
        get: Effect.fnUntraced(function*({ query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const report = yield* usage.report(workspaceId, {
            period: query.period,
            ...Paging.between(query.since, query.until)
          })
          const { arrival, before, bill, months, month, queued, quota, requestsPerSecond, since, step, steps, used } =
            report
          return {
            month,
            quota,
            used,
            requestsPerSecond,
            queued,
            months,
            lines: bill.lines,
            costs: bill.totals,
            arrival,
            since: Time.iso(since),
            stepSeconds: Duration.toSeconds(Duration.millis(step)),
            steps: steps.map(({ at, ...counts }) => ({ at: Time.iso(at), ...counts })),
            before: before === null ? null : { ...before, since: Time.iso(before.since) }
          }
        }, StoreError.orUnavailable)
      }))
  })
)
