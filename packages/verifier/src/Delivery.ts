import { SIGNATURE_HEADER, signatureOf } from "./Signature.ts"
import { STANDARD_WEBHOOK_HEADERS, standardSignatureOf, type StandardWebhookInput } from "./StandardWebhooks.ts"

/** The headers that sign a delivery, by name. */
export interface DeliveryHeaders {
  readonly [name: string]: string
}

/**
 * The headers that sign one delivery, of both families: `X-Service-Signature` as `sign` makes it, and the three of
 * Standard Webhooks as `signStandardWebhook` makes the last of them.
 *
 * On Node they are made at once, so that whoever signs thousands a second waits for no promise; on any other runtime
 * this is a promise of them. Throws, on either, the `TypeError` or `RangeError` that those two reject with.
 */
export const signDelivery = (input: StandardWebhookInput): DeliveryHeaders | Promise<DeliveryHeaders> => {
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
