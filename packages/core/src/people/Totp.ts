/**
 * Codes of an authenticator app (RFC 6238): SHA-1, six digits, time steps of 30 seconds, which every app supports.
 * Pure.
 */
import { Duration, Redacted } from "effect"
import { Secret, TOTP } from "otpauth"
import type { Instant } from "../Time.ts"

/** The length of a secret in bytes: that of a SHA-1, which RFC 4226 recommends. */
export const secretLength = 20

/** How long a code is the current one. */
const period = Duration.seconds(30)

/** The number of time steps before and after the current one whose codes are accepted too, because clocks differ. */
const drift = 1

/** The name of the service in the app. */
const issuer = "wac"

/** A secret as people type it into their app: base32. */
export const secretOf = (bytes: Uint8Array): Redacted.Redacted =>
  // a copy, whose buffer has nothing else in it
  Redacted.make(new Secret({ buffer: new Uint8Array(bytes).buffer }).base32)

const generator = (secret: Redacted.Redacted, label: string) =>
  new TOTP({
    issuer,
    label,
    secret: Secret.fromBase32(Redacted.value(secret)),
    algorithm: "SHA1",
    digits: 6,
    period: Duration.toSeconds(period)
  })

/** The address that an app reads from a QR code. `label` is the account's name there. */
export const uriOf = (secret: Redacted.Redacted, label: string): string => generator(secret, label).toString()

/** Whether a text has the form of a code; spaces do not matter. */
export const isCode = (text: string): boolean => /^\d{6}$/.test(text.replaceAll(/\s/g, ""))

/** The code at a time. */
export const codeAt = (secret: Redacted.Redacted, at: Instant): string =>
  generator(secret, "").generate({ timestamp: at })

/** The time step of a code: the number of 30-second periods since 1970. `undefined` if it is not right at `now`. */
export const stepOf = (secret: Redacted.Redacted, code: string, now: Instant): number | undefined => {
  if (!isCode(code)) return undefined
  const delta = generator(secret, "").validate({
    token: code.replaceAll(/\s/g, ""),
    timestamp: now,
    window: drift
  })
  return delta === null ? undefined : Math.floor(now / Duration.toMillis(period)) + delta
}
