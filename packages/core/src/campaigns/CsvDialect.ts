/**
 * How a spreadsheet has written a CSV file: its encoding, told by its mark, and what separates its values, found in its
 * first row; and how a file is written for one. The same for the service and its pages, so it imports nothing. Pure.
 */

/** What spreadsheets need before the text of a file, to read it as UTF-8. */
export const mark = "\uFEFF"

/**
 * How csv-stringify writes for a spreadsheet, which must not read a value as a formula: such a value begins with an
 * apostrophe.
 */
export const writing = { escape_formulas: true } as const

/** The encoding of a file, as `TextDecoder` names it. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be"

/** How many bytes {@link encodingOf} needs, at most. */
export const markLength = 3

/** The encoding that a file's mark tells; UTF-8 without one. */
export const encodingOf = ([first, second]: Uint8Array): Encoding =>
  first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"

/** Why a file is no text, by its first bytes; `undefined` if nothing is known of it. */
export const foreignTo = ([a, b, c, d]: Uint8Array): string | undefined =>
  (a === 0x50 && b === 0x4b && c === 3 && d === 4) || (a === 0xd0 && b === 0xcf && c === 0x11 && d === 0xe0)
    ? "the file is a spreadsheet's own format: save it as CSV"
    : undefined

/** What is known of a file once its first row is. */
export interface Dialect {
  /** One character. */
  readonly delimiter: string
  /** Where the first row begins, in UTF-16 code units: after a line `sep=;`. */
  readonly begin: number
  /** The line in which {@link begin} is, from 1. */
  readonly line: number
}

/** What separates values, most common first. */
const delimiters = [",", ";", "\t"] as const

/** A first line that names the delimiter, as Excel reads and writes it. */
const separator = /^"?sep=([^\r\n"])"?(?:\r\n?|\n)/i

/**
 * Where the row that begins at `from` ends; `undefined` if it does not end in this text. Line breaks in quotes belong
 * to it.
 */
const endOf = (text: string, from: number): number | undefined => {
  let isQuoted = false
  for (let i = from; i < text.length; i++) {
    const sign = text[i]
    if (sign === "\"") isQuoted = !isQuoted
    else if (!isQuoted && (sign === "\n" || sign === "\r")) return i
  }
  return undefined
}

/** The names in a row, if this separates them. A delimiter in quotes belongs to its name. */
const namesIn = (row: string, delimiter: string): ReadonlyArray<string> => {
  const names: Array<string> = []
  let isQuoted = false
  let begin = 0
  for (let i = 0; i <= row.length; i++) {
    if (row[i] === "\"") isQuoted = !isQuoted
    if (i < row.length && (isQuoted || row[i] !== delimiter)) continue
    names.push(row.slice(begin, i).trim().replace(/^"(.*)"$/s, "$1").trim())
    begin = i + 1
  }
  return names
}

/**
 * The dialect of a file that begins with this text; `undefined` while the text does not have all of the first row.
 * `isWhole` says that the file ends with it. The delimiter is the one by which the row has a column that `isWanted`, or
 * most columns.
 */
export const of = (
  text: string,
  isWhole: boolean,
  isWanted: (column: string) => boolean
): Dialect | undefined => {
  const named = separator.exec(text)
  if (named !== null) {
    const begin = named[0].length
    // its line break may go on
    return begin === text.length && !isWhole ? undefined : { delimiter: named[1]!, begin, line: 2 }
  }
  let begin = 0
  while (text[begin] === "\n" || text[begin] === "\r") begin++
  const end = endOf(text, begin) ?? (isWhole ? text.length : undefined)
  if (end === undefined) return undefined
  const row = text.slice(begin, end)
  const found = delimiters.map((delimiter) => {
    const names = namesIn(row, delimiter)
    return { delimiter, isWanted: names.some(isWanted), columns: names.length }
  })
  const [best] = found.toSorted((a, b) => Number(b.isWanted) - Number(a.isWanted) || b.columns - a.columns)
  return { delimiter: best!.delimiter, begin: 0, line: 1 }
}
