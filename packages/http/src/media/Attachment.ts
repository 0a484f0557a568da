/**
 * The header `Content-Disposition` of a download (RFC 6266): a browser saves the file and never shows it. Pure.
 */

/** A name, percent-encoded for the value of a parameter (RFC 8187). */
const encoded = (name: string): string =>
  encodeURIComponent(name).replace(/['()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`)

/** The header for a file with this name. Names that ASCII cannot express get a second form. */
export const dispositionOf = (filename: string | null): string => {
  if (filename === null) return "attachment"
  const plain = filename.replace(/[^ -~]/gu, "_").replace(/["\\%]/g, "_")
  return plain === filename
    ? `attachment; filename="${plain}"`
    : `attachment; filename="${plain}"; filename*=UTF-8''${encoded(filename)}`
}
