import { createHmac, createSecretKey } from "node:crypto"
import type { Bytes, Hmac } from "./SigningInput.ts"

/**
 * HMAC by `node:crypto`. WebCrypto would run each of its two steps as a job on another thread, for a few microseconds'
 * work. If the key is given as bare bytes, Node 24 takes several times as long to find out that they are not a key
 * object; text is fastest as input and output.
 */
export const hmac: Hmac = (key, head, body, encoding) => {
  const mac = createHmac("sha256", typeof key === "string" ? key : createSecretKey(key))
  return (typeof body === "string" ? mac.update(head + body) : mac.update(head).update(body)).digest(encoding)
}

/** The bytes that base64 stands for. */
export const fromBase64 = (text: string): Bytes => Buffer.from(text, "base64")
