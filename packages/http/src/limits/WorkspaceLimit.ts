/**
 * The rate limit of a workspace, which every request with one of its API keys spends (contract §3 *Order of checks*).
 */
import { type ApiKeys, WorkspaceTokens } from "@wac/core"
import { Effect } from "effect"
import { Exchange } from "../Exchange.ts"

/** Returns the function that spends one token of a caller's workspace, and fails if there is none. */
export const spender = Effect.map(
  WorkspaceTokens.spender,
  (spend) => ({ workspace }: ApiKeys.Principal) => spend(workspace, { tokens: 1, paid: 0 })
)

/**
 * Returns the function that spends the rest of a request's cost of `tokens`, of which authentication has spent one: it
 * spends all of the rest, or nothing.
 */
export const surcharge = Effect.map(
  WorkspaceTokens.spender,
  (spend) =>
    Effect.fnUntraced(function*({ workspace }: ApiKeys.Principal, tokens: number) {
      const { readings } = yield* Exchange
      const before = readings.splice(0)
      yield* spend(workspace, { tokens, paid: 1 })
      // the headers describe the bucket once, in its final state
      if (readings.length === 0) readings.push(...before)
    })
)
