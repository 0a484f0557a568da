/**
 * `/internal/usage`.
 */
import { Api, Caller } from "@wac/api"
import { StoreError, Time, Usage } from "@wac/core"
import { Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const usage = yield* Usage.Usage
    return HttpApiBuilder.group(Api, "usage", (handlers) =>
      handlers.handleAll({
        get: Effect.fnUntraced(function*({ query: { period = "week" } }) {
          const { workspaceId } = yield* Caller.CurrentSession
          const { bill, months, month, quota, requestsPerSecond, since, step, steps, used } = yield* usage.report(
            workspaceId,
            period
          )
          return {
            month,
            quota,
            used,
            requestsPerSecond,
            months,
            lines: bill.lines,
            costs: bill.totals,
            since: Time.iso(since),
            stepSeconds: Duration.toSeconds(Duration.millis(step)),
            steps: steps.map(({ at, ...counts }) => ({ at: Time.iso(at), ...counts }))
          }
        }, StoreError.orUnavailable)
      }))
  })
)
