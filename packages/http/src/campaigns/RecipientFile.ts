/**
 * Files of recipients (contract §11): NDJSON, one recipient a line, or CSV with a header row. Read as a stream, so that
 * memory use does not depend on their size.
 */
import { Errors, Recipient } from "@wac/core"
import { CsvError, type InfoRecord, parse } from "csv-parse"
import { Effect, Stream } from "effect"
import { Readable } from "node:stream"

/** The maximum size of a row in bytes. A longer one ends the upload, so that a file without line breaks is no danger. */
const maxRow = 65_536

/** The column of the recipients' phone numbers. */
const toColumn = "to"

/** The column of the recipients' time zones. Every column that is neither is a variable of its name. */
const zoneColumn = "timeZone"

const form = {
  bom: true,
  max_record_size: maxRow,
  // files are joined from others
  record_delimiter: ["\r\n", "\n", "\r"] as Array<string>,
  relax_column_count: true,
  skip_empty_lines: true
} as const

const refused = (reason: "invalid_field" | "too_large" | "malformed_json", message: string) =>
  new Errors.InvalidBody({ reason, message })

/** Why the file could not be read. Says where, but repeats nothing of the file. */
const failure = (error: unknown): Errors.InvalidBody => {
  if (Errors.isDomainError(error) && error._tag === "InvalidBody") return error
  if (error instanceof CsvError) {
    const line = "lines" in error && typeof error.lines === "number" ? `line ${error.lines}: ` : ""
    return error.code === "CSV_MAX_RECORD_SIZE"
      ? refused("too_large", `${line}a row is larger than ${maxRow} bytes`)
      : refused("invalid_field", `${line}the file is not CSV: a quoted value does not end, or has text after it`)
  }
  return refused("malformed_json", "the body did not arrive completely")
}

const problem = (message: string): Recipient.Row => ({ problem: { reason: "malformed", message } })

/** What a decoder writes for bytes that are not UTF-8. */
const undecodable = "\uFFFD"

/** Columns for every variable, the phone number and the time zone. */
const maxColumns = Recipient.maxVariables + 2

const headerOf = (names: ReadonlyArray<string>): Array<string> => {
  if (names.length > maxColumns) throw refused("too_large", `the file has more than ${maxColumns} columns`)
  const columns = names.map((name) => name.trim())
  if (columns.some((name) => name.includes(undecodable))) {
    throw refused("invalid_field", "the first row is not UTF-8: save the file as CSV in UTF-8")
  }
  const numbers = columns.findIndex((name) => name.toLowerCase() === toColumn)
  if (numbers < 0) throw refused("invalid_field", `the first row must have a column named ${toColumn}`)
  columns[numbers] = toColumn
  const twice = columns.find((name, i) => columns.indexOf(name) < i)
  if (twice !== undefined) throw refused("invalid_field", `the file has the column ${twice.slice(0, 64)} twice`)
  return columns
}

/** Spreadsheets and people write numbers with separators, and our own report begins them with an apostrophe. */
const digitsOf = (text: string): string => text.trim().replace(/^'(?=\+)/, "").replaceAll(/[\s().-]/g, "")

interface CsvRow {
  readonly record: { readonly [column: string]: string }
  readonly info: Omit<InfoRecord, "error"> & { readonly error?: CsvError }
}

const rowOf = ({ info, record }: CsvRow): Recipient.Row => {
  if (info.error !== undefined) return problem("the row does not have as many values as the first row has columns")
  const { [toColumn]: to = "", [zoneColumn]: timeZone = "", ...columns } = record
  const entries = Object.entries(columns).filter(([name, text]) => name !== "" && text !== "")
  if (entries.some(([, text]) => text.includes(undecodable))) return problem("the row is not UTF-8")
  return Recipient.parse({
    to: digitsOf(to),
    ...(timeZone.trim() === "" ? {} : { timeZone: timeZone.trim() }),
    ...(entries.length === 0 ? {} : { variables: Object.fromEntries(entries) })
  })
}

/** Each line is a record of one value. */
const lineOf = ({ record }: { readonly record: ReadonlyArray<string> }): Recipient.Row => {
  const line = record.join("")
  // UTF-16 has the byte that the parser takes for a separator
  return record.length > 1 || line.includes(undecodable) ? problem("the line is not UTF-8") : Recipient.parseLine(line)
}

/** The media types of files. */
export type FileType = "application/x-ndjson" | "text/csv"

/**
 * The rows of a file. A row that is no recipient is a row with a problem; a file that cannot be read further ends the
 * stream with an error.
 */
export const rows = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  type: FileType
): Stream.Stream<Recipient.Row, Errors.InvalidBody> =>
  Stream.suspend(() => {
    const source = Readable.fromWeb(Stream.toReadableStream(bytes) as never)
    const parser = type === "text/csv"
      ? parse({ ...form, info: true, columns: headerOf })
      : parse({ ...form, info: true, quote: false, delimiter: "\u0000" })
    source.on("error", (error) => parser.destroy(error))
    source.pipe(parser)
    const read = type === "text/csv" ? rowOf as (row: never) => Recipient.Row : lineOf as (row: never) => Recipient.Row
    return Stream.map(
      Stream.ensuring(
        Stream.fromAsyncIterable(parser as AsyncIterable<never>, failure),
        Effect.sync(() => {
          source.destroy()
          parser.destroy()
        })
      ),
      read
    )
  })
