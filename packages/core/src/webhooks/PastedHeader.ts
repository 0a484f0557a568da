/**
 * Parses a delivery's signature headers as people paste them from a log: a bare value, or lines of names and values.
 * Pure.
 */
import { SIGNATURE_HEADER, STANDARD_WEBHOOK_HEADERS } from "@wac/verifier"

/** The signature headers in a pasted text. */
export type PastedHeader =
  /** The value of `X-Service-Signature`; empty if there is none. */
  | { readonly _tag: "Service"; readonly value: string }
  /** The Standard Webhooks headers that are present. */
  | {
    readonly _tag: "Standard"
    readonly id: string | undefined
    readonly timestamp: string | undefined
    readonly signature: string | undefined
  }

/** Normalizes the spellings of a header name: `Webhook-Id`, `HTTP_WEBHOOK_ID`. */
const nameOf = (written: string): string => written.toLowerCase().replaceAll("_", "-").replace(/^http-/, "")

/** The characters around names and values in a log: quotes, separators, white space. */
const around = /["',;\s]/

/**
 * Removes the characters {@link around} a text. It uses no regular expression, which would backtrack at every position
 * and take minutes on a long line of spaces.
 */
const unwrapped = (text: string): string => {
  let from = 0
  let to = text.length
  while (from < to && around.test(text[from]!)) from++
  while (to > from && around.test(text[to - 1]!)) to--
  return text.slice(from, to)
}

/** Parses pasted text. If it has both `X-Service-Signature` and Standard Webhooks headers, the former counts. */
export const read = (text: string): PastedHeader => {
  const headers = new Map<string, string>()
  for (const line of text.split(/\r?\n/)) {
    const [written, ...rest] = line.split(":")
    const name = unwrapped(written!)
    if (rest.length > 0 && /^[A-Za-z][A-Za-z_-]*$/.test(name)) headers.set(nameOf(name), unwrapped(rest.join(":")))
  }
  const ours = headers.get(SIGNATURE_HEADER.toLowerCase())
  if (ours !== undefined) return { _tag: "Service", value: ours }
  const id = headers.get(STANDARD_WEBHOOK_HEADERS.id)
  const timestamp = headers.get(STANDARD_WEBHOOK_HEADERS.timestamp)
  const signature = headers.get(STANDARD_WEBHOOK_HEADERS.signature)
  if (id !== undefined || timestamp !== undefined || signature !== undefined) {
    return { _tag: "Standard", id, timestamp, signature }
  }
  const value = text.trim()
  return /^v1a?,/.test(value)
    ? { _tag: "Standard", id: undefined, timestamp: undefined, signature: value }
    : { _tag: "Service", value }
}
