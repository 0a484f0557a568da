/**
 * Reads an error in Meta's format: from `error` of a response, or from `errors` of a post to our webhook.
 *
 * It reads leniently: over the years, numbers came as strings, `error_data` as a string or an object, and the words
 * under `message`, `title` or `details`.
 */
import { Predicate } from "effect"

export interface GraphError {
  readonly code: number
  readonly subcode: number | undefined
  /** Whether Meta says that a later call may succeed. */
  readonly isTransient: boolean
  /** Meta's words, cleaned by {@link wordsOf}. */
  readonly message: string
}

/** How many characters of Meta's words are kept: its own sentences are shorter. */
const maxLength = 300

/** Shorter hidden texts are not removed: they would occur in any sentence. */
const minHidden = 4

const field = (u: unknown, name: string): unknown => Predicate.hasProperty(u, name) ? u[name] : undefined

const integer = (u: unknown): number | undefined => {
  const value = Predicate.isString(u) && /^-?\d{1,15}$/.test(u.trim()) ? Number(u) : u
  return Predicate.isNumber(value) && Number.isSafeInteger(value) ? value : undefined
}

const text = (...candidates: ReadonlyArray<unknown>): string | undefined =>
  candidates.find((u): u is string => Predicate.isString(u) && u.trim() !== "")?.trim()

/**
 * Cleans Meta's words so that they may be stored and shown: one line, of limited length, without access tokens,
 * telephone numbers and the texts `hidden`.
 */
export const wordsOf = (words: string, hidden: ReadonlyArray<string> = []): string => {
  const open = hidden
    .filter((text) => text.length >= minHidden)
    .sort((a, b) => b.length - a.length)
    .reduce((words, text) => words.replaceAll(text, "…"), words)
  const line = open
    .toWellFormed()
    // a token or an id: long, without a space, and with a digit
    .replace(/[A-Za-z0-9_+/=|.-]{24,}/g, (run) => /\d/.test(run) ? "…" : run)
    .replace(/\+\d[\d\s().-]{5,}\d|\d{7,}/g, "…")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
  const characters = [...line]
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join("")}…`
}

/**
 * Reads an error; undefined if it has no code. `hidden` are texts that must not be shown, such as the texts of the
 * message.
 */
export const read = (error: unknown, hidden: ReadonlyArray<string> = []): GraphError | undefined => {
  const code = integer(field(error, "code"))
  if (code === undefined) return undefined
  const data = field(error, "error_data")
  const title = text(field(error, "message"), field(error, "title"), field(error, "error_user_title"))
    ?.replace(/^\(#\d+\)\s*/, "")
  const details = text(field(data, "details"), data, field(error, "details"), field(error, "error_user_msg"))
  const words = [title, details].filter((words, i, all) => words !== undefined && all.indexOf(words) === i)
  const message = wordsOf(words.join(": ").replace(/\.: /, ": "), hidden)
  const isTransient = field(error, "is_transient") === true
  return { code, subcode: integer(field(error, "error_subcode")), isTransient, message }
}
