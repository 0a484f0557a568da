/**
 * The words by which a customer opts out or in (contract §13). A word counts only if it is the whole message or the
 * whole text of the pressed button. Pure.
 */
import { InvalidBody } from "../Errors.ts"
import type { Preference } from "./Contact.ts"
import { defaultWords, type OfLanguage } from "./DefaultWords.ts"

/** The maximum number of words in each list of a workspace. */
export const maxWords = 200

/** The maximum length of a word, in characters. */
export const maxLength = 60

/** A workspace's changes to the default words. */
export interface Settings {
  /** Words that opt out, typed or on a button, besides the defaults. */
  readonly stopWords: ReadonlyArray<string>
  /** Words that opt in, besides the defaults. */
  readonly startWords: ReadonlyArray<string>
  /** Default words that do not count. */
  readonly removed: ReadonlyArray<string>
}

/** The settings of a workspace that has changed nothing. */
export const noSettings: Settings = { stopWords: [], startWords: [], removed: [] }

/** The characters around a word: space, punctuation, symbols with their variants, and invisible characters. */
const around = "[\\p{Z}\\p{P}\\p{S}\\p{C}\\uFE0E\\uFE0F\\u20E3]"
// the lookbehind keeps the time linear: without it, a match could begin anywhere in a row of such characters
const surroundings = new RegExp(`^${around}+|(?<!${around})${around}+$`, "gu")

/**
 * The form in which words are compared: NFKC, without case, and without surrounding space, punctuation and symbols.
 * Empty if nothing is left.
 */
export const fold = (text: string): string =>
  text.normalize("NFKC")
    // upper case first, as it joins what lower case keeps apart: ß and ss, ı and i, both forms of the Greek sigma
    .toUpperCase().toLowerCase().replaceAll("i̇", "i")
    .normalize("NFKC").replace(surroundings, "").replace(/\s+/gu, " ")

const languages: ReadonlyArray<readonly [language: string, words: OfLanguage]> = Object.entries(defaultWords)

const folded = (list: (words: OfLanguage) => ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(languages.flatMap(([, words]) => list(words).map(fold)))

const stops = folded(({ stop }) => stop)
const typed = folded(({ typed = [] }) => typed)
const starts = folded(({ start }) => start)

/** The defaults, by language. */
export const defaults = languages.map(([language, { start, stop, typed = [] }]) => ({
  language,
  stopWords: [...stop, ...typed],
  startWords: start
}))

/**
 * The maximum length of a text that is compared with the words. A longer text is not folded and expresses no choice.
 */
const longest = 4 * maxLength

/**
 * The choice that a text expresses, if the text was typed or is on a pressed button. Words such as *cancel* do not
 * count on a button, where they refer to an order or an appointment. `undefined` if the text is none of the workspace's
 * words.
 */
export const preferenceOf = (settings: Settings, text: string, on: "typed" | "button"): Preference | undefined => {
  if (text.length > longest) return undefined
  const word = fold(text)
  if (word === "") return undefined
  const has = (words: ReadonlyArray<string>) => words.some((one) => fold(one) === word)
  if (has(settings.stopWords)) return "opt_out"
  if (has(settings.startWords)) return "opt_in"
  if (has(settings.removed)) return undefined
  return stops.has(word) || on === "typed" && typed.has(word) ? "opt_out" : starts.has(word) ? "opt_in" : undefined
}

const lists = ["stopWords", "startWords", "removed"] as const

/** The error for invalid settings; `undefined` if they are valid. */
export const refusal = (settings: Settings): InvalidBody | undefined => {
  const invalid = (param: string, message: string) => new InvalidBody({ reason: "invalid_field", param, message })
  const empty = lists.flatMap((list) => settings[list].map((word, i) => [`${list}[${i}]`, word] as const))
    .find(([, word]) => fold(word) === "")
  if (empty !== undefined) return invalid(empty[0], "a word needs a letter or a digit")
  const stopping = new Set(settings.stopWords.map(fold))
  const both = settings.startWords.findIndex((word) => stopping.has(fold(word)))
  return both < 0 ? undefined : invalid(`startWords[${both}]`, "a word cannot opt out and in")
}
