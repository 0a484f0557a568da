/**
 * What the log says of requests: one line for each that failed, and at `debug` one for each that was answered. A request
 * is named by its route's template and its id: paths, queries and bodies hold what is no operator's business.
 */
import { Errors } from "@wac/core"
import { Effect } from "effect"
import type { Exchange } from "./Exchange.ts"

/** A request that was answered. */
export interface Line {
  readonly method: string
  /** The template of its route. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly exchange: Exchange
}

/** Refusals that only an operator can mend, though the caller made the request. */
const operatorsOwn = new Set(["failed_handshake"])

const fieldsOf = ({ durationMs, exchange: { error, isReplayed, requestId }, method, route, status }: Line) => {
  const reason = error === undefined ? undefined : Errors.reasonOf(error)
  return {
    requestId,
    method,
    route,
    status,
    ...(reason === undefined ? {} : { reason }),
    // its words may name a customer, its code does not
    ...(error?.provider === undefined ? {} : { providerCode: error.provider.code }),
    ...(isReplayed ? { replayed: true } : {}),
    durationMs: Math.round(durationMs)
  }
}

/** Gives what writes the line of a request; `access` is whether those that did not fail get one. */
export const make = (access: boolean) => (line: Line): Effect.Effect<void> => {
  const { exchange: { defect, error }, status } = line
  const reason = error === undefined ? undefined : Errors.reasonOf(error)
  if (status === 500) {
    const fields = fieldsOf(line)
    return defect === undefined
      ? Effect.logError("request failed", fields)
      : Effect.logError("request failed", fields, defect)
  }
  if (status > 500 || (reason !== undefined && operatorsOwn.has(reason))) {
    return Effect.logWarning("request failed", fieldsOf(line))
  }
  return access ? Effect.logDebug("request", fieldsOf(line)) : Effect.void
}
