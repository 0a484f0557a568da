/**
 * Signs deliveries: for the service, and for tests of receivers.
 */
import { newEventId } from "./EventId.ts"
import { SIGNATURE_HEADER, signatureOf } from "./Signature.ts"
import { isBytes } from "./SigningInput.ts"
import { STANDARD_WEBHOOK_HEADERS, standardSignatureOf, type StandardWebhookInput } from "./StandardWebhooks.ts"

/** The headers that sign a delivery, by name. */
export interface DeliveryHeaders {
  readonly [name: string]: string
}

/**
 * The headers that sign one delivery, of both families. On Node they are returned synchronously, so that signing
 * thousands a second needs no promises; on any other runtime a promise of them is returned. On both, throws the
 * `TypeError` or `RangeError` that `sign` and `signStandardWebhook` reject with. Internal to the service.
 */
export const deliveryHeaders = (input: StandardWebhookInput): DeliveryHeaders | Promise<DeliveryHeaders> => {
  const headers = (ours: string, standard: string): DeliveryHeaders => ({
    [SIGNATURE_HEADER]: ours,
    [STANDARD_WEBHOOK_HEADERS.id]: input.id,
    [STANDARD_WEBHOOK_HEADERS.timestamp]: `${input.timestamp}`,
    [STANDARD_WEBHOOK_HEADERS.signature]: standard
  })
  const ours = signatureOf(input.body, input.secret, input.timestamp)
  const standard = standardSignatureOf(input)
  return typeof ours === "string" && typeof standard === "string"
    ? headers(ours, standard)
    : Promise.all([ours, standard]).then((both) => headers(...both))
}

/** What a test delivers to its receiver, and how. */
export interface DeliveryInput {
  /** An event, which is sent as JSON; or the raw body exactly as sent. */
  readonly payload: object | string | Uint8Array
  /** One secret, or several during a rotation, newest first; each is `whsec_` followed by base64. */
  readonly secret: string | ReadonlyArray<string>
  /** The value of `webhook-id`. Defaults to the `id` of an event given as an object, otherwise to a new id. */
  readonly id?: string
  /** The time of the attempt in unix **seconds**. Defaults to now. */
  readonly timestamp?: number
}

/** A request as the service sends it, except for its address: `fetch(url, delivery)`. */
export interface SignedDelivery {
  readonly method: "POST"
  /** The content type and all headers that sign the body. */
  readonly headers: DeliveryHeaders
  /** The raw body that is signed. Send it unchanged. */
  readonly body: string | Uint8Array<ArrayBuffer>
}

const idIn = (payload: unknown): string => {
  const id = typeof payload === "object" && payload !== null && "id" in payload ? payload.id : undefined
  return typeof id === "string" ? id : newEventId()
}

/**
 * Signs a delivery as the service does, for tests of a receiver:
 *
 * ```ts
 * const delivery = await signDelivery({ payload: exampleEvent("message.delivered"), secret })
 * const response = await fetch("http://127.0.0.1:3000/webhook", delivery)
 * ```
 *
 * The headers are of both families: `X-Service-Signature` as made by `sign`, and the three of Standard Webhooks, the
 * last of which is made by `signStandardWebhook`.
 *
 * Always returns a promise, which rejects with a `TypeError` or `RangeError` if an argument is unusable; the message
 * never contains a secret.
 */
export const signDelivery = async (
  { payload, secret, id = idIn(payload), timestamp = Math.floor(Date.now() / 1000) }: DeliveryInput
): Promise<SignedDelivery> => {
  // an invalid payload, such as a number, is refused when it is signed
  const isBody = typeof payload !== "object" || payload === null || isBytes(payload)
  const body = (isBody ? payload : JSON.stringify(payload)) as string | Uint8Array<ArrayBuffer>
  const signed = await deliveryHeaders({ id, timestamp, body, secret })
  return { method: "POST", headers: { "content-type": "application/json", ...signed }, body }
}
