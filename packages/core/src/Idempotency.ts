/**
 * Idempotency keys (specification §4 rules 4 and 5, contract §4): their syntax, and the fingerprint of a body. Pure, apart
 * from computing digests.
 */
import { Duration, type Effect, Result, Schema } from "effect"
import { Digest } from "effect/crypto"
import { InvalidBody } from "./Errors.ts"
import type { Instant } from "./Time.ts"

/** How long a key is kept after its answer. */
export const retention = Duration.hours(24)

/** How long a second request waits for the answer of the first (contract §4). */
export const joinTimeout = Duration.seconds(10)

/** The `Retry-After` of the second request if the first takes longer. */
export const joinRetryAfter = Duration.seconds(1)

/** The longest key. */
export const maxKeyLength = 255

/** The form of a key, in words. */
export const keyForm = `1 to ${maxKeyLength} visible ASCII characters`

/** The form of a key. */
export const keyPattern = new RegExp(`^[\\x21-\\x7e]{1,${maxKeyLength}}$`, "u")

/** A key of the form {@link keyForm}. */
export const IdempotencyKey = Schema.String.check(Schema.isPattern(keyPattern)).pipe(Schema.brand("IdempotencyKey"))
export type IdempotencyKey = typeof IdempotencyKey.Type

const isKey = (text: string): text is IdempotencyKey => keyPattern.test(text)

/** The name of the header in error messages. */
export const header = "Idempotency-Key"

/** Parses the header's value. The quoted form of the IETF draft is unquoted, so `"k"` and `k` are the same key. */
export const parseKey = (value: string | undefined): Result.Result<IdempotencyKey, InvalidBody> => {
  if (value === undefined) {
    return Result.fail(
      new InvalidBody({ reason: "missing_idempotency_key", param: header, message: `the header ${header} is required` })
    )
  }
  const quoted = /^"(.*)"$/s.exec(value)
  const key = quoted === null ? value : quoted[1]!.replace(/\\(["\\])/g, "$1")
  return isKey(key) ? Result.succeed(key) : Result.fail(
    new InvalidBody({
      reason: "invalid_idempotency_key",
      param: header,
      // HTTP joins the values of repeated headers by a comma and a space (RFC 9110 §5.3)
      message: value.includes(", ")
        ? `the request has more than one ${header}, or one with a comma and a space: send one, without spaces`
        : `${header} must be ${keyForm}`
    })
  )
}

/** JSON with sorted keys and without whitespace, so that neither causes a conflict. */
export const canonicalJson = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  const fields = value as { readonly [name: string]: unknown }
  let text = ""
  for (const name of Object.keys(fields).sort()) {
    if (fields[name] !== undefined) {
      text += `${text === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(fields[name])}`
    }
  }
  return `{${text}}`
}

const utf8 = new TextEncoder()

/** SHA-256 (hex) of the canonical JSON of a decoded body. */
export const fingerprint = (digest: Digest.Digest["Service"], body: unknown): Effect.Effect<string> =>
  digest.digestHex(Digest.sha256, utf8.encode(canonicalJson(body)))

/** Whether a key has expired, so that it counts as unused. At `expiresAt` itself, it has. */
export const isExpired = ({ expiresAt }: { readonly expiresAt: Instant | null }, now: Instant): boolean =>
  expiresAt !== null && expiresAt <= now
