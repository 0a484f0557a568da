/**
 * The signature self-test (contract §6 `POST /internal/webhook/verify`): diagnoses why a receiver does not accept a
 * delivery. It takes the header and the body that the receiver got and reports which part is wrong. Stores nothing.
 */
import { SIGNATURE_HEADER, STANDARD_WEBHOOK_HEADERS, verify } from "@wac/verifier"
import { Effect } from "effect"
import type { Mac } from "effect/crypto"
import { type Instant, iso } from "../Time.ts"
import * as PastedHeader from "./PastedHeader.ts"
import * as SignatureMistake from "./SignatureMistake.ts"

/** The verdict on one part of a signature. */
export interface Check {
  readonly part: "header" | "timestamp" | "signature"
  readonly ok: boolean
  /** A stable word for the mistake; `null` if there is none. */
  readonly reason: string | null
  /** One plain sentence. */
  readonly message: string
}

/** The verdict on a delivery's signature. */
export interface VerifyReport {
  /** Whether a correct receiver would accept it now. */
  readonly ok: boolean
  /** The headers that were checked: `X-Service-Signature` or Standard Webhooks. */
  readonly scheme: SignatureMistake.Scheme
  /** In this order: header, timestamp, signature. Parts that a broken header hides are absent. */
  readonly checks: ReadonlyArray<Check>
}

/** An opened secret, and when a rotation ends it. */
export interface KnownSecret {
  readonly secret: string
  readonly expiresAt: Instant | null
}

/** A delivery as the receiver got it, and what is known of its webhook. */
export interface Evidence {
  /** The value of `X-Service-Signature`, or lines of `Name: value` as a log shows them, of either family. */
  readonly header: string
  /** As received, before parsing. */
  readonly body: string
  /** The webhook's secrets, including expired ones. */
  readonly secrets: ReadonlyArray<KnownSecret>
  readonly now: Instant
}

/** How far a timestamp may be from the present in either direction, in seconds (contract §5). */
const tolerance = 300

/** Later than any date in seconds, and earlier than any date of this century in milliseconds. */
const leastMilliseconds = 100_000_000_000

/** The maximum number of a header's signatures that are checked, as in a verifier (contract §5). */
const maxSignatures = 8

const good = (part: Check["part"], message: string): Check => ({ part, ok: true, reason: null, message })

const bad = (part: Check["part"], reason: string, message: string): Check => ({ part, ok: false, reason, message })

const form = "it must look like t=1700000000,v1=5f2b… and contain nothing else"

/** The explanations of the verifier's reasons for a malformed header. */
const formMistakes: { readonly [reason: string]: string } = {
  missing_header:
    `there is no ${SIGNATURE_HEADER}; the receiver may read a header of another name, or a proxy may drop it`,
  header_too_long: "the header is longer than 4 KiB",
  malformed_header: `the header is not name=value pairs joined by commas; ${form}`,
  missing_timestamp: `the header has no t; ${form}`,
  duplicate_timestamp: "the header has more than one t; two headers may have been joined",
  malformed_timestamp: "t is not a whole number of unix seconds, written without sign or leading zeros",
  missing_signature: `the header has no v1; ${form}`,
  too_many_signatures: `the header has more than ${maxSignatures} v1`,
  malformed_signature: "v1 is not 64 lower-case hexadecimal digits"
}

const checkTime = (written: string, now: number): Check => {
  const timestamp = Number(written)
  if (timestamp >= leastMilliseconds) {
    return bad("timestamp", "timestamp_in_milliseconds", "the timestamp is in milliseconds; it must be in seconds")
  }
  const age = now - timestamp
  if (Math.abs(age) <= tolerance) {
    return good("timestamp", `the timestamp is within ${tolerance} seconds of the current time`)
  }
  return age > 0
    ? bad(
      "timestamp",
      "timestamp_too_old",
      `the timestamp is ${age} seconds old; only ${tolerance} are allowed. Check a delivery that has just arrived, ` +
        "and make sure that the clock is right"
    )
    : bad(
      "timestamp",
      "timestamp_too_new",
      `the timestamp is ${-age} seconds in the future; only ${tolerance} are allowed, so a clock is wrong`
    )
}

const unexplained =
  "no secret of this webhook produces it for this timestamp and body. Either another secret was used " +
  "(an API key's secret signs requests, not events), or the body differs from the bytes that were sent"

const checkSignature = (
  signed: SignatureMistake.Signed,
  { now, secrets }: Evidence
): Effect.Effect<Check, never, Mac.Mac> =>
  Effect.map(SignatureMistake.explain(signed, secrets.map(({ secret }) => secret)), (explanation) => {
    if (explanation === undefined) {
      return bad("signature", "signature_mismatch", `the signature does not match: ${unexplained}`)
    }
    const expiresAt = secrets.find(({ secret }) => secret === explanation.secret)?.expiresAt ?? null
    const mistakes = expiresAt === null || expiresAt > now ? explanation.mistakes : [...explanation.mistakes, {
      reason: "secret_expired",
      message: `the secret was replaced and expired at ${iso(expiresAt)}`
    }]
    const [first] = mistakes
    return first === undefined
      ? good("signature", "the signature was made with a secret of this webhook over this timestamp and body")
      : bad("signature", first.reason, mistakes.map(({ message }) => message).join("; also, "))
  })

const report = (scheme: SignatureMistake.Scheme, checks: ReadonlyArray<Check>): VerifyReport => ({
  ok: checks.every(({ ok }) => ok),
  scheme,
  checks
})

const isLive = (now: Instant) => ({ expiresAt }: KnownSecret): boolean => expiresAt === null || expiresAt > now

const ofService = Effect.fnUntraced(function*(value: string, evidence: Evidence) {
  const { body, now, secrets } = evidence
  const seconds = Math.floor(now / 1000)
  const live = secrets.filter(isLive(now)).map(({ secret }) => secret)
  const verified = yield* Effect.promise(() => verify(body, value, live, { now: seconds, tolerance }))
  const mistake = verified.ok ? undefined : formMistakes[verified.reason]
  const header = verified.ok || mistake === undefined
    ? good("header", "the header is well formed")
    : bad("header", verified.reason, mistake)
  // reads a malformed header too: a second mistake may have caused the first
  const timestamp = /(?:^|[\s,;])t\s*=\s*(\d+)/.exec(value)?.[1]
  const signatures = [...value.matchAll(/v1\s*=\s*([^\s,;]+)/g)].slice(0, maxSignatures).map(([, text]) => text!)
  if (timestamp === undefined || signatures.length === 0) return report("service", [header])
  const id = /"id"\s*:\s*"(evt_\w+)"/.exec(body)?.[1]
  const signature = yield* checkSignature({ scheme: "service", timestamp, id, body, signatures }, evidence)
  return report("service", [header, checkTime(timestamp, seconds), signature])
})

const ofStandard = Effect.fnUntraced(
  function*(pasted: PastedHeader.PastedHeader & { readonly _tag: "Standard" }, evidence: Evidence) {
    const { id, signature, timestamp } = pasted
    const missing = Object.entries(STANDARD_WEBHOOK_HEADERS).filter(([part]) =>
      !pasted[part as keyof typeof STANDARD_WEBHOOK_HEADERS]
    )
    if (id === undefined || timestamp === undefined || signature === undefined || missing.length > 0) {
      const names = missing.map(([, name]) => name).join(" and ")
      return report("standard", [
        bad("header", "missing_header", `there is no ${names}; all three headers are required`)
      ])
    }
    if (!/^(0|[1-9]\d*)$/.test(timestamp)) {
      return report("standard", [
        bad("header", "malformed_timestamp", "webhook-timestamp is not a whole number of unix seconds")
      ])
    }
    const signatures = signature.split(/\s+/).slice(0, maxSignatures)
    const known = signatures.filter((each) => each.startsWith("v1,")).map((each) => each.slice(3))
    const header = known.length > 0
      ? good("header", "the headers are well formed")
      : bad(
        "header",
        "malformed_signature",
        "webhook-signature must be v1, followed by base64; several signatures are separated by spaces"
      )
    const bare = known.length > 0 ? known : signatures
    const judged = yield* checkSignature(
      { scheme: "standard", timestamp, id, body: evidence.body, signatures: bare },
      evidence
    )
    return report("standard", [header, checkTime(timestamp, Math.floor(evidence.now / 1000)), judged])
  }
)

/** Diagnoses a header and a body as a receiver got them. */
export const diagnose = (evidence: Evidence): Effect.Effect<VerifyReport, never, Mac.Mac> => {
  const pasted = PastedHeader.read(evidence.header)
  return pasted._tag === "Service" ? ofService(pasted.value, evidence) : ofStandard(pasted, evidence)
}
