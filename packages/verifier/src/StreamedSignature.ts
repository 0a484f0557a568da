/**
 * Verification of a body that passes in pieces, for this service's own use. It is not part of the public API.
 */
import { equal, parse, readOptions, type Verification, type VerifyOptions } from "./Signature.ts"

/** Computes the HMAC-SHA-256 of what it takes, in lower-case hexadecimal once it has ended. */
export interface PassingMac {
  readonly take: (bytes: Uint8Array) => void
  readonly end: () => string
}

/** A signature whose body passes. */
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
      // every one is compared, so that the time does not tell which is right
      const matches = signatures.map((signature) => equal(own, signature))
      if (!matches.includes(true)) return { ok: false, reason: "signature_mismatch" }
      const age = window.now - timestamp
      if (age > window.tolerance) return { ok: false, reason: "timestamp_too_old" }
      return -age > window.tolerance ? { ok: false, reason: "timestamp_too_new" } : { ok: true, timestamp }
    }
  }
}
