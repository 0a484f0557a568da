/**
 * Verifies a delivery and reads its event, whatever framework received it.
 */
import type { Envelope, WebhookEvent } from "./Event.ts"
import { type RefusalReason, SIGNATURE_HEADER, verify, type VerifyOptions } from "./Signature.ts"

/**
 * One signing secret, or all live secrets during a rotation. `undefined`, as from an unset variable, verifies nothing.
 */
export type Secrets = string | ReadonlyArray<string> | undefined

/** A request's headers: a `Headers`, Node's `IncomingHttpHeaders`, or any record of names, in any case, and values. */
export type HeadersLike =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | ReadonlyArray<string> | undefined }

/**
 * Why `receive` refused: a reason of `verify`, or
 *
 * - `body_already_parsed`: the body is an object, because a body parser ran first. Replaces `invalid_body`.
 * - `malformed_json`: genuinely signed, but not JSON in UTF-8.
 * - `not_an_event`: genuinely signed JSON, but without `type` and `data`; it may be a signed request.
 * - `other_envelope`: the event's envelope is not `options.envelope`.
 */
export type ReceiveReason = RefusalReason | "body_already_parsed" | "malformed_json" | "not_an_event" | "other_envelope"

/** The mistake, as a code for programs and as a sentence for people. Neither contains a secret. */
export interface Refusal {
  readonly ok: false
  readonly reason: ReceiveReason
  readonly message: string
}

/** The result of `receive`: the event and the signed time in unix seconds, or the check that failed. */
export type Receipt<E extends Envelope = "combined"> =
  | { readonly ok: true; readonly event: WebhookEvent<E>; readonly timestamp: number }
  | Refusal

/** Settings of `receive`; each is optional. */
export interface ReceiveOptions<E extends Envelope = "combined"> extends VerifyOptions {
  /** The webhook's envelope, `combined` by default. */
  readonly envelope?: E | undefined
}

/**
 * Verifies a delivery and returns its event, typed by `event.type`: checks the header `X-Service-Signature` by
 * `verify`, and then the JSON. Give the raw body, as bytes or text, before any parser reads it.
 *
 * **Never throws and never rejects.** The signature vouches for the content, so of the event only the envelope is
 * checked; an event whose type this version does not know is returned unchanged (`UnknownEvent`).
 *
 * Respond to a refusal with 400, and to an event with 200 within 5 seconds, once it is stored. After any other response
 * the event comes again, for 24 hours. An event can come twice: deduplicate by `event.id`, which is the same every time
 * (service specification §6).
 */
export const receive = async <E extends Envelope = "combined">(
  rawBody: string | Uint8Array,
  headers: HeadersLike,
  secret: Secrets,
  options?: ReceiveOptions<E>
): Promise<Receipt<E>> => {
  try {
    const { envelope = "combined" } = options ?? {}
    if (!Object.hasOwn(fields, envelope)) {
      return refuse("invalid_options")
    }
    // Read before the first wait: exactly the verified bytes are parsed, even if the caller's buffer changes meanwhile.
    const text = textOf(rawBody)
    const verified = await verify(rawBody, signatureOf(headers), secret!, options)
    if (!verified.ok) {
      return refuse(verified.reason === "invalid_body" && isParsed(rawBody) ? "body_already_parsed" : verified.reason)
    }
    const event = parse(text)
    if (event === undefined) {
      return refuse("malformed_json")
    }
    if (!isRecord(event) || typeof event["type"] !== "string" || !isRecord(event["data"])) {
      return refuse("not_an_event")
    }
    return fields[envelope].every((name) => typeof event[name] === "string")
      ? { ok: true, event: event as unknown as WebhookEvent<E>, timestamp: verified.timestamp }
      : refuse("other_envelope")
  } catch {
    // Arguments can throw when they are merely read; `verify` has not read these yet.
    return refuse("invalid_body")
  }
}

const fields: { readonly [E in Envelope]: ReadonlyArray<string> } = {
  combined: ["id", "created_at", "tenant_id"],
  a: ["id", "created_at"],
  b: ["tenant_id"]
}

const messages: { readonly [Reason in ReceiveReason]: string } = {
  invalid_options: "the receiver's options are wrong: tolerance and now are seconds, envelope is combined, a or b",
  missing_secret: "the receiver has no webhook signing secret: is its variable set?",
  missing_header: `the header ${SIGNATURE_HEADER} is missing`,
  header_too_long: `the header ${SIGNATURE_HEADER} is longer than 4 KiB`,
  malformed_header: `the header ${SIGNATURE_HEADER} is not one list of name=value pairs; was it sent twice?`,
  missing_timestamp: `the header ${SIGNATURE_HEADER} has no t`,
  duplicate_timestamp: `the header ${SIGNATURE_HEADER} has more than one t`,
  malformed_timestamp: "t is not a whole number of unix seconds",
  missing_signature: `the header ${SIGNATURE_HEADER} has no v1`,
  too_many_signatures: `the header ${SIGNATURE_HEADER} has more than 8 v1`,
  malformed_signature: "v1 is not 64 lower-case hexadecimal digits",
  invalid_body: "the body is neither text nor bytes; pass the raw bytes",
  body_already_parsed: "the body was already parsed; pass the raw bytes",
  crypto_unavailable: "the receiver's runtime has no WebCrypto",
  signature_mismatch: "not signed with the receiver's secret over this body: the secret of another webhook, " +
    "or a body changed on its way (parsed and written again, for example)",
  timestamp_too_old: "genuine, but signed too long ago: late, replayed, or the receiver's clock is ahead",
  timestamp_too_new: "genuine, but signed in the future: the receiver's clock is behind",
  malformed_json: "signed, but not JSON in UTF-8",
  not_an_event: "signed, but without a type and data: is this the secret of something else?",
  other_envelope: "the event is in another envelope than the receiver's option envelope says"
}

const refuse = (reason: ReceiveReason): Refusal => ({ ok: false, reason, message: messages[reason] })

const isRecord = (value: unknown): value is { readonly [field: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isParsed = (body: unknown): boolean =>
  typeof body === "object" && body !== null && !ArrayBuffer.isView(body) && !(body instanceof ArrayBuffer)

const lowerCaseName = SIGNATURE_HEADER.toLowerCase()

/** The header's value. A header that was sent several times is joined as in HTTP, which `verify` refuses. */
const signatureOf = (headers: unknown): string | undefined => {
  if (typeof headers !== "object" || headers === null) {
    return undefined
  }
  if ("get" in headers && typeof headers.get === "function") {
    return headers.get(SIGNATURE_HEADER)
  }
  const direct = (headers as { readonly [name: string]: unknown })[lowerCaseName]
  if (typeof direct === "string") {
    return direct
  }
  const values = Object.entries(headers).flatMap(([name, value]) => name.toLowerCase() === lowerCaseName ? value : [])
  return values.length > 1 ? values.join(", ") : values[0]
}

const decoder = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true })

const textOf = (body: string | Uint8Array): string | undefined => {
  try {
    return typeof body === "string" ? body : decoder.decode(body)
  } catch {
    return undefined
  }
}

const parse = (text: string | undefined): unknown => {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
