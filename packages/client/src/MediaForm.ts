/**
 * A file as a form, in bytes: the same for every attempt, and for the signature.
 */

import { joined } from "./Bytes.ts"

/** As browsers write names in forms: what would end the name is encoded. */
const written = (name: string): string => name.replace(/\r\n|\r|\n/g, "%0D%0A").replaceAll("\"", "%22")

/** The form with one field `file`, whose bytes come in pieces. */
export const formOf = async (
  pieces: ReadonlyArray<Uint8Array>,
  filename: string
): Promise<{ readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }> => {
  const boundary = `wac-${crypto.randomUUID()}`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: await joined([
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${written(filename)}"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\n",
      ...pieces,
      `\r\n--${boundary}--\r\n`
    ])
  }
}
