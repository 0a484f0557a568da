/**
 * The log of requests: one line for each that failed, and at `debug` one for every request. A request is identified by
 * its route's template and its id; paths, queries and bodies contain data that operators must not see.
 */
import { Errors } from "@wac/core"
import { Effect } from "effect"
import type { Exchange } from "./Exchange.ts"

/** A request with its response, or whose caller left before it. */
export interface Line {
  readonly method: string
  /** The template of the request's route. */
  readonly route: string
  readonly status: number
  readonly durationMs: number
  readonly exchange: Exchange
}

/** Refusals of a caller's request whose cause only an operator can fix. */
const operatorsOwn = new Set(["failed_handshake"])

const fieldsOf = ({ durationMs, exchange: { error, isReplayed, requestId }, method, route, status }: Line) => {
  const reason = error === undefined ? undefined : Errors.reasonOf(error)
  return {
    requestId,
    method,
    route,
    status,
    ...(reason === undefined ? {} : { reason }),
    // its message may name a customer; its code does not
    ...(error?.provider === undefined ? {} : { providerCode: error.provider.code }),
    ...(isReplayed ? { replayed: true } : {}),
    durationMs: Math.round(durationMs)
  }
}

/** Returns the function that logs a request; `access` is whether requests that did not fail get a line. */
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
