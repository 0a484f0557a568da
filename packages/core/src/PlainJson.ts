/**
 * Free JSON from callers, limited to what every storage can hold and every recursive function can walk through.
 */
import { Schema } from "effect"
import * as PlainText from "./PlainText.ts"

/**
 * How deep arrays and objects may nest. Payloads of forms and orders nest less than ten deep. Some thousand levels would
 * overflow the stack of functions that call themselves, such as `JSON.stringify`.
 */
export const maxDepth = 32

/** A part of a JSON value that is not allowed, and why. */
export interface Violation {
  readonly path: ReadonlyArray<string | number>
  readonly issue: string
}

interface Part {
  readonly value: unknown
  readonly depth: number
  readonly name: string | number
  readonly parent: Part | undefined
}

const pathOf = (part: Part): ReadonlyArray<string | number> => {
  const path: Array<string | number> = []
  for (let at = part; at.parent !== undefined; at = at.parent) path.unshift(at.name)
  return path
}

const isPlain = (text: string): boolean => PlainText.issueOf(text) === undefined

/**
 * The first part of a value that nests deeper than `depth`, or whose text or names are not plain. Does not recurse, so
 * it can judge a value of any depth.
 */
export const violationOf = (value: unknown, depth: number): Violation | undefined => {
  const waiting: Array<Part> = [{ value, depth: 0, name: "", parent: undefined }]
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const { value } = part
    if (typeof value === "string") {
      const issue = PlainText.issueOf(value)
      if (issue !== undefined) return { path: pathOf(part), issue }
    }
    if (typeof value !== "object" || value === null) continue
    if (part.depth === depth) return { path: pathOf(part), issue: `must not nest deeper than ${depth} levels` }
    const isArray = Array.isArray(value)
    for (const [name, inner] of Object.entries(value).reverse()) {
      if (!isArray && !isPlain(name)) return { path: pathOf(part), issue: `has a name that ${PlainText.issueOf(name)}` }
      waiting.push({ value: inner, depth: part.depth + 1, name: isArray ? Number(name) : name, parent: part })
    }
  }
  return undefined
}

/** A JSON object of plain text and names, at most {@link maxDepth} levels deep. */
export const PlainJsonObject = Schema.Record(PlainText.PlainText, Schema.Json).check(
  Schema.makeFilter((json: Schema.Json) => violationOf(json, maxDepth) ?? true)
)

const quote = 0x22
const backslash = 0x5c

const comma = 0x2c

/**
 * Whether JSON in UTF-8 nests at most `depth` levels deep and has at most `values` values. A single loop, since it
 * reads every request body.
 */
const isWithin = (json: Uint8Array, depth: number, values: number): boolean => {
  let level = 0
  let seen = 0
  let isText = false
  for (let i = 0; i < json.length; i++) {
    const byte = json[i]!
    if (isText) {
      if (byte === backslash) i++
      else if (byte === quote) isText = false
      continue
    }
    if (byte === quote) isText = true
    else if (byte === comma) seen++
    // [ and {, which differ from ] and } by 2, and from each other by 0x20
    else if ((byte & 0xdf) === 0x5b) {
      seen++
      level++
    } else if ((byte & 0xdf) === 0x5d) level--
    if (level > depth || seen > values) return false
  }
  return true
}

/**
 * Whether JSON in UTF-8 nests deeper than `depth`, without parsing it. For text that is not JSON, the result means
 * nothing.
 */
export const isDeeper = (json: Uint8Array, depth: number): boolean => !isWithin(json, depth, Infinity)

/**
 * The maximum number of values in a JSON body. Parsing, comparing and decoding this many takes some hundredths of a
 * second, in which the process does nothing else. A body of 64 KiB cannot have this many.
 */
export const maxValues = 75_000

/**
 * Whether JSON in UTF-8 has more than {@link maxValues} values, without parsing it: it counts opening brackets and
 * commas. For text that is not JSON, the result means nothing.
 */
export const hasTooMany = (json: Uint8Array): boolean =>
  // shorter JSON cannot have so many, and nearly all bodies are shorter
  json.length > maxValues && !isWithin(json, Infinity, maxValues)
