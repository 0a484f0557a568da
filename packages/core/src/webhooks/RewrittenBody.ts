/**
 * Lists candidates for the body that was signed, given the body that a receiver got. The two differ if the receiver's
 * framework rewrote the body before it verified it, or if a rewritten body was signed. Pure.
 */
import { Option, Result, Schema } from "effect"
import { isDeeper } from "../PlainJson.ts"

/** A candidate for the signed body, and the explanation if it is the one. */
export interface RewrittenBody {
  readonly text: string
  readonly reason: string
  readonly message: string
}

/** Our events nest four deep. Deeper input is not an event, and could exhaust the stack or the memory. */
const maxDepth = 32

const utf8 = new TextEncoder()

const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Json))

const parse = (text: string): Option.Option<Schema.Json> =>
  isDeeper(utf8.encode(text), maxDepth) ? Option.none() : decode(text)

const rawBytes = "verify the bytes as they arrived, before anything parses them"

/** Serializes like Python's `json.dumps` with its defaults. */
const likePython = (value: Schema.Json): string => {
  if (Array.isArray(value)) return `[${value.map(likePython).join(", ")}]`
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value).map(([key, each]) => `${likePython(key)}: ${likePython(each)}`).join(", ")}}`
  }
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
}

/** Reverses reading UTF-8 as Latin-1, if the text allows that. */
const fromLatin1 = (text: string): Option.Option<string> => {
  if (!/[\u0080-\u00ff]/.test(text) || /[\u0100-\uffff]/.test(text)) return Option.none()
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0))
  return Result.getSuccess(
    Result.try(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes))
  )
}

/** Candidates for the body that was signed, most likely first. None equals `body`, and none occurs twice. */
export const candidates = (body: string): ReadonlyArray<RewrittenBody> => {
  const found = new Map<string, RewrittenBody>()
  const add = (text: string, reason: string, message: string) => {
    // limits the cost if white space was added to every line
    if (text.length > 4 * body.length + 1024) return
    if (text !== body && !found.has(text)) found.set(text, { text, reason, message })
  }
  add(
    body.replace(/^\uFEFF/, "").trim(),
    "body_padded",
    `the body has white space, a line end or a byte order mark around it that was not sent; ${rawBytes}`
  )
  const latin1 = fromLatin1(body)
  if (Option.isSome(latin1)) {
    add(latin1.value, "body_misread", `the body was read as Latin-1 instead of UTF-8; ${rawBytes}`)
  }
  const parsed = Option.getOrUndefined(parse(body.replace(/^\uFEFF/, "")))
  if (parsed !== undefined) {
    if (typeof parsed === "string") {
      add(parsed, "body_encoded_twice", `the body is a JSON text inside a JSON string; ${rawBytes}`)
    }
    const rewritten = `the body was parsed and serialized again, with different white space or escapes; ${rawBytes}`
    add(JSON.stringify(parsed), "body_rewritten", rewritten)
    const overRewritten = `the signature was made over a body that was parsed and serialized again; ${rawBytes}`
    add(JSON.stringify(parsed, null, 2), "signed_rewritten_body", overRewritten)
    add(likePython(parsed), "signed_rewritten_body", overRewritten)
  }
  add(
    `${body}\n`,
    "signed_line_end",
    "the signature was made over the body and a line end after it, which echo adds; sign exactly the body"
  )
  return [...found.values()]
}
