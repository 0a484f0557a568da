/**
 * A file as a form for the Cloud API, streamed.
 */
import type { Provider } from "@wac/core"
import { Stream } from "effect"

/** The body to post. */
export interface FileForm {
  readonly headers: { readonly [name: string]: string }
  /** Reads the file, once. */
  readonly body: () => AsyncIterable<Uint8Array>
}

/** A file as it is, in one part of a resumable upload, which has a scheme of its own for the access token. */
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

/** The form of a file. Its name is ours: the recipient's is part of the message. */
export const of = ({ bytes, media }: Pick<Provider.FileUpload, "bytes" | "media">): FileForm => {
  // the file was there before its id was made, so it cannot contain it
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
