/**
 * Writes the form of a file upload as bytes, so that every attempt and the signature use the same bytes.
 */

import { joined } from "./Bytes.ts"

/** Encodes a file's name as browsers do: line breaks and quotes would end it. */
const encoded = (name: string): string => name.replace(/\r\n|\r|\n/g, "%0D%0A").replaceAll("\"", "%22")

/** The form with one field `file`, whose bytes come in pieces. */
export const formOf = async (
  pieces: ReadonlyArray<Uint8Array>,
  filename: string
): Promise<{ readonly type: string; readonly bytes: Uint8Array<ArrayBuffer> }> => {
  const boundary = `wac-${crypto.randomUUID()}`
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: await joined([
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="${encoded(filename)}"\r\n` +
      "Content-Type: application/octet-stream\r\n\r\n",
      ...pieces,
      `\r\n--${boundary}--\r\n`
    ])
  }
}
