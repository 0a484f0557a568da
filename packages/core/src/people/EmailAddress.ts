/**
 * E-mail addresses: the form in which they are compared, and the rule that refuses an address that looks like another
 * one. Pure.
 */
import { Schema } from "effect"
import * as PlainText from "../PlainText.ts"

/**
 * The form in which addresses are stored and compared: without surrounding white space, in lower case and in Unicode's
 * compatibility form (NFKC), so that one address has one form however it is typed. Pure.
 */
export const normalize = (email: string): string => email.trim().normalize("NFKC").toLowerCase().normalize("NFKC")

/** Latin letters that are not an ASCII letter with an accent, and that do not look like one. */
const ownLatin = /[ßæœøđłþð]/gu

/** Matches text whose letters all belong to these scripts, which one language writes side by side. */
const together = (...scripts: ReadonlyArray<string>): RegExp =>
  new RegExp(`^(?:${scripts.map((script) => `\\p{Script_Extensions=${script}}`).join("|")})+$`, "u")

/** Scripts whose letters do not look like ASCII letters, so that an address may mix them with Latin. */
const besideLatin = [together("Han", "Hiragana", "Katakana", "Bopomofo"), together("Han", "Hangul")]

/** Scripts of which an address may only use one, so that no letter can be replaced by its double in another script. */
const alone = [
  ...besideLatin,
  together("Cyrillic"),
  together("Greek"),
  together("Armenian"),
  together("Georgian"),
  together("Hebrew"),
  together("Arabic"),
  together("Ethiopic"),
  together("Devanagari"),
  together("Bengali"),
  together("Tamil"),
  together("Telugu"),
  together("Thai")
]

/**
 * Whether the text has doubles of other characters, such as full-width letters, which Unicode normalization replaces.
 */
const isDoubled = (text: string): boolean => {
  const composed = text.normalize("NFC")
  return composed !== text.normalize("NFKC") || (text !== composed && text !== composed.normalize("NFD"))
}

/** Whether something in the text, which is normalized and decomposed, can be taken for an ASCII character. */
const isOdd = (text: string): boolean =>
  // a letter with a dot of its own looks the same with a second one
  /\p{Soft_Dotted}\p{M}*\u0307/u.test(text) ||
  // a mark on anything but a letter, a digit of another script, a symbol
  /[^\p{L}\p{M}]\p{M}/u.test(text) || /[^!-~\p{L}\p{M}]/u.test(text)

/**
 * Why an address is refused because a reader could take it for another address. `undefined` if it has only visible
 * characters, none of them the double of another (a full-width letter, the Kelvin sign), and letters of one script, or
 * of scripts that do not look alike. Pure.
 */
export const issueOf = (email: string): string | undefined => {
  const text = email.trim()
  const decomposed = normalize(text).normalize("NFD")
  if (isDoubled(text) || /[\p{Default_Ignorable_Code_Point}\p{C}\p{Z}]/u.test(text) || isOdd(decomposed)) {
    return "must not contain invisible characters, or characters that look like others"
  }
  const letters = decomposed.replaceAll(/[^\p{L}]/gu, "")
  const others = letters.replaceAll(/[a-z]/gu, "").replaceAll(ownLatin, "")
  return others === "" || alone.some((script) => script.test(letters)) ||
      besideLatin.some((script) => script.test(others))
    ? undefined
    : "must not mix letters of scripts that look alike"
}

/** A well-formed e-mail address that looks like no other. Addresses that are only compared need no rule. */
export const EmailAddress = PlainText.between(3, 254).check(
  Schema.isPattern(/^[^\s@]+@[^\s@]+$/u, { message: "must be an e-mail address" }),
  Schema.makeFilter((email: string) => issueOf(email) ?? true, { toJsonSchema: () => ({}) })
)
