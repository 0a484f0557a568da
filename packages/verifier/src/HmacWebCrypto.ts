import { type Bytes, type Hmac, toHex, utf8, withBody } from "./SigningInput.ts"

/** HMAC-SHA-256 by WebCrypto, which every runtime has. */
export const hmac: Hmac = async (key, head, body, encoding) => {
  const message = withBody(head, body)
  const { subtle } = globalThis.crypto
  const bytes = typeof key === "string" ? utf8(key) : key
  const imported = await subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
  const mac = new Uint8Array(await subtle.sign("HMAC", imported, message))
  return encoding === "hex" ? toHex(mac) : btoa(String.fromCharCode(...mac))
}

/** Decodes base64. */
export const fromBase64 = (text: string): Bytes => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
