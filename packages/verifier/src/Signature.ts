/**
 * Makes and verifies the header `X-Service-Signature` (service specification §6, contract §5).
 */
import { hmac } from "#hmac"
import { bodyOf, isSecret, joined, secondsOf, secretsOf } from "./SigningInput.ts"

/**
 * The header that carries a signature, on webhook deliveries and on signed requests alike (service specification §6).
 */
export const SIGNATURE_HEADER = "X-Service-Signature"

const maxHeaderLength = 4096
const maxSignatures = 8
const defaultTolerance = 300

const unixNow = (): number => Math.floor(Date.now() / 1000)

/**
 * Why `verify` refused, in the order of the checks:
 *
 * - `invalid_options`: the options are not an object, `tolerance` is not a finite number ≥ 0, or `now` is not finite.
 * - `missing_secret`: no secret was given, or only empty ones.
 * - `missing_header`: the header is absent or empty.
 * - `header_too_long`: the header is longer than 4 KiB.
 * - `malformed_header`: the header is not one string of `name=value` pairs joined by `,` in visible ASCII.
 * - `missing_timestamp`, `duplicate_timestamp`: not exactly one `t`.
 * - `malformed_timestamp`: `t` is not a canonical decimal (no sign, fraction, space or leading zero).
 * - `missing_signature`, `too_many_signatures`: no `v1`, or more than 8.
 * - `malformed_signature`: no `v1` is 64 lower-case hexadecimal digits.
 * - `invalid_body`: the body is neither a string nor a readable `Uint8Array` (a parsed object, for example).
 * - `crypto_unavailable`: the runtime has no working HMAC (no `crypto.subtle`, for example).
 * - `signature_mismatch`: no `v1` was made with any of the secrets over this timestamp and this body.
 * - `timestamp_too_old`, `timestamp_too_new`: the signature is genuine, but further from now than the tolerance.
 */
export type RefusalReason =
  | "invalid_options"
  | "missing_secret"
  | "missing_header"
  | "header_too_long"
  | "malformed_header"
  | "missing_timestamp"
  | "duplicate_timestamp"
  | "malformed_timestamp"
  | "missing_signature"
  | "too_many_signatures"
  | "malformed_signature"
  | "invalid_body"
  | "crypto_unavailable"
  | "signature_mismatch"
  | "timestamp_too_old"
  | "timestamp_too_new"

/** The result of `verify`: the signed time in unix seconds, or the check that failed. */
export type Verification =
  | { readonly ok: true; readonly timestamp: number }
  | { readonly ok: false; readonly reason: RefusalReason }

/** Settings of `verify`; each is optional. */
export interface VerifyOptions {
  /**
   * How many seconds the signature's time may be before or after `now`, 300 by default. A difference of exactly that
   * many passes. `0` requires the same second; no value disables the check.
   */
  readonly tolerance?: number | undefined
  /** The current time in unix **seconds**; defaults to the clock. A fraction is dropped. */
  readonly now?: number | undefined
}

/** {@link sign}, synchronous on Node. */
export const signatureOf = (
  rawBody: string | Uint8Array,
  secret: string | ReadonlyArray<string>,
  timestamp: number
): string | Promise<string> => {
  const secrets = secretsOf(secret)
  if (secrets.length > maxSignatures) {
    throw new RangeError(`At most ${maxSignatures} secrets can sign`)
  }
  const head = `${secondsOf(timestamp)}.`
  const body = bodyOf(rawBody)
  return joined(
    secrets.map((each) => hmac(each, head, body, "hex")),
    (macs) => `t=${timestamp}${macs.map((mac) => `,v1=${mac}`).join("")}`
  )
}

/**
 * Makes the value of the header `X-Service-Signature`: `t=<timestamp>,v1=<hex>`, with one `v1` for every secret in the
 * order given. During a rotation give all live secrets, newest first (at most 8).
 *
 * Each `v1` is HMAC-SHA-256, in lower-case hexadecimal, over `<timestamp>.` and the raw body; its key is the UTF-8
 * bytes of the whole secret, `whsec_` included (service specification §6, contract §5). A string is signed as its UTF-8
 * bytes, a `Uint8Array` as it is at the time of the call: give the bytes that are sent. For a signed request, give what
 * `requestPayload` returns.
 *
 * `timestamp` is in unix **seconds** and defaults to now; make a new signature for every attempt.
 *
 * Rejects with a `TypeError` or `RangeError` if an argument is unusable, because an incomplete signature would only
 * fail later, at the receiver. The message never contains a secret.
 */
export const sign = async (
  rawBody: string | Uint8Array,
  secret: string | ReadonlyArray<string>,
  timestamp: number = unixNow()
): Promise<string> => signatureOf(rawBody, secret, timestamp)

/**
 * Checks the value of the header `X-Service-Signature` against the raw body as received, before any parsing.
 *
 * The body is a `Uint8Array` (used byte for byte, and copied immediately) or a string (used as its UTF-8 bytes). Bytes
 * are safer: decoding a body to a string drops a leading byte order mark and replaces invalid UTF-8. Give every live
 * secret; the check passes if one of them made one of the header's `v1`. Absent or empty entries are skipped and never
 * verify anything.
 *
 * **Never throws and never rejects**, whatever the runtime types of its arguments: every failure is `{ok: false,
 * reason}`, where `reason` names the first check that failed (see `RefusalReason`; service specification §6, contract
 * §5). Respond to every failure with a 4xx, and keep the reason for your own log.
 *
 * Order of the checks:
 *
 * 1. The receiver's own settings (options, secrets), so that a mistake in them shows at the first request, whatever the
 *    request contains.
 * 2. The form of the header, strictly and before the body is touched: exactly one canonical `t`, 1 to 8 `v1`, nothing
 *    beyond 4 KiB. Pairs with other names (such as `v0`) are skipped. Then the type of the body.
 * 3. The signature, compared in constant time with every `v1` for every secret, without an early exit.
 * 4. The age, in both directions. It is checked after the signature so that it is reported only for genuine messages:
 *    without the secret, nobody learns the receiver's clock or tolerance. In the receiver's log, `timestamp_too_old`
 *    means a late or replayed delivery or a wrong clock, never a forgery.
 *
 * A delivery can be repeated within the tolerance, even by the service's own retries: deduplicate by the event's `id`.
 */
export const verify = async (
  rawBody: string | Uint8Array,
  header: string | null | undefined,
  secret: string | ReadonlyArray<string>,
  options?: VerifyOptions
): Promise<Verification> => {
  const window = attempt(() => readOptions(options))
  if (window === undefined) {
    return refuse("invalid_options")
  }

  const secrets = attempt(() => (Array.isArray(secret) ? [...secret] : [secret]).filter(isSecret))
  if (secrets === undefined || secrets.length === 0) {
    return refuse("missing_secret")
  }

  const parsed = parse(header)
  if (typeof parsed === "string") {
    return refuse(parsed)
  }
  const body = attempt(() => bodyOf(rawBody))
  if (body === undefined) {
    return refuse("invalid_body")
  }

  let matched = false
  try {
    const macs = secrets.map((each) => hmac(each, `${parsed.timestamp}.`, body, "hex"))
    // On Node none is a promise, and turns of the microtask queue would cost a tenth of the total time.
    for (const mac of macs.every((each) => typeof each === "string") ? macs : await Promise.all(macs)) {
      for (const signature of parsed.signatures) {
        matched = equal(mac, signature) || matched
      }
    }
  } catch {
    return refuse("crypto_unavailable")
  }
  if (!matched) {
    return refuse("signature_mismatch")
  }

  const age = window.now - parsed.timestamp
  if (age > window.tolerance) {
    return refuse("timestamp_too_old")
  }
  if (-age > window.tolerance) {
    return refuse("timestamp_too_new")
  }
  return { ok: true, timestamp: parsed.timestamp }
}

const refuse = (reason: RefusalReason): Verification => ({ ok: false, reason })

// An argument can be anything at run time: a getter or a revoked proxy throws when it is merely read.
const attempt = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The tolerance and the time, or `undefined` if they are unusable. Internal to the package. */
export const readOptions = (options: VerifyOptions | null | undefined) => {
  // A bare number here is a tolerance given by position, as in other libraries; it must not be ignored.
  if (options !== undefined && typeof options !== "object") {
    return undefined
  }
  const { now = unixNow(), tolerance = defaultTolerance } = options ?? {}
  // `Number.isFinite` does not coerce, so "300", null and NaN are refused rather than converted to a number.
  return Number.isFinite(tolerance) && tolerance >= 0 && Number.isFinite(now)
    ? { tolerance, now: Math.floor(now) }
    : undefined
}

/** Reads the header strictly. Internal to the package. */
export const parse = (
  header: unknown
): { readonly timestamp: number; readonly signatures: ReadonlyArray<string> } | RefusalReason => {
  if (header === undefined || header === null || header === "") {
    return "missing_header"
  }
  if (typeof header !== "string") {
    return "malformed_header"
  }
  if (header.length > maxHeaderLength) {
    return "header_too_long"
  }
  // A space is also refused, because HTTP joins a header that was sent twice with one.
  if (!/^[!-~]+$/.test(header)) {
    return "malformed_header"
  }

  const timestamps: Array<string> = []
  const signatures: Array<string> = []
  for (const pair of header.split(",")) {
    const at = pair.indexOf("=")
    if (at < 1) {
      return "malformed_header"
    }
    const name = pair.slice(0, at)
    if (name === "t") {
      timestamps.push(pair.slice(2))
    } else if (name === "v1") {
      signatures.push(pair.slice(3))
    }
  }

  const [written] = timestamps
  if (written === undefined) {
    return "missing_timestamp"
  }
  if (timestamps.length > 1) {
    return "duplicate_timestamp"
  }
  const timestamp = Number(written)
  if (!/^(0|[1-9]\d*)$/.test(written) || !Number.isSafeInteger(timestamp)) {
    return "malformed_timestamp"
  }
  if (signatures.length === 0) {
    return "missing_signature"
  }
  if (signatures.length > maxSignatures) {
    return "too_many_signatures"
  }
  const wellFormed = signatures.filter((signature) => /^[0-9a-f]{64}$/.test(signature))
  return wellFormed.length === 0 ? "malformed_signature" : { timestamp, signatures: wellFormed }
}

/** Compares in a time that does not depend on where the two differ. Internal to the package. */
export const equal = (left: string, right: string): boolean => {
  let difference = left.length ^ right.length
  for (let index = 0; index < left.length; index++) {
    difference |= left.charCodeAt(index) ^ right.charCodeAt(index)
  }
  return difference === 0
}
