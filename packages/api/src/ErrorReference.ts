/**
 * Every error by code and reason: when it occurs, what to do about it, and whether the same request can succeed later.
 * `docs/errors.md`, the page at `/docs/errors` and the examples of the OpenAPI document are generated from it.
 *
 * The types check it against {@link Errors}: a missing or extra reason does not compile.
 */
import type { Errors } from "@wac/core"
import { statusOf } from "./ErrorBody.ts"
import { type Code, type Entry, type Reasons, retries } from "./ErrorEntry.ts"
import { forbidden, idempotencyConflict, rateLimited, serverError } from "./ErrorsOfCircumstance.ts"
import { invalidBody, unauthorized } from "./ErrorsOfRequests.ts"

const byCode: { readonly [C in Code]: { readonly [R in Reasons[C]]: Entry } } = {
  invalid_body: invalidBody,
  unauthorized,
  forbidden,
  idempotency_conflict: idempotencyConflict,
  rate_limited: rateLimited,
  server_error: serverError
}

/** The code that mostly has no reason. */
const notFound: Entry = {
  when:
    "The address, or the id in it, does not exist in the caller's workspace. With status 405, the address exists, " +
    "and `Allow` lists its methods.",
  remedy: "Compare the address with `/docs`, and the id with the workspace that the key belongs to.",
  retry: retries.no,
  example: { message: "the workspace has no such message" }
}

const mediaExpired: Entry = {
  when: "The id names a customer's file that was not downloaded in time, and that the provider no longer has.",
  remedy: "Ask the customer to send it again. To have files downloaded as they arrive, set `MEDIA_INBOUND=keep`.",
  retry: retries.no,
  example: { message: "the provider no longer has this file" }
}

/** The meaning of a code. */
export const meanings: { readonly [C in Code | "not_found"]: string } = {
  invalid_body: "The request itself is invalid.",
  unauthorized: "The caller could not be authenticated.",
  forbidden: "The caller is authenticated but may not do this, or the message may not be sent at present.",
  idempotency_conflict: "An Idempotency-Key was reused with a different body.",
  rate_limited: "Requests or messages come too fast.",
  server_error: "The service or the provider failed. Only `outcome_unknown`, `delivery_unknown` and `in_progress` " +
    "leave open whether a message was sent or queued; every other reason means that this request sent and queued " +
    "nothing.",
  not_found: "The requested resource does not exist."
}

/** An error of the reference. */
export interface Item {
  readonly code: Code | "not_found"
  readonly reason: string | undefined
  readonly status: number
  readonly entry: Entry
}

/** All errors, in the order of contract §2. */
export const items: ReadonlyArray<Item> = [
  ...Object.entries(byCode).flatMap(([code, reasons]) =>
    Object.entries<Entry>(reasons).map(([reason, entry]): Item => ({
      code: code as Code,
      reason,
      // a status is a matter of code and reason alone
      status: statusOf({ code, reason } as Errors.DomainError),
      entry
    }))
  ),
  { code: "not_found", reason: undefined, status: 404, entry: notFound },
  { code: "not_found", reason: "media_expired", status: 404, entry: mediaExpired }
]

export { anchorOf } from "./ErrorAddress.ts"
