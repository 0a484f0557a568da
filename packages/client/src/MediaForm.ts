/**
 * A file as a form, in bytes: the same for every attempt, and for the signature.
 */

const utf8 = new TextEncoder()

/** As browsers write names in forms: what would end the name is encoded. */
const written = (name: string): string => name.replace(/\r\n|\r|\n/g, "%0D%0A").replaceAll("\"", "%22")

/** The form with one field `file`. */
export const formOf = (
  { bytes, filename }: { readonly bytes: Uint8Array; readonly filename: string }
): { readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> } => {
  const boundary = `wac-${crypto.randomUUID()}`
  const head = utf8.encode(
    `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${written(filename)}"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\n"
  )
  const end = utf8.encode(`\r\n--${boundary}--\r\n`)
  const form = new Uint8Array(head.length + bytes.length + end.length)
  form.set(head)
  form.set(bytes, head.length)
  form.set(end, head.length + bytes.length)
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: form }
}
