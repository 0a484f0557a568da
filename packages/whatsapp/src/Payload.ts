/**
 * Meta's posts, read leniently: a field that is not of its kind is as if it were not there, a field that we do not
 * know is passed over, and nothing fails. So one bad item never costs its neighbours.
 */
import { PlainJson, PlainText, type Time } from "@wac/core"
import { Predicate, type Schema } from "effect"

export type Json = Schema.Json

/** Identifiers and names longer than this are none: Meta's are shorter, and no index of a storage holds any length. */
const maxWord = 512

/** The last millisecond of the year 9999: later times cannot be written as others are. */
const latest = 253_402_300_799_999

/** Sets a field, even one that has the name of a setter of every object. */
const set = (fields: object, name: string, value: unknown): void =>
  void Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true })

/**
 * Makes parsed JSON such as every storage can hold, and no deeper: what lies deeper is left out. Changes it in place,
 * since a copy of a large post would take several times as long.
 */
const storable = (json: unknown, depth: number): Json => {
  if (Predicate.isString(json)) return PlainText.issueOf(json) === undefined ? json : PlainText.cleaned(json)
  // a number such as 1e999 is read as infinite, and cannot be written again
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

/** The JSON in this text as it is; undefined when it is none. */
export const parseGiven = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The same in a form that every storage can hold, by changing it. */
export const clean = (json: unknown): Json => storable(json, PlainJson.maxDepth)

/** The JSON in this text, in a form that every storage can hold; undefined when it is none. */
export const parse = (text: string): Json | undefined => {
  const json = parseGiven(text)
  return json === undefined ? undefined : clean(json)
}

/** An object's fields. */
export type Fields = { readonly [name: string]: Json }

/** How a field is read; undefined is one that is missing. */
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

/** A time in seconds since the epoch, or in milliseconds: as seconds, 1e11 is three thousand years away. */
export const instant: Read<Time.Instant | undefined> = (json) => {
  const value = number(json)
  if (value === undefined || value <= 0) return undefined
  const millis = Math.round(value > 1e11 ? value : value * 1000)
  return millis <= latest ? millis : undefined
}

/** An object of which these fields are read, each in its way. Anything else is an object without fields. */
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

/** Of an object, the fields of these names that hold something, as they are; of anything else, none. */
export const pick = (json: Json | undefined, names: ReadonlyArray<string>): Fields =>
  Object.fromEntries(
    Object.entries(fields(json) ?? {}).filter(([name, value]) => value !== null && names.includes(name))
  )
