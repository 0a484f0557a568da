/**
 * A form in `multipart/form-data` that has one file (RFC 7578), read as it arrives: no more of the body is held than a
 * boundary and the headers of a part. The result never depends on how the bytes are divided. Stricter than Effect's
 * reader, which throws on some malformed forms and reads others by how they arrive (`docs/decisions/0069-forms.md`).
 */
import { Errors } from "@wac/core"
import { Effect, Stream } from "effect"

/** The maximum size of a part's headers, in bytes. */
const maxHeaders = 16_384

/** The maximum number of bytes before the first boundary, and after the last one. They are ignored. */
const maxAround = 4096

/** The maximum number of blanks after a boundary. */
const maxPadding = 64

const invalid = (reason: Errors.InvalidBody["reason"], message: string) =>
  new Errors.InvalidBody({ reason, param: "file", message })

const malformed = () => invalid("invalid_field", "the body is not a complete form in multipart/form-data")

const lineBreak = Buffer.from("\r\n")
const headersEnd = Buffer.from("\r\n\r\n")

const token = /^[!#$%&'*+.^_`|~\w-]+$/

/** A parameter and its value, matched at `lastIndex`, where the previous parameter ends. */
const parameter = /;[ \t]*([!#$%&'*+.^_`|~\w-]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"|[!#$%&'*+.^_`|~\w-]+)[ \t]*/y

/** The value of a parameter whose name ends with `*` (RFC 8187). */
const extended = /^(utf-8|iso-8859-1)'[a-z0-9-]*'((?:%[0-9a-f]{2}|[!#$&+.^_`|~\w-])*)$/i

const decoded = (value: string): string | undefined => {
  const [, charset, text] = extended.exec(value) ?? []
  if (charset === undefined || text === undefined) return undefined
  const bytes = Buffer.from(
    text.replaceAll(/%(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    "latin1"
  )
  return bytes.toString(charset.toLowerCase() === "utf-8" ? "utf8" : "latin1")
}

/** The name and filename of a form's part. */
interface Part {
  readonly name: string
  /** `undefined` if the part is a field and not a file. */
  readonly filename: string | undefined
}

/** The parameters of a header's value; `undefined` if it is malformed or a parameter occurs twice. */
const parametersOf = (value: string): ReadonlyMap<string, string> | undefined => {
  const found = new Map<string, string>()
  let at = value.indexOf(";")
  if (at < 0) return found
  while (at < value.length) {
    parameter.lastIndex = at
    const [whole, name, written] = parameter.exec(value) ?? []
    if (whole === undefined || found.has(name!.toLowerCase())) return undefined
    // a backslash stays: browsers write paths of Windows with it
    found.set(name!.toLowerCase(), written!.startsWith("\"") ? written!.slice(1, -1) : written!)
    at += whole.length
  }
  return found
}

/** The headers of a part by their names in lower case; `undefined` if one is malformed or occurs twice. */
const headersOf = (block: string): ReadonlyMap<string, string> | undefined => {
  const headers = new Map<string, string>()
  for (const line of block.split("\r\n")) {
    const at = line.indexOf(":")
    const name = line.slice(0, Math.max(at, 0)).toLowerCase()
    const value = line.slice(at + 1).trim()
    // oxlint-disable-next-line no-control-regex -- these are what a header must not contain
    if (!token.test(name) || headers.has(name) || /[\u0000-\u0008\n-\u001f\u007f]/.test(value)) return undefined
    headers.set(name, value)
  }
  return headers
}

/** A part by its headers; `undefined` if they are malformed. */
const partOf = (block: string): Part | undefined => {
  const headers = headersOf(block)
  const disposition = headers?.get("content-disposition")
  if (headers === undefined || disposition === undefined) return undefined
  const parameters = parametersOf(disposition)
  const name = parameters?.get("name")
  if (!/^form-data[ \t]*(?:;|$)/i.test(disposition) || parameters === undefined || name === undefined) return undefined
  const extension = parameters.get("filename*")
  const filename = extension === undefined ? parameters.get("filename") : decoded(extension)
  if (extension !== undefined && filename === undefined) return undefined
  // some programs send bytes without a name
  const isBytes = /^application\/octet-stream[ \t]*(?:;|$)/i.test(headers.get("content-type") ?? "")
  return { name, filename: filename ?? (isBytes ? name : undefined) }
}

/** Returns a reader of one form, which gets the body piece by piece. */
const reader = (boundary: string) => {
  const delimiter = Buffer.from(`\r\n--${boundary}`, "latin1")
  let state: "before" | "boundary" | "headers" | "content" | "after" = "before"
  // the first boundary has no line break before it
  let held: Buffer = lineBreak
  /** The number of bytes read before the first boundary, or after the last. */
  let around = -lineBreak.length
  /** How many of the next bytes are not part of the content: the line break that ends the headers. */
  let inFront = 0
  let filename: string | undefined

  const skip = (bytes: number): void => {
    around += bytes
    if (around > maxAround) throw malformed()
  }

  const open = (block: Buffer): void => {
    const part = partOf(block.toString("utf8"))
    if (part === undefined) throw malformed()
    if (part.name !== "file") {
      throw new Errors.InvalidBody({
        reason: "unknown_field",
        param: part.name.slice(0, 200),
        message: "the form may only have the field file"
      })
    }
    if (part.filename === undefined || filename !== undefined) {
      throw invalid("invalid_field", "the field file must hold one file with a name")
    }
    filename = part.filename
  }

  /** Whether the rest of a boundary's line has arrived; `held` then begins with its line break. */
  const isBoundaryRead = (): boolean => {
    if (held.length < 2) return false
    if (held.toString("latin1", 0, 2) === "--") {
      state = "after"
      around = 0
      held = held.subarray(2)
      return true
    }
    let end = 0
    while (end < held.length && (held[end] === 0x20 || held[end] === 0x09)) end++
    if (end > maxPadding) throw malformed()
    if (held.length < end + 2) {
      if (end < held.length && held[end] !== 0x0d) throw malformed()
      return false
    }
    if (held[end] !== 0x0d || held[end + 1] !== 0x0a) throw malformed()
    state = "headers"
    held = held.subarray(end)
    return true
  }

  const areHeadersRead = (): boolean => {
    const end = held.indexOf(headersEnd)
    if (end > maxHeaders || (end < 0 && held.length > maxHeaders + headersEnd.length)) throw malformed()
    if (end < 0) return false
    if (held.subarray(0, end).includes(delimiter)) throw malformed()
    open(held.subarray(lineBreak.length, Math.max(end, lineBreak.length)))
    state = "content"
    // if the part has no content, the line break that ends the headers also begins the boundary
    held = held.subarray(end + lineBreak.length)
    inFront = lineBreak.length
    return true
  }

  return {
    filename: () => filename,
    /** Takes a piece of the body and returns the bytes of the file that it completes. Throws if the form is invalid. */
    write: (piece: Uint8Array): Uint8Array => {
      held = held.length === 0
        ? Buffer.from(piece.buffer, piece.byteOffset, piece.length)
        : Buffer.concat([held, piece])
      let content: Uint8Array = held.subarray(0, 0)
      for (;;) {
        switch (state) {
          case "before":
          case "content": {
            const found = held.indexOf(delimiter)
            // bytes that may begin a boundary are held until the next piece
            const end = found < 0 ? Math.max(0, held.length - delimiter.length + 1) : found
            if (state === "before") skip(end)
            else {
              const dropped = Math.min(inFront, end)
              inFront -= dropped
              content = held.subarray(dropped, end)
            }
            held = held.subarray(found < 0 ? end : end + delimiter.length)
            if (found < 0) return content
            state = "boundary"
            break
          }
          case "boundary":
            if (!isBoundaryRead()) return content
            break
          case "headers":
            if (!areHeadersRead()) return content
            break
          case "after":
            skip(held.length)
            held = held.subarray(held.length)
            return content
        }
      }
    },
    /** Returns the error if the body ends here although the form is incomplete; `undefined` if it is complete. */
    end: (): Errors.InvalidBody | undefined =>
      state !== "after"
        ? malformed()
        : filename === undefined
        ? invalid("missing_field", "file is required")
        : undefined
  }
}

/** The file of a form. The stream of its bytes ends once the whole form has arrived, and fails if it is invalid. */
export interface FormFile {
  readonly bytes: Stream.Stream<Uint8Array, Errors.InvalidBody>
  /** The file's name, once its bytes have arrived. */
  readonly filename: () => string | undefined
}

/** The file of a form that arrives as this body, with this boundary. */
export const of = (body: Stream.Stream<Uint8Array, Errors.InvalidBody>, boundary: string): FormFile => {
  const { end, filename, write } = reader(boundary)
  const read = (piece: Uint8Array): Effect.Effect<Uint8Array, Errors.InvalidBody> =>
    Effect.suspend(() => {
      try {
        return Effect.succeed(write(piece))
      } catch (error) {
        if (error instanceof Errors.InvalidBody) return Effect.fail(error)
        throw error
      }
    })
  return {
    bytes: body.pipe(
      Stream.mapEffect(read),
      Stream.filter(({ length }) => length > 0),
      Stream.concat(Stream.suspend(() => {
        const refusal = end()
        return refusal === undefined ? Stream.empty : Stream.fail(refusal)
      }))
    ),
    filename
  }
}
