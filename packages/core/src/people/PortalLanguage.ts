/**
 * The languages of the portal (contract §12). A link names one behind `#`, where a visitor can change it, so only these
 * values are accepted there. The service and the portal's pages share this file, so it imports nothing. Pure.
 */

/** The languages that the portal's texts are in, by BCP 47. */
export const languages = ["en", "es", "pt"] as const

/** One of {@link languages}. */
export type PortalLanguage = (typeof languages)[number]

/** A language, or `auto`: the first of the visitor's own languages that the portal has. */
export const choices = ["auto", ...languages] as const

/** One of {@link choices}. */
export type LanguageChoice = (typeof choices)[number]

/** The language if a link names none, or if the portal has none of the visitor's languages. */
const fallback: PortalLanguage = "en"

const named = (tag: string | null | undefined): PortalLanguage | undefined =>
  languages.find((language) => tag?.toLowerCase().split("-", 1)[0] === language)

/** The language for a choice in a link. `preferred` lists the visitor's languages, most preferred first. */
export const languageOf = (choice: string | null, preferred: ReadonlyArray<string>): PortalLanguage =>
  choice === "auto"
    ? preferred.map(named).find((language) => language !== undefined) ?? fallback
    : languages.find((language) => language === choice) ?? fallback
