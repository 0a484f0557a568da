/**
 * One request and its answer: what the answer's headers must tell, and what the log says of it, gathered while it is made
 * (contract §1, §4, §7).
 */
import { ErrorAddress } from "@wac/api"
import { type ApiKeys, type Audit, type AuditEntry, type Errors, Id, type RateLimit } from "@wac/core"
import { type Cause, Context } from "effect"

export interface Exchange {
  /** The request's own id, also when its response bears another's. */
  readonly ownId: Id.RequestId
  /** Whose API key it came with, even one that is refused. */
  caller: ApiKeys.Principal | undefined
  /** `Request-Id` of the answer, and `request_id` in the body of an error. */
  requestId: Id.RequestId
  /** Where the page of errors is, for `doc_url` in the body of an error. */
  readonly errorsPage: string
  /** Who changes something by it, in which workspaces; empty while nobody is known. */
  actors: ReadonlyArray<Audit.Actor>
  /** What it changes, for the audit. */
  changed: { readonly target?: string; readonly detail?: AuditEntry.Detail }
  /** The request's body, once it was read. */
  body: Uint8Array | undefined
  /** What each limiter said that was consulted. */
  readonly readings: Array<RateLimit.Reading>
  /** Whether the answer is another request's, which this one was given. */
  isReplayed: boolean
  /** The error that is the answer. */
  error: Errors.DomainError | undefined
  /** The defect behind an `internal` error, for the log alone. */
  defect: Cause.Cause<unknown> | undefined
}

export const make = (requestId: Id.RequestId, errorsPage: string): Exchange => ({
  ownId: requestId,
  caller: undefined,
  actors: [],
  changed: {},
  requestId,
  errorsPage,
  body: undefined,
  readings: [],
  isReplayed: false,
  error: undefined,
  defect: undefined
})

/** The exchange under way; outside of one, a place whose contents nobody reads. */
export const Exchange = Context.Reference<Exchange>("@wac/http/Exchange", {
  defaultValue: () => make(Id.RequestId.make("req_00000000000000000000000000"), ErrorAddress.path)
})

/** What every answer tells of itself. */
export const headersOf = (requestId: string): { readonly [name: string]: string } => ({
  "request-id": requestId,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
})
