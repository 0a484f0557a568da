/**
 * The reader's language. Texts stand in English in the sources, and are the names of their translations in a catalogue,
 * which is loaded by its language before anything is drawn. Only the portal has other languages than English.
 */
import { languageOf, type PortalLanguage } from "@wac/core/people/PortalLanguage"
import { createElement, Fragment, type ReactNode } from "react"
import { hostFields } from "../shell/HostFields.ts"

/** The translation of each text, with the same placeholders or fewer; two of a text that has a number: of 1 and of others. */
export type Catalogue = { readonly [english: string]: string | readonly [one: string, many: string] }

/** Without a document there is no reader, but a test. */
export const language: PortalLanguage = languageOf(hostFields.get("language"), globalThis.navigator?.languages ?? [])

/** The reader's language and region, for dates and numbers. */
export const locale = { en: "en-GB", es: "es", pt: "pt-BR" }[language]

const catalogues: { readonly [L in PortalLanguage]?: () => Promise<{ readonly texts: Catalogue }> } = {
  es: () => import("../texts/es.ts"),
  pt: () => import("../texts/pt.ts")
}

let catalogue: Catalogue = {}

/** Has the pages speak the reader's language. If its texts cannot be loaded, the pages are in English. */
export const applyLanguage = async (): Promise<void> => {
  try {
    const module = await catalogues[language]?.()
    if (module === undefined) return
    catalogue = module.texts
    document.documentElement.lang = locale
  } catch {
    // the pages are of use in English too
  }
}

const number = new Intl.NumberFormat(language)

/** `12,401`. */
export const grouped = (count: number): string => number.format(count)

type Values = { readonly [name: string]: string | number }

const filled = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))

const translated = (english: string): string => {
  const found = catalogue[english]
  return typeof found === "string" ? found : english
}

/**
 * A text in the reader's language; `{name}` in it stands for a value. `english` is a literal, so that a program finds
 * all texts. What is loaded before the catalogue calls this when it draws, not when it is loaded.
 */
export const t = (english: string, values: Values = {}): string => filled(translated(english), values)

/** The same with elements among its values. */
export const rich = (english: string, values: { readonly [name: string]: ReactNode }): ReactNode =>
  translated(english).split(/\{(\w+)\}/).map((part, i) =>
    createElement(Fragment, { key: i }, i % 2 === 1 ? values[part] : part)
  )

/** A text about a number of things, `{count}`: `1 event`, `12,401 events`. Both are literals. */
export const plural = (count: number, one: string, many: string, values: Values = {}): string => {
  const found = catalogue[many]
  const [ofOne, ofMany] = found === undefined || typeof found === "string" ? [one, many] : found
  return filled(count === 1 ? ofOne : ofMany, { count: grouped(count), ...values })
}
