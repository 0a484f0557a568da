/**
 * The dialect of a CSV file: detects the encoding of a file by its byte order mark and its delimiter by its first row,
 * reads the text of cells, and has the options for writing a file that spreadsheets read. The service and its pages
 * share this file, so it imports nothing. Pure.
 */

/** The byte order mark, without which spreadsheets do not read a file as UTF-8. */
export const mark = "\uFEFF"

/**
 * Where a formula may begin: at the beginning of a value, and inside of it where a spreadsheet that separates values by
 * `;` or a tab would divide it, or break the line, as quotes around a value do not count there. Spreadsheets read the
 * full-width signs like the others.
 */
const begins = /(^|[;\t\r\n]"*)(?=[^\S;\t\r\n]*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g

/**
 * The options of csv-stringify for a file that spreadsheets read, whatever they separate values by. What would be read
 * as a formula, a value or a part of one, gets an apostrophe in front.
 */
export const writing = {
  escape_formulas: true,
  cast: { string: (value: string): string => value.replace(begins, "$1'") }
} as const

/** The encoding of a file, by its name for `TextDecoder`. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be"

/** The length of the longest byte order mark, in bytes. */
export const markLength = 3

/** The encoding that a file's byte order mark names; UTF-8 if there is no mark. */
export const encodingOf = ([first, second]: Uint8Array): Encoding =>
  first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : "utf-8"

/** What is wrong with a file that is not text, by its first bytes; `undefined` if they show nothing wrong. */
export const foreignTo = ([a, b, c, d]: Uint8Array): string | undefined =>
  (a === 0x50 && b === 0x4b && c === 3 && d === 4) || (a === 0xd0 && b === 0xcf && c === 0x11 && d === 0xe0)
    ? "the file is a spreadsheet's own format: save it as CSV"
    : undefined

/** How a file separates values, and where its first row begins. */
export interface Dialect {
  /** One character. */
  readonly delimiter: string
  /** Where the first row begins, in UTF-16 code units: after a line `sep=;` if there is one. */
  readonly begin: number
  /** The line in which {@link begin} is, from 1. */
  readonly line: number
}

/** The characters that may separate values, most common first. */
const delimiters = [",", ";", "\t"] as const

/** A first line that names the delimiter, as Excel reads and writes it. */
const separator = /^"?sep=([^\r\n"])"?(?:\r\n?|\n)/i

/**
 * Where the row that begins at `from` ends; `undefined` if it does not end in this text. Line breaks in quotes are part
 * of the row.
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

/** The names in a row, if this delimiter separates them. A delimiter in quotes is part of the name. */
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
 * The dialect of a file that begins with this text; `undefined` if the text ends before the first row does. `isWhole`
 * means that the text is the whole file. Chooses the delimiter that gives the first row a column that `isWanted`; if
 * none or several do, the one that gives most columns.
 */
export const of = (
  text: string,
  isWhole: boolean,
  isWanted: (column: string) => boolean
): Dialect | undefined => {
  const named = separator.exec(text)
  if (named !== null) {
    const begin = named[0].length
    // a second character of the line break may follow
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

/**
 * The text of a spreadsheet's cell. For `="…"`, which people write so that a spreadsheet does not read a number, it is
 * the text in the quotes.
 */
export const cellOf = (text: string): string => {
  const formula = /^\s*="((?:[^"]|"")*)"\s*$/.exec(text)
  return formula === null ? text : formula[1]!.replaceAll("\"\"", "\"")
}
