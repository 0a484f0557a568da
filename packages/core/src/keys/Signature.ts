/**
 * Signatures of deliveries and of callers' requests (specification §6 *Verifying a signature*, contract §5). The format
 * is defined in `@wac/verifier`.
 */
import { type DeliveryHeaders, requestPayload, SIGNATURE_HEADER, type Verification, verify } from "@wac/verifier"
import { deliveryHeaders as signedHeaders } from "@wac/verifier/Delivery"
import { type PassingMac, verifyPassing } from "@wac/verifier/StreamedSignature"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"
import { Unauthorized } from "../Errors.ts"
import type { Instant } from "../Time.ts"

/**
 * Generates a secret: `whsec_` and 40 base62 characters (238 bits), which are also valid base64 of 30 bytes for
 * Standard Webhooks.
 */
export const generateSecret = (random: SecureRandom.SecureRandom["Service"]): Effect.Effect<string> =>
  Effect.map(Base62.random(random, 40), (text) => `whsec_${text}`)

const seconds = (at: Instant): number => Math.floor(at / 1000)

const ofJson = (signed: DeliveryHeaders): DeliveryHeaders => ({ "content-type": "application/json", ...signed })

/**
 * The headers of one delivery attempt in both signature families, computed with the attempt's own time. There is one
 * signature for each secret, in the order given.
 */
export const deliveryHeaders = (delivery: {
  readonly eventId: string
  readonly body: string
  readonly secrets: ReadonlyArray<string>
  readonly now: Instant
}): Effect.Effect<DeliveryHeaders> =>
  Effect.suspend(() => {
    const { body, eventId: id, now, secrets } = delivery
    const signed = signedHeaders({ id, timestamp: seconds(now), body, secret: secrets })
    return signed instanceof Promise ? Effect.map(Effect.promise(() => signed), ofJson) : Effect.succeed(ofJson(signed))
  })

/** The parts of a request that its signature covers. */
export interface SignedRequest {
  readonly method: string
  /** The path and query as sent, not decoded. */
  readonly target: string
  /** The header's value as sent; `undefined` is signed as the empty string. */
  readonly idempotencyKey: string | undefined
  readonly body: Uint8Array
  /** The value of the header {@link SIGNATURE_HEADER}, if present. */
  readonly signature: string | undefined
}

/**
 * The error for a request whose signature is wrong or stale, or missing although `required`; `undefined` if the request
 * is acceptable.
 */
export const requestRefusal = (
  request: SignedRequest,
  secret: string,
  options: { readonly required: boolean; readonly now: Instant }
): Effect.Effect<Unauthorized | undefined> => {
  if (request.signature === undefined) {
    return Effect.succeed(
      options.required
        ? new Unauthorized({
          reason: "missing_signature",
          param: SIGNATURE_HEADER,
          message: `this API key requires signed requests; the header ${SIGNATURE_HEADER} is missing`
        })
        : undefined
    )
  }
  return Effect.promise(async () =>
    refusalOf(await verify(requestPayload(request), request.signature, secret, { now: seconds(options.now) }))
  )
}

/** Checks the signature of a request whose body arrives in pieces. */
export interface PassingSignature {
  readonly take: (bytes: Uint8Array) => void
  /** The error, as {@link requestRefusal} would return it. Call it once the body has ended. */
  readonly end: () => Unauthorized | undefined
}

/**
 * Begins to check the signature of a request whose body arrives in pieces. The signature's age is judged at `now`, when
 * the body begins. `mac` computes the HMAC with the key's secret.
 */
export const passing = (
  request: Omit<SignedRequest, "body">,
  mac: PassingMac,
  now: Instant
): PassingSignature => {
  const passing = verifyPassing(request.signature, () => mac, { now: seconds(now) })
  passing.take(requestPayload({ ...request, body: "" }))
  return { take: passing.take, end: () => refusalOf(passing.end()) }
}

const refusalOf = (verified: Verification): Unauthorized | undefined => {
  if (verified.ok) return undefined
  const stale = verified.reason === "timestamp_too_old" || verified.reason === "timestamp_too_new"
  return new Unauthorized({
    reason: stale ? "stale_signature" : "invalid_signature",
    param: SIGNATURE_HEADER,
    message: stale
      ? "the request's signature is more than 300 seconds away from the current time"
      : `the request's signature is wrong: ${verified.reason}`
  })
}
