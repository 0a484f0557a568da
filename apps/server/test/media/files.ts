/** Small files of known types, and uploads of them. */
import { Effect } from "effect"
import type { Answer } from "../harness.ts"

/** One white pixel. */
export const png: Uint8Array = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=",
  "base64"
)

export const gif: Uint8Array = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")

export const jpeg: Uint8Array = Buffer.from(
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB" +
    "AQEBAQH/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==",
  "base64"
)

/** A file to upload. */
export interface Uploaded {
  readonly bytes: Uint8Array
  readonly filename: string
  /** What the caller says that it is. */
  readonly type?: string
}

/** The form of a file, as browsers write it. */
export const form = ({ bytes, filename, type = "application/octet-stream" }: Uploaded, boundary = "----wac") => ({
  type: `multipart/form-data; boundary=${boundary}`,
  body: Buffer.concat([
    Buffer.from(
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${
        filename.replaceAll("\"", "%22")
      }"\r\n` +
        `Content-Type: ${type}\r\n\r\n`
    ),
    bytes,
    Buffer.from(`\r\n--${boundary}--\r\n`)
  ])
})

/** Uploads a file, or a form as it is; a fresh idempotency key unless one is given. */
export const upload = (
  { authorization, url }: { readonly url: string; readonly authorization: string },
  options:
    & ({ readonly form: ReturnType<typeof form> } | Uploaded)
    & { readonly headers?: { readonly [name: string]: string } }
): Effect.Effect<Answer> =>
  Effect.promise(async () => {
    const { body, type } = "form" in options ? options.form : form(options)
    const response = await fetch(`${url}/v1/media`, {
      method: "POST",
      headers: {
        authorization,
        "content-type": type,
        "idempotency-key": crypto.randomUUID(),
        ...options.headers
      },
      body
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
  })
