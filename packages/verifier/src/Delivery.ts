import { SIGNATURE_HEADER, signatureOf } from "./Signature.ts"
import { STANDARD_WEBHOOK_HEADERS, standardSignatureOf, type StandardWebhookInput } from "./StandardWebhooks.ts"

/** The headers that sign a delivery, by name. */
export interface DeliveryHeaders {
  readonly [name: string]: string
}

/**
 * The headers that sign one delivery, of both families: `X-Service-Signature` as made by `sign`, and the three of
 * Standard Webhooks, the last of which is made by `signStandardWebhook`.
 *
 * On Node the headers are returned synchronously, so that signing thousands a second needs no promises; on any other
 * runtime a promise of them is returned. On both, throws the `TypeError` or `RangeError` that those functions reject
 * with.
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
