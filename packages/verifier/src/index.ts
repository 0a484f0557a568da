/**
 * Receives the service's webhooks, and signs and verifies: on Node by `node:crypto`, on any other runtime by WebCrypto.
 *
 * @module
 */

export { type DeliveryHeaders, type DeliveryInput, signDelivery, type SignedDelivery } from "./Delivery.ts"
export type * from "./Event.ts"
export type { Json } from "./Json.ts"
export {
  type HeadersLike,
  type Receipt,
  receive,
  type ReceiveOptions,
  type ReceiveReason,
  type Refusal,
  type Secrets
} from "./Receive.ts"
export { requestPayload, type RequestPayloadInput } from "./RequestSignature.ts"
export {
  type RefusalReason,
  sign,
  SIGNATURE_HEADER,
  type Verification,
  verify,
  type VerifyOptions
} from "./Signature.ts"
export { signStandardWebhook, STANDARD_WEBHOOK_HEADERS, type StandardWebhookInput } from "./StandardWebhooks.ts"
export type { UnknownName } from "./UnknownName.ts"
