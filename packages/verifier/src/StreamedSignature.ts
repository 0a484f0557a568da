/**
 * Verifies the signature of a body that arrives in pieces, without gathering it. Only the service uses it; it is not
 * part of the public API.
 */
import { equal, parse, readOptions, type Verification, type VerifyOptions } from "./Signature.ts"

/** Computes the HMAC-SHA-256 of the bytes that it takes; `end` returns it in lower-case hexadecimal. */
export interface PassingMac {
  readonly take: (bytes: Uint8Array) => void
  readonly end: () => string
}

/** A verification in progress, which takes the pieces of the body. */
export interface Passing {
  readonly take: (bytes: Uint8Array) => void
  /** The result, as `verify` would return it for the whole body. */
  readonly end: () => Verification
}

const encoder = new TextEncoder()

/** Begins to verify a header; `macOf` makes the HMAC with the secret. Checks in the order of `verify`. */
export const verifyPassing = (
  header: string | null | undefined,
  macOf: () => PassingMac,
  options?: VerifyOptions
): Passing => {
  const window = readOptions(options)
  const parsed = parse(header)
  if (window === undefined || typeof parsed === "string") {
    const reason = window === undefined || typeof parsed !== "string" ? "invalid_options" : parsed
    return { take: () => {}, end: () => ({ ok: false, reason }) }
  }
  const { signatures, timestamp } = parsed
  const mac = macOf()
  mac.take(encoder.encode(`${timestamp}.`))
  return {
    take: mac.take,
    end: () => {
      const own = mac.end()
      // all are compared, so that the time does not reveal which matches
      const matches = signatures.map((signature) => equal(own, signature))
      if (!matches.includes(true)) return { ok: false, reason: "signature_mismatch" }
      const age = window.now - timestamp
      if (age > window.tolerance) return { ok: false, reason: "timestamp_too_old" }
      return -age > window.tolerance ? { ok: false, reason: "timestamp_too_new" } : { ok: true, timestamp }
    }
  }
}
