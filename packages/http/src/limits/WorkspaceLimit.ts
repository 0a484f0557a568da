/**
 * The rate limit of a workspace, which every request with one of its API keys spends (contract §3 *Order of checks*).
 */
import { type ApiKeys, Limits, RateLimit, RateLimitStore } from "@wac/core"
import { Clock, Effect } from "effect"

/** Returns the function that spends one token of a caller's workspace, and fails if there is none. */
export const spender = Effect.gen(function*() {
  const limits = yield* Limits.CurrentLimits
  const limiter = yield* RateLimitStore.RateLimitStore
  return Effect.fnUntraced(function*({ workspace }: ApiKeys.Principal) {
    const readings = yield* limiter.spend(
      [{ key: Limits.workspaceBucket(workspace.id), policy: Limits.workspace(limits, workspace.tier) }],
      yield* Clock.currentTimeMillis
    )
    yield* RateLimit.observe(readings)
    const refusal = RateLimit.refusal(readings)
    if (refusal !== undefined) return yield* refusal
  })
})
