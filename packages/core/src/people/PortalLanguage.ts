/**
 * The language of the portal (contract §12). A link names it behind `#`, where a visitor can change it: whatever reads
 * it there takes one of these alone. The same for the service and its pages, so it imports nothing. Pure.
 */

/** The languages that the portal's texts are in, by BCP 47. */
export const languages = ["en", "es", "pt"] as const

export type PortalLanguage = (typeof languages)[number]

/** A language, or `auto`: the first of the visitor's own languages that the portal has. */
export const choices = ["auto", ...languages] as const

export type LanguageChoice = (typeof choices)[number]

/** The language without a choice, and for visitors who have none of them. */
const fallback: PortalLanguage = "en"

const named = (tag: string | null | undefined): PortalLanguage | undefined =>
  languages.find((language) => tag?.toLowerCase().split("-", 1)[0] === language)

/** The language that a text names, if it is a choice. `preferred` are the visitor's languages, most preferred first. */
export const languageOf = (choice: string | null, preferred: ReadonlyArray<string>): PortalLanguage =>
  choice === "auto"
    ? preferred.map(named).find((language) => language !== undefined) ?? fallback
    : languages.find((language) => language === choice) ?? fallback
