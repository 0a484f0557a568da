/**
 * The signature of a request (contract §5), by WebCrypto, which every runtime has. `@wac/verifier` defines the format;
 * a test compares the two.
 */

import { joined } from "./Bytes.ts"

/** The value of `X-Service-Signature`; `seconds` is the time in unix seconds, `target` is path and query as sent. */
export const signatureOf = async (
  request: {
    readonly method: string
    readonly target: string
    readonly idempotencyKey: string | undefined
    readonly body: string | Uint8Array | undefined
  },
  secret: string,
  seconds: number
): Promise<string> => {
  const { body = "", idempotencyKey = "", method, target } = request
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", await joined([secret]), algorithm, false, ["sign"])
  const signed = await joined([`${seconds}.${method}\n${target}\n${idempotencyKey}\n`, body])
  const mac = await crypto.subtle.sign("HMAC", key, signed)
  const hex = Array.from(new Uint8Array(mac), (byte) => byte.toString(16).padStart(2, "0")).join("")
  return `t=${seconds},v1=${hex}`
}
