/**
 * Writes the bodies of uploads to the Cloud API, as streams.
 */
import type { Provider } from "@wac/core"
import { Stream } from "effect"

/** The body of an upload, with its headers. */
export interface FileForm {
  readonly headers: { readonly [name: string]: string }
  /** Reads the file, once. */
  readonly body: () => AsyncIterable<Uint8Array>
}

/** The raw file for a resumable upload, which has its own header for the access token. */
export const ofSample = ({ bytes, media }: Pick<Provider.FileUpload, "bytes" | "media">, token: string): FileForm => ({
  headers: {
    authorization: `OAuth ${token}`,
    file_offset: "0",
    "content-type": media.mimeType,
    "content-length": String(media.size)
  },
  body: () => Stream.toAsyncIterable(bytes)
})

const utf8 = new TextEncoder()

/** The form of a file. Its file name is made here; the name that the recipient sees is part of the message. */
export const of = ({ bytes, media }: Pick<Provider.FileUpload, "bytes" | "media">): FileForm => {
  // the id was made after the file, so the file cannot contain this boundary
  const boundary = `wac-${media.id}`
  const field = (name: string, value: string) =>
    `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const type = media.mimeType
  const head = utf8.encode(
    `${field("messaging_product", "whatsapp")}${field("type", type)}--${boundary}\r\n` +
      `Content-Disposition: form-data; name="file"; filename="${media.id}"\r\nContent-Type: ${type}\r\n\r\n`
  )
  const tail = utf8.encode(`\r\n--${boundary}--\r\n`)
  const form = Stream.concat(Stream.concat(Stream.succeed(head), bytes), Stream.succeed(tail))
  return {
    headers: {
      "content-type": `multipart/form-data; boundary=${boundary}`,
      "content-length": String(head.length + media.size + tail.length)
    },
    body: () => Stream.toAsyncIterable(form)
  }
}
