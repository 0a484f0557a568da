/**
 * An error as Meta writes it: under `error` of an answer, or in `errors` of what is posted to our webhook.
 *
 * Read leniently: over the years numbers came as strings, `error_data` as a string or an object, the words under
 * `message`, `title` or `details`.
 */
import { Predicate } from "effect"

export interface GraphError {
  readonly code: number
  readonly subcode: number | undefined
  /** Whether Meta says that a later call may be taken. */
  readonly isTransient: boolean
  /** Meta's words, as {@link wordsOf} lets them through. */
  readonly message: string
}

/** So many characters of Meta's words are kept: its own sentences are shorter. */
const maxLength = 300

/** Shorter texts are not looked for in Meta's words: they would be found in any sentence. */
const minHidden = 4

const field = (u: unknown, name: string): unknown => Predicate.hasProperty(u, name) ? u[name] : undefined

const integer = (u: unknown): number | undefined => {
  const value = Predicate.isString(u) && /^-?\d{1,15}$/.test(u.trim()) ? Number(u) : u
  return Predicate.isNumber(value) && Number.isSafeInteger(value) ? value : undefined
}

const text = (...candidates: ReadonlyArray<unknown>): string | undefined =>
  candidates.find((u): u is string => Predicate.isString(u) && u.trim() !== "")?.trim()

/**
 * Words of Meta's that may be stored and shown: one line, bounded, and without what may stand in them that is not
 * Meta's to tell: access tokens, telephone numbers, and the texts `hidden`.
 */
export const wordsOf = (words: string, hidden: ReadonlyArray<string> = []): string => {
  const open = hidden
    .filter((text) => text.length >= minHidden)
    .sort((a, b) => b.length - a.length)
    .reduce((words, text) => words.replaceAll(text, "…"), words)
  const line = open
    .toWellFormed()
    // a token, or an id that is nobody's business: long, without a space, and with a digit in it
    .replace(/[A-Za-z0-9_+/=|.-]{24,}/g, (run) => /\d/.test(run) ? "…" : run)
    .replace(/\+\d[\d\s().-]{5,}\d|\d{7,}/g, "…")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim()
  const characters = [...line]
  return characters.length <= maxLength ? line : `${characters.slice(0, maxLength - 1).join("")}…`
}

/**
 * Reads an error; undefined when there is no code in it. Texts that must not be shown again, such as what the message
 * said, are given as `hidden`.
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
