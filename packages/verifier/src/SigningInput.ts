/**
 * Checks and encodes the inputs of a signature: body, secrets and timestamp. Pure. Internal to the package.
 */

const encoder = new TextEncoder()

/** Bytes that WebCrypto accepts: never backed by shared memory. */
export type Bytes = Uint8Array<ArrayBuffer>

/**
 * HMAC-SHA-256 with `key` over `head` and then `body`, as they are at the time of the call; strings count as UTF-8. The
 * result is lower-case hexadecimal or base64. The import condition `node` chooses the runtime's `#hmac` (package.json).
 */
export type Hmac = (
  key: string | Bytes,
  head: string,
  body: string | Uint8Array,
  encoding: "hex" | "base64"
) => string | Promise<string>

/** Applies `join` to the MACs: synchronously if all of them are available, as on Node. */
export const joined = (
  macs: ReadonlyArray<string | Promise<string>>,
  join: (macs: ReadonlyArray<string>) => string
): string | Promise<string> => macs.every((mac) => typeof mac === "string") ? join(macs) : Promise.all(macs).then(join)

/** The UTF-8 bytes of `text`; a lone surrogate becomes U+FFFD, as everywhere on the web. */
export const utf8 = (text: string): Bytes => encoder.encode(text)

/**
 * Whether a value is a `Uint8Array`. `instanceof` is false for one of another realm (test runners, workers, vm
 * contexts), so the tag is read.
 */
export const isBytes = (value: unknown): value is Uint8Array =>
  ArrayBuffer.isView(value) && Object.prototype.toString.call(value) === "[object Uint8Array]"

/**
 * The given body; throws a `TypeError` unless it is a string or bytes that are still readable (a detached buffer is
 * not).
 */
export const bodyOf = (body: string | Uint8Array): string | Uint8Array => {
  if (typeof body !== "string" && !isBytes(body)) {
    throw new TypeError("The body must be a string or a Uint8Array")
  }
  // Only a copy tells an empty array from a detached one; it throws on the latter.
  return body.length === 0 && typeof body !== "string" ? new Uint8Array(body) : body
}

/** A fresh array of `head` as UTF-8 and then `body`, strings as UTF-8 and bytes as they are. */
export const withBody = (head: string, body: string | Uint8Array): Bytes => {
  if (typeof body === "string") {
    return utf8(head + body)
  }
  const prefix = utf8(head)
  const bytes = new Uint8Array(prefix.length + body.length)
  bytes.set(prefix)
  bytes.set(body, prefix.length)
  return bytes
}

/** The bytes in lower-case hexadecimal. */
export const toHex = (bytes: Bytes): string => {
  let hex = ""
  for (const byte of bytes) {
    hex += (byte < 16 ? "0" : "") + byte.toString(16)
  }
  return hex
}

/**
 * Whether a secret can key an HMAC. A blank secret protects nothing, because anyone can compute with it. The same is
 * true of a secret of NULs, which HMAC treats like the empty key.
 */
export const isSecret = (value: unknown): value is string => typeof value === "string" && /[^\0\s]/.test(value)

/** The given secret or secrets as a list; throws a `TypeError` unless each of them is usable. */
export const secretsOf = (secret: string | ReadonlyArray<string>): ReadonlyArray<string> => {
  const secrets = Array.isArray(secret) ? [...secret] : [secret]
  if (secrets.length === 0 || !secrets.every(isSecret)) {
    throw new TypeError("The secret must be a non-empty string, or a non-empty list of them")
  }
  return secrets
}

/** The given `timestamp`; throws a `RangeError` unless it is a whole number of unix seconds. */
export const secondsOf = (timestamp: number): number => {
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) {
    throw new RangeError("The timestamp must be a whole number of unix seconds")
  }
  return timestamp
}
