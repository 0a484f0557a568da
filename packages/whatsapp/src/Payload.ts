/**
 * Functions that read Meta's JSON leniently: a field of the wrong type counts as missing, an unknown field is ignored,
 * and nothing fails. So one bad item never affects the others of its post.
 */
import { PlainJson, PlainText, type Time } from "@wac/core"
import { Predicate, type Schema } from "effect"

export type Json = Schema.Json

/** Longer identifiers and names count as missing: Meta's are shorter, and indexes of storages limit the length. */
const maxWord = 512

/** The last millisecond of the year 9999: later years have more digits. */
const latest = 253_402_300_799_999

/** Sets a field, even one with the name of an inherited setter such as `__proto__`. */
const set = (fields: object, name: string, value: unknown): void =>
  void Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true })

/**
 * Makes parsed JSON storable by every storage: without characters that cannot be stored, and without values deeper than
 * `depth`. Changes it in place, because a copy of a large post would take several times as long.
 */
const storable = (json: unknown, depth: number): Json => {
  if (Predicate.isString(json)) return PlainText.issueOf(json) === undefined ? json : PlainText.cleaned(json)
  // a number such as 1e999 is parsed as infinite, which JSON cannot hold
  if (Predicate.isNumber(json)) return Number.isFinite(json) ? json : null
  if (Predicate.isBoolean(json)) return json
  if (!Predicate.isObjectOrArray(json) || depth === 0) return null
  if (Array.isArray(json)) {
    for (let i = 0; i < json.length; i++) json[i] = storable(json[i], depth - 1)
    return json as ReadonlyArray<Json>
  }
  const given = json as { readonly [name: string]: unknown }
  const names = Object.keys(given)
  const areClean = names.every((name) => PlainText.issueOf(name) === undefined)
  const fields = areClean ? given : {}
  for (const name of names) {
    const value = storable(given[name], depth - 1)
    if (!areClean || value !== given[name]) set(fields, PlainText.cleaned(name), value)
  }
  return fields as Fields
}

/** Parses JSON without changing it; undefined if the text is not JSON. */
export const parseGiven = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Makes parsed JSON storable by every storage. Changes it in place. */
export const clean = (json: unknown): Json => storable(json, PlainJson.maxDepth)

/** Parses JSON and makes it storable by every storage; undefined if the text is not JSON. */
export const parse = (text: string): Json | undefined => {
  const json = parseGiven(text)
  return json === undefined ? undefined : clean(json)
}

/** An object's fields. */
export type Fields = { readonly [name: string]: Json }

/** Reads a field; `json` is undefined if the field is missing. */
export type Read<A> = (json: Json | undefined) => A

/** The fields of an object; undefined for anything else. */
export const fields: Read<Fields | undefined> = (json) => Predicate.isObject(json) ? json as Fields : undefined

/** The elements of an array; none for anything else. */
export const list: Read<ReadonlyArray<Json>> = (json) => Array.isArray(json) ? json : []

/** An identifier or a name: text that is not blank, or a whole number, of at most {@link maxWord} characters. */
export const word: Read<string | undefined> = (json) => {
  const text = Predicate.isString(json) ? json.trim() : Number.isSafeInteger(json) ? String(json) : ""
  return text === "" || text.length > maxWord ? undefined : text
}

/** Text as it is. */
export const text: Read<string | undefined> = (json) => Predicate.isString(json) ? json : undefined

/** A number, or one that is written as text. */
export const number: Read<number | undefined> = (json) => {
  const value = Predicate.isString(json) && /^-?\d{1,16}(\.\d{1,16})?$/.test(json.trim()) ? Number(json) : json
  return Predicate.isNumber(value) ? value : undefined
}

/** True or false, or one of them as text. */
export const flag: Read<boolean | undefined> = (json) => {
  const word = Predicate.isString(json) ? json.trim().toLowerCase() : json
  return word === true || word === "true" ? true : word === false || word === "false" ? false : undefined
}

/** A time in seconds since the epoch, or in milliseconds if it is large: 1e11 seconds are three thousand years. */
export const instant: Read<Time.Instant | undefined> = (json) => {
  const value = number(json)
  if (value === undefined || value <= 0) return undefined
  const millis = Math.round(value > 1e11 ? value : value * 1000)
  return millis <= latest ? millis : undefined
}

/** Makes a reader of objects from a reader for each field. Anything else is read as an object without fields. */
export const shape = <R extends { readonly [name: string]: Read<unknown> }>(
  reads: R
): Read<{ readonly [N in keyof R]: ReturnType<R[N]> }> => {
  const all = Object.entries(reads)
  return (json) => {
    const given = fields(json) ?? {}
    const found: { [name: string]: unknown } = {}
    for (const [name, read] of all) found[name] = read(Object.hasOwn(given, name) ? given[name] : undefined)
    return found as { readonly [N in keyof R]: ReturnType<R[N]> }
  }
}

/** The fields with these names that an object has, unchanged; none if `json` is no object. */
export const pick = (json: Json | undefined, names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(
    Object.entries(fields(json) ?? {}).filter(([name, value]) => value !== null && names.includes(name))
  )
