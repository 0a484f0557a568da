import { createHmac, createSecretKey } from "node:crypto"
import type { Bytes, Hmac } from "./SigningInput.ts"

/**
 * HMAC-SHA-256 by `node:crypto`. WebCrypto would run each of its two steps, which take some microseconds, as a job on
 * another thread. A key object is several times faster than bare bytes as the key, because Node 24 takes long to find
 * out that they are no key object; text is fastest as input and output.
 */
export const hmac: Hmac = (key, head, body, encoding) => {
  const mac = createHmac("sha256", typeof key === "string" ? key : createSecretKey(key))
  return (typeof body === "string" ? mac.update(head + body) : mac.update(head).update(body)).digest(encoding)
}

/** Decodes base64. */
export const fromBase64 = (text: string): Bytes => Buffer.from(text, "base64")
