/**
 * Makes the headers of the Standard Webhooks specification, which every delivery carries too (contract §5).
 */
import { fromBase64, hmac } from "#hmac"
import { bodyOf, type Bytes, joined, secondsOf, secretsOf } from "./SigningInput.ts"

/** The three headers of the Standard Webhooks specification (version 1). */
export const STANDARD_WEBHOOK_HEADERS = {
  id: "webhook-id",
  timestamp: "webhook-timestamp",
  signature: "webhook-signature"
} as const

/** The input of a Standard Webhooks signature, and its secrets. */
export interface StandardWebhookInput {
  /** The value of `webhook-id`: visible ASCII without a dot, the same for all attempts of one event. */
  readonly id: string
  /** The value of `webhook-timestamp`, in unix seconds. */
  readonly timestamp: number
  /** The raw body exactly as sent. */
  readonly body: string | Uint8Array
  /** One secret, or several during a rotation, newest first; each is `whsec_` followed by base64. */
  readonly secret: string | ReadonlyArray<string>
}

const keyOf = (secret: string): Bytes => {
  // Checked here, because the decoder also accepts white space and missing padding, which other implementations refuse
  // or read as another key.
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? ""
  if (encoded === "" || encoded.length % 4 !== 0) {
    throw new TypeError("A Standard Webhooks secret must be whsec_ and then base64")
  }
  return fromBase64(encoded)
}

/** {@link signStandardWebhook}, synchronous on Node. */
export const standardSignatureOf = (input: StandardWebhookInput): string | Promise<string> => {
  if (typeof input.id !== "string" || !/^[!-\-/-~]+$/.test(input.id)) {
    throw new TypeError("The id must be visible ASCII without a dot")
  }
  const keys = secretsOf(input.secret).map(keyOf)
  const head = `${input.id}.${secondsOf(input.timestamp)}.`
  const body = bodyOf(input.body)
  return joined(
    keys.map((key) => hmac(key, head, body, "base64")),
    (macs) => macs.map((mac) => `v1,${mac}`).join(" ")
  )
}

/**
 * The value of the header `webhook-signature`: `v1,<base64>` for every secret, in the order given, separated by spaces.
 *
 * HMAC-SHA-256 over `<id>.<timestamp>.<raw body>`. Unlike in `sign`, the key is the base64-decoded part after
 * `whsec_`, so that a delivery can carry both families of headers from one secret (contract §5).
 *
 * Rejects with a `TypeError` or `RangeError` if an argument is unusable; the message never contains a secret.
 */
export const signStandardWebhook = async (input: StandardWebhookInput): Promise<string> => standardSignatureOf(input)
