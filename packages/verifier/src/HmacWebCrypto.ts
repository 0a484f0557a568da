import type { Hmac } from "./Content.ts"

/** By WebCrypto, which every runtime has. */
export const hmac: Hmac = async (key, message) => {
  const { subtle } = globalThis.crypto
  const imported = await subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  return new Uint8Array(await subtle.sign("HMAC", imported, message))
}
