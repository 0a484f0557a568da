/**
 * Files of recipients (contract §11): NDJSON, one recipient a line, or CSV with a header row.
 */
import { CsvDialect, type Errors, Recipient } from "@wac/core"
import type { Stream } from "effect"
import { type FileRecord, type FileType, read, refused, undecodable } from "../bodies/RecordFile.ts"

/** The column of the recipients' names, unless the upload names another. */
const defaultColumn = "to"

/**
 * The column of the recipients' time zones, in upper or lower case. Every column besides these two is a variable with
 * the column's name.
 */
const zoneColumn = "timeZone"

/** How a file is read, as the caller of the upload chose. */
export interface Reading {
  /** The country of numbers without a country code. */
  readonly defaultCountry?: string
  /** The column of CSV with the customers' numbers or user ids; `to` if omitted. */
  readonly toColumn?: string
}

/** The maximum number of columns: one for each variable, the recipient's name and the time zone. */
const maxColumns = Recipient.maxVariables + 2

/** The text of cells. Spreadsheets write empty ones at the end of rows, or leave out some of those. */
const cellsOf = (values: ReadonlyArray<string>, columns: number): ReadonlyArray<string> => {
  let end = values.length
  while (end > columns && values[end - 1]!.trim() === "") end--
  return values.slice(0, end).map(CsvDialect.cellOf)
}

const isBlank = ({ values }: FileRecord): boolean => values.every((value) => value.trim() === "")

const isNamed = (column: string, { toColumn }: Reading): boolean =>
  toColumn === undefined ? column.toLowerCase() === defaultColumn : column === toColumn.trim()

const isZone = (column: string): boolean => column.toLowerCase() === zoneColumn.toLowerCase()

/** A column's name, shortened for an error message. */
const cut = (name: string): string => name.slice(0, 64).toWellFormed()

/** The columns of a file. Columns without a name are not read; names that are too long for a variable are left out. */
interface Columns {
  readonly names: ReadonlyArray<string>
  readonly to: number
  /** The index of the column of time zones; -1 if there is none. */
  readonly timeZone: number
}

const columnsOf = ({ values }: FileRecord, reading: Reading): Columns => {
  if (values.length > maxColumns && cellsOf(values, maxColumns).length > maxColumns) {
    throw refused("too_large", `the file has more than ${maxColumns} columns`)
  }
  const names = cellsOf(values, 0).map((name) => name.trim())
  if (names.some((name) => name.includes(undecodable) || name.includes("\u0000"))) {
    throw refused("invalid_field", "the first row is not UTF-8: save the file as CSV in UTF-8")
  }
  const to = names.findIndex((name) => isNamed(name, reading))
  if (to < 0) {
    throw refused("invalid_field", `the first row must have a column named ${cut(reading.toColumn ?? defaultColumn)}`)
  }
  const timeZone = names.findIndex((name, i) => i !== to && isZone(name))
  const twice = names.find((name, i) =>
    name !== "" && i !== to && (names.indexOf(name) < i || isNamed(name, reading) || (isZone(name) && i !== timeZone))
  )
  if (twice !== undefined) throw refused("invalid_field", `the file has the column ${cut(twice)} twice`)
  return {
    names: names.map((name) => Recipient.isVariableName(name) ? name : ""),
    to,
    timeZone
  }
}

/** Reads the rows below a header. */
const rowOf =
  ({ names, timeZone, to }: Columns, { defaultCountry }: Reading) => ({ line, values }: FileRecord): Recipient.Row => {
    const cells = cellsOf(values, names.length)
    const named = values[to]
    const inFile = { line, country: defaultCountry }
    if (cells.length > names.length) {
      return Recipient.misreadNamed("the row has more values than the first row has columns", named, inFile)
    }
    const zone = cells[timeZone]?.trim() ?? ""
    const variables = cells.flatMap((cell, i): ReadonlyArray<readonly [string, string]> =>
      i === to || i === timeZone || names[i] === "" || cell === "" ? [] : [[names[i]!, cell]]
    )
    if (variables.some(([, text]) => text.includes(undecodable))) {
      return Recipient.misreadNamed("the row is not UTF-8", named, inFile)
    }
    return Recipient.parseWritten({
      to: named ?? "",
      ...(zone === "" ? {} : { timeZone: zone }),
      ...(variables.length === 0 ? {} : { variables: Object.fromEntries(variables) })
    }, inFile)
  }

/** Reads the rows of NDJSON, whose records have one value: the line. Throws if too many lines are no rows. */
const lineOf = ({ defaultCountry }: Reading) => {
  let unreadable = 0
  let first: number | undefined
  return ({ line, values }: FileRecord): Recipient.Row => {
    const text = values.join("")
    // UTF-16 without a byte order mark contains NUL, at which the parser divides the line
    const row = values.length > 1 || text.includes(undecodable)
      ? Recipient.misread(Recipient.unreadable.encoding, undefined, line)
      : Recipient.parseLine(text, { line, country: defaultCountry })
    if (!Recipient.isUnreadable(row)) return row
    first ??= line
    if (++unreadable <= Recipient.maxUnreadable) return row
    throw refused(
      "invalid_field",
      `more than ${Recipient.maxUnreadable} lines are not objects in JSON, the first in line ${first}`
    )
  }
}

/** Reads rows from records. The first record of CSV is its header. */
const reader = (type: FileType, reading: Reading) =>
  async function*(records: AsyncIterable<FileRecord>): AsyncGenerator<Recipient.Row> {
    let rowsOf = type === "text/csv" ? undefined : lineOf(reading)
    for await (const record of records) {
      if (isBlank(record)) continue
      if (rowsOf === undefined) rowsOf = rowOf(columnsOf(record, reading), reading)
      else yield rowsOf(record)
    }
    if (rowsOf === undefined) throw refused("invalid_field", "the file is empty")
  }

/**
 * The rows of a file. An invalid row is returned as a row with a problem; the stream fails if the file becomes
 * unreadable.
 */
export const rows = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  type: FileType,
  reading: Reading = {}
): Stream.Stream<Recipient.Row, Errors.InvalidBody> =>
  read(bytes, type, (column) => isNamed(column, reading), reader(type, reading))
