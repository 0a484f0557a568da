/**
 * Spends a workspace's tokens for its requests, except for sends, whose tokens *accept* spends (contract §3 *Order of
 * checks*).
 */
import { Clock, Effect } from "effect"
import type { RateLimited } from "../Errors.ts"
import type { StoreError } from "../StoreError.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import * as Limits from "./Limits.ts"
import * as RateLimit from "./RateLimit.ts"
import { RateLimitStore } from "./RateLimitStore.ts"

/** How many tokens a request costs, and how many of these it has paid before. */
export interface Cost {
  readonly tokens: number
  readonly paid: number
}

/** Spends the tokens that are not paid yet: all of them, or none if the bucket has fewer. */
export type Spender = (
  workspace: Pick<Workspace, "id" | "tier">,
  cost: Cost
) => Effect.Effect<void, RateLimited | StoreError>

/**
 * The reading of a bucket that refused, which waits for `more` tokens after the one that was missing first. A repeated
 * request needs all of them at once, and pays again what it has paid.
 */
const waitingForAll = (refused: RateLimit.Reading, more: number): RateLimit.Reading => ({
  ...refused,
  resetAfter: refused.resetAfter + refused.policy.interval * more
})

/** Builds the spender. It passes the bucket's reading to the current request's observer. */
export const spender: Effect.Effect<Spender, never, RateLimitStore> = Effect.gen(function*() {
  const limits = yield* Limits.CurrentLimits
  const limiter = yield* RateLimitStore
  return Effect.fnUntraced(function*({ id, tier }, { paid, tokens }) {
    const policy = Limits.workspace(limits, tier)
    // if the cost exceeded the bucket's capacity, the request would be refused forever
    const left = Math.min(tokens, Math.floor(policy.capacity)) - paid
    if (left < 1) return
    const bucket = { key: Limits.workspaceBucket(id), policy }
    const readings = yield* limiter.spend(Array.from({ length: left }, () => bucket), yield* Clock.currentTimeMillis)
    // all readings are of one bucket
    const first = readings.findIndex(({ allowed }) => !allowed)
    const reading = first < 0 ? readings.at(-1)! : waitingForAll(readings[first]!, left - 1 - first + paid)
    yield* RateLimit.observe([reading])
    const refusal = RateLimit.refusal([reading])
    if (refusal !== undefined) return yield* refusal
  })
})
