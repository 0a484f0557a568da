/**
 * The headers of a delivery as people copy them out of a log: a bare value, or lines of names and values.
 */
import { SIGNATURE_HEADER, STANDARD_WEBHOOK_HEADERS } from "@wac/verifier"

export type PastedHeader =
  /** The value of `X-Service-Signature`; empty when there is none. */
  | { readonly _tag: "Service"; readonly value: string }
  /** Those of Standard Webhooks that are there. */
  | {
    readonly _tag: "Standard"
    readonly id: string | undefined
    readonly timestamp: string | undefined
    readonly signature: string | undefined
  }

/** One name for the many ways to write it: `Webhook-Id`, `HTTP_WEBHOOK_ID`. */
const nameOf = (written: string): string => written.toLowerCase().replaceAll("_", "-").replace(/^http-/, "")

const line = /^[\s"']*([A-Za-z][A-Za-z_-]*)["']?\s*:\s*["']?(.*?)["',;\s]*$/

/** Reads what was pasted. Where both families are there, ours counts. */
export const read = (text: string): PastedHeader => {
  const headers = new Map<string, string>()
  for (const each of text.split(/\r?\n/)) {
    const [, name, value] = line.exec(each) ?? []
    if (name !== undefined && value !== undefined) headers.set(nameOf(name), value)
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
