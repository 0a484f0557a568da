/**
 * Translation into the reader's language. The sources contain the texts in English, and a catalogue maps each to its
 * translation; the reader's catalogue is loaded before the first render. Only the portal is translated.
 */
import { languageOf, type PortalLanguage } from "@wac/core/people/PortalLanguage"
import { createElement, Fragment, type ReactNode } from "react"
import { hostFields } from "../shell/HostFields.ts"

/**
 * The translation of each English text, with no placeholder that the text lacks; a text with a count has one for 1 and
 * one for other counts.
 */
export type Catalogue = { readonly [english: string]: string | readonly [one: string, many: string] }

/** The reader's language: what the host has chosen, where `auto` is the browser's language; otherwise English. */
export const language: PortalLanguage = languageOf(hostFields.get("language"), globalThis.navigator?.languages ?? [])

/** The reader's language and region, for dates and numbers. */
export const locale = { en: "en-GB", es: "es", pt: "pt-BR" }[language]

const catalogues: { readonly [L in PortalLanguage]?: () => Promise<{ readonly texts: Catalogue }> } = {
  es: () => import("../texts/es.ts"),
  pt: () => import("../texts/pt.ts")
}

let catalogue: Catalogue = {}

/** Loads the catalogue of the reader's language. If that fails, the pages are in English. */
export const applyLanguage = async (): Promise<void> => {
  try {
    const module = await catalogues[language]?.()
    if (module === undefined) return
    catalogue = module.texts
    document.documentElement.lang = locale
  } catch {
    // the pages are usable in English too
  }
}

const number = new Intl.NumberFormat(language)

/** A count with separators: `12,401`. */
export const grouped = (count: number): string => number.format(count)

type Values = { readonly [name: string]: string | number }

const filled = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => String(values[name]))

const translated = (english: string): string => {
  const found = catalogue[english]
  return typeof found === "string" ? found : english
}

/**
 * A text in the reader's language, with a value in the place of each `{name}`. `english` must be a literal, so that a
 * test finds all texts. Modules that are loaded before the catalogue must call this when they render, not when they
 * load.
 */
export const t = (english: string, values: Values = {}): string => filled(translated(english), values)

/** The same as {@link t}, but values may be elements. */
export const rich = (english: string, values: { readonly [name: string]: ReactNode }): ReactNode =>
  translated(english).split(/\{(\w+)\}/).map((part, i) =>
    createElement(Fragment, { key: i }, i % 2 === 1 ? values[part] : part)
  )

/**
 * A text about a number of things: `1 event`, `12,401 events`. `one` and `many` must be literals; `{count}` is the
 * number.
 */
export const plural = (count: number, one: string, many: string, values: Values = {}): string => {
  const found = catalogue[many]
  const [ofOne, ofMany] = found === undefined || typeof found === "string" ? [one, many] : found
  return filled(count === 1 ? ofOne : ofMany, { count: grouped(count), ...values })
}
