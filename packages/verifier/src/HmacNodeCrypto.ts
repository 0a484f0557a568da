import { createHmac, createSecretKey } from "node:crypto"
import type { Bytes, Hmac } from "./Content.ts"

/**
 * By `node:crypto`: WebCrypto would make each of its two steps a job for another thread, for a few microseconds' work.
 * Given the bare bytes of a key, Node 24 spends several times as long on finding out that they are no key object; text
 * costs least, in and out.
 */
export const hmac: Hmac = (key, head, body, encoding) => {
  const mac = createHmac("sha256", typeof key === "string" ? key : createSecretKey(key))
  return (typeof body === "string" ? mac.update(head + body) : mac.update(head).update(body)).digest(encoding)
}

/** The bytes that base64 stands for. */
export const fromBase64 = (text: string): Bytes => Buffer.from(text, "base64")
