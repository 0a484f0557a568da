/**
 * The record of a request with an API key (contract §12 *Requests*): its route's template, its result and its duration,
 * but never a body or a header's value.
 */
import { type ApiRequest, Errors } from "@wac/core"
import type { Line } from "../RequestLog.ts"

/** Returns the function that records a completed request; a request without a known API key belongs to no workspace. */
export const make =
  (record: (request: ApiRequest.ApiRequest) => void) => (line: Line & { readonly at: number }): void => {
    const { durationMs, exchange: { caller, error, ownId }, method, route, status } = line
    if (caller === undefined) return
    record({
      id: ownId,
      workspaceId: caller.workspace.id,
      apiKeyId: caller.key.id,
      method,
      route,
      status,
      code: error?.code ?? null,
      reason: (error && Errors.reasonOf(error)) ?? null,
      at: line.at,
      durationMs
    })
  }
