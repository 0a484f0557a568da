/** Joins bytes, and texts in UTF-8, in this order. */
export const joined = async (
  parts: ReadonlyArray<string | Uint8Array>
): Promise<Uint8Array<ArrayBuffer>> => new Uint8Array(await new Blob(parts as Array<BlobPart>).arrayBuffer())
