import { createHmac, createSecretKey } from "node:crypto"
import type { Hmac } from "./Content.ts"

/**
 * By `node:crypto`: WebCrypto would make each of its two steps a job for another thread, for a few microseconds' work.
 * Given the bare bytes of a key, Node 24 spends several times as long on finding out that they are no key object.
 */
export const hmac: Hmac = (key, message) =>
  new Uint8Array(createHmac("sha256", createSecretKey(key)).update(message).digest())
