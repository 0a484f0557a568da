/**
 * One request and its response: collects what the response's headers and the log need while the request is handled
 * (contract §1, §4, §7).
 */
import { ErrorAddress } from "@wac/api"
import { type ApiKeys, type Audit, type AuditEntry, type Errors, Id, type Member, type RateLimit } from "@wac/core"
import { type Cause, Context, Effect } from "effect"

/** A changed resource, for the audit. */
export interface Changed {
  readonly target?: string
  readonly detail?: AuditEntry.Detail
}

/** What is known of a request and its response so far. Handlers fill in its fields. */
export interface Exchange {
  /** The request's own id, even if its response carries the id of a replayed request. */
  readonly ownId: Id.RequestId
  /** The API key of the request, even if it is refused. */
  caller: ApiKeys.Principal | undefined
  /** `Request-Id` of the response, and `request_id` in the body of an error. */
  requestId: Id.RequestId
  /** The address of the page of errors, for `doc_url` in the body of an error. */
  readonly errorsPage: string
  /** Who makes changes with the request, and their workspaces; empty while the caller is unknown. */
  actors: ReadonlyArray<Audit.Actor>
  /** The person who changes their account, if they need not be in a workspace. */
  person: Pick<Member.Person, "email"> | undefined
  /** The changed resource, for the audit. */
  changed: Changed
  /** What the request has changed, or may have changed, even if it fails. */
  changedAnyway: Changed | undefined
  /** The request's body, once it is read. */
  body: Uint8Array | undefined
  /** The check once a streamed body has arrived, before anything is stored. */
  confirm: Effect.Effect<void, Errors.DomainError>
  /** The readings of the limiters that the request spent. */
  readonly readings: Array<RateLimit.Reading>
  /** Whether the response repeats the response to an earlier request. */
  isReplayed: boolean
  /** Whether the response is as the header `Prefer` asked (RFC 7240). */
  isPreferenceApplied: boolean
  /** The error in the response. */
  error: Errors.DomainError | undefined
  /** The defect behind an `internal` error, only for the log. */
  defect: Cause.Cause<unknown> | undefined
}

export const make = (requestId: Id.RequestId, errorsPage: string): Exchange => ({
  ownId: requestId,
  caller: undefined,
  actors: [],
  person: undefined,
  changed: {},
  changedAnyway: undefined,
  requestId,
  errorsPage,
  body: undefined,
  confirm: Effect.void,
  readings: [],
  isReplayed: false,
  isPreferenceApplied: false,
  error: undefined,
  defect: undefined
})

/** The current exchange; outside of a request, an object whose contents are not read. */
export const Exchange = Context.Reference<Exchange>("@wac/http/Exchange", {
  defaultValue: () => make(Id.RequestId.make("req_00000000000000000000000000"), ErrorAddress.path)
})

/** The headers of every response. */
export const headersOf = (requestId: string): { readonly [name: string]: string } => ({
  "request-id": requestId,
  "cache-control": "no-store",
  "x-content-type-options": "nosniff"
})
