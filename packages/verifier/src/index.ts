/**
 * Signs and verifies the service's webhook and request signatures: on Node by `node:crypto`, on any other runtime by
 * WebCrypto.
 *
 * @module
 */

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
