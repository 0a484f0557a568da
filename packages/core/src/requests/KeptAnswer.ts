/**
 * Answers to requests that change something, kept under their Idempotency-Keys (contract §14). Sends, read marks,
 * uploads and new API keys bind their keys in their own steps; everything else is bound here. Pure.
 */
import { Duration } from "effect"
import { IdempotencyConflict, ServerError } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import type { Instant } from "../Time.ts"

/** The scope of an Idempotency-Key: the same key of another caller, or for another route, is a different key. */
export interface Place {
  readonly workspaceId: WorkspaceId
  /** The person or API key that makes the request. */
  readonly caller: string
  /** Method and path as requested. */
  readonly route: string
  readonly key: IdempotencyKey
}

/** A successful answer, without secrets. */
export interface Answer {
  readonly status: number
  /** The body as JSON; empty if there was none. */
  readonly body: string
}

/** The record at a {@link Place}. */
export interface Binding {
  readonly fingerprint: string
  /** The token of the process that works on the request. Until `leaseUntil`, no other process treats it as lost. */
  readonly token: string
  readonly leaseUntil: Instant
  /** The stored answer; `null` until there is one. */
  readonly answer: Answer | null
  readonly expiresAt: Instant
}

/** A request that claims a place. */
export interface ClaimRequest extends Pick<Binding, "fingerprint" | "token"> {
  /**
   * Whether the request may be done again if an equal request counts as lost. Only for work that is idempotent because
   * its parts have their own keys.
   */
  readonly isRepeatable: boolean
}

/** How long a request may take before it counts as lost with its process: longer than any handler works. */
export const lease = Duration.seconds(60)

/** The lease for work that may be repeated: short, since doing it twice is harmless. */
const leaseOfRepeatable = Duration.seconds(5)

/** The lease of a request, in milliseconds. */
export const leaseOf = ({ isRepeatable }: Pick<ClaimRequest, "isRepeatable">): number =>
  Duration.toMillis(isRepeatable ? leaseOfRepeatable : lease)

/** The verdict on a request's key. */
export type Verdict =
  /** The request owns the key, and may do its work. */
  | { readonly _tag: "Claimed" }
  /** The key was used with a different body. */
  | { readonly _tag: "Conflict" }
  | { readonly _tag: "Answered"; readonly answer: Answer }
  | { readonly _tag: "Running" }
  /** A process ended before it recorded an answer to the request. The request is not done a second time. */
  | { readonly _tag: "Lost" }

/**
 * Judges a request by the binding at its place, after the request has claimed the place if it was free ({@link
 * isFree}).
 */
export const judge = (binding: Binding, asked: ClaimRequest, now: Instant): Verdict =>
  binding.token === asked.token
    ? { _tag: "Claimed" }
    : binding.fingerprint !== asked.fingerprint
    ? { _tag: "Conflict" }
    : binding.answer !== null
    ? { _tag: "Answered", answer: binding.answer }
    : binding.leaseUntil > now
    ? { _tag: "Running" }
    : { _tag: "Lost" }

/** Whether a binding has expired, so that its key is unused again. */
export const isExpired = ({ expiresAt }: Pick<Binding, "expiresAt">, now: Instant): boolean => expiresAt <= now

/** Whether a request may claim a place. */
export const isFree = (binding: Binding | undefined, asked: ClaimRequest, now: Instant): boolean =>
  binding === undefined || isExpired(binding, now) ||
  asked.isRepeatable && binding.answer === null && binding.leaseUntil <= now &&
    binding.fingerprint === asked.fingerprint

/** An answer without the names that match. It still answers equal requests, so that nothing is done twice. */
export const unnamed = ({ body, status }: Answer, names: string): Answer => ({
  status,
  body: body.replaceAll(new RegExp(names, "g"), "")
})

/** The error for a key that was used with a different body. */
export const conflict = (): IdempotencyConflict =>
  new IdempotencyConflict({
    reason: "payload_mismatch",
    message: "the Idempotency-Key was already used with a different body"
  })

/** The error for a request whose first try was lost with its process. */
export const lost = (): ServerError =>
  new ServerError({
    reason: "outcome_unknown",
    message: "the server that worked on the first request with this Idempotency-Key ended before it answered. Look " +
      "whether the change was made; if it was not, repeat the request with another Idempotency-Key"
  })

/** Removes the top-level fields with these names from a JSON text. */
export const without = (body: string, secrets: ReadonlyArray<string>): string => {
  if (secrets.length === 0 || body === "") return body
  const fields = Object.entries(JSON.parse(body) as { readonly [name: string]: unknown })
  return JSON.stringify(Object.fromEntries(fields.filter(([name]) => !secrets.includes(name))))
}
