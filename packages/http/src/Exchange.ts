/**
 * One request and its answer: what the answer's headers must tell, gathered while it is made (contract §1, §4, §7).
 */
import { Id, type RateLimit } from "@wac/core"
import { Context } from "effect"

export interface Exchange {
  /** `Request-Id` of the answer, and `request_id` in the body of an error. */
  requestId: Id.RequestId
  /** What each limiter said that was consulted. */
  readonly readings: Array<RateLimit.Reading>
  /** Whether the answer is another request's, which this one was given. */
  isReplayed: boolean
}

export const make = (requestId: Id.RequestId): Exchange => ({
  requestId,
  readings: [],
  isReplayed: false
})

/** The exchange under way; outside of one, a place whose contents nobody reads. */
export const Exchange = Context.Reference<Exchange>("@wac/http/Exchange", {
  defaultValue: () => make(Id.RequestId.make("req_00000000000000000000000000"))
})

/** What every answer tells of itself. */
export const headersOf = (requestId: string): { readonly [name: string]: string } => ({
  "request-id": requestId,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
})
