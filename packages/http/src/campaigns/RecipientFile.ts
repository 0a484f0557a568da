/**
 * Files of recipients (contract §11): NDJSON, one recipient a line, or CSV with a header row. Read as a stream, so that
 * memory use does not depend on their size.
 */
import { Errors, Recipient } from "@wac/core"
import { CsvError, type Options, parse, type Parser } from "csv-parse"
import { Effect, Stream } from "effect"
import { Readable } from "node:stream"
import { setImmediate as turn } from "node:timers/promises"

/** The maximum size of a row in bytes. A longer one ends the upload, so that a file without line breaks is no danger. */
const maxRow = 65_536

/**
 * How many bytes are parsed, and how many rows read, before other work of the process gets its turn: a few
 * milliseconds.
 */
export const bytesAtOnce = 8192
export const rowsAtOnce = 100

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

type CsvRecord = ReadonlyArray<string>

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
export const digitsOf = (text: string): string => text.trim().replace(/^'(?=\+)/, "").replaceAll(/[\s().-]/g, "")

/** Reads the rows below a header. */
const rowOf = (columns: ReadonlyArray<string>) => {
  const [numbers, zones] = [columns.indexOf(toColumn), columns.indexOf(zoneColumn)]
  return (record: CsvRecord): Recipient.Row => {
    if (record.length !== columns.length) {
      return problem("the row does not have as many values as the first row has columns")
    }
    const timeZone = record[zones]?.trim() ?? ""
    const variables = columns.flatMap((name, i): ReadonlyArray<readonly [string, string]> =>
      i === numbers || i === zones || name === "" || record[i] === "" ? [] : [[name, record[i]!]]
    )
    if (variables.some(([, text]) => text.includes(undecodable))) return problem("the row is not UTF-8")
    return Recipient.parse({
      to: digitsOf(record[numbers]!),
      ...(timeZone === "" ? {} : { timeZone }),
      ...(variables.length === 0 ? {} : { variables: Object.fromEntries(variables) })
    })
  }
}

/** Each line is a record of one value. */
const lineOf = (record: CsvRecord): Recipient.Row => {
  const line = record.join("")
  // UTF-16 has the byte that the parser takes for a separator
  return record.length > 1 || line.includes(undecodable) ? problem("the line is not UTF-8") : Recipient.parseLine(line)
}

/**
 * A parser whose records are arrays of any length. Even with `relax_column_count`, csv-parse makes an error with a stack
 * and copies of its options and the record for each record that is not as long as the first, which takes some thirty
 * times as long as parsing it. Before the first record it compares with nothing.
 */
const parserOf = (type: FileType): Parser => {
  const options: Options = {
    ...form,
    ...(type === "text/csv" ? {} : { quote: false, delimiter: "\u0000" }),
    on_record: (values, { lines }) => {
      Object.assign(parser.info, { records: 0 })
      // what is returned is passed on as it is, whatever the type says
      return { values, line: lines } satisfies Placed as never
    }
  }
  const parser = parse(options)
  return parser
}

/** Passes bytes on in small pieces, with a turn of the event loop between them. */
async function* pieces(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  for await (const some of bytes) {
    for (let at = 0; at < some.length; at += bytesAtOnce) {
      yield some.subarray(at, at + bytesAtOnce)
      await turn()
    }
  }
}

/** A record, and the line that it ends in. */
export interface Placed {
  readonly values: CsvRecord
  readonly line: number
}

/** Reads records, with a turn of the event loop between some of them. */
async function* read<A>(records: AsyncIterable<Placed>, of: (record: Placed) => A | undefined): AsyncIterable<A> {
  let rows = 0
  for await (const record of records) {
    const row = of(record)
    if (row !== undefined) yield row
    if (++rows % rowsAtOnce === 0) await turn()
  }
}

/** Reads rows; the first record may be a header. */
const rowsOf = (type: FileType) => () => {
  let rowIn = type === "text/csv" ? undefined : lineOf
  return ({ values }: Placed): Recipient.Row | undefined => {
    if (rowIn !== undefined) return rowIn(values)
    rowIn = rowOf(headerOf(values))
    return undefined
  }
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
): Stream.Stream<Recipient.Row, Errors.InvalidBody> => placed(bytes, type, rowsOf(type))

/** What a fresh reader of records makes of those of a file; what it makes `undefined` of is left out. */
export const placed = <A, E>(
  bytes: Stream.Stream<Uint8Array, E>,
  type: FileType,
  reader: () => (record: Placed) => A | undefined
): Stream.Stream<A, Errors.InvalidBody> =>
  Stream.suspend(() => {
    const source = Readable.from(pieces(Stream.toAsyncIterable(bytes)))
    const parser = parserOf(type)
    source.on("error", (error) => parser.destroy(error))
    source.pipe(parser)
    return Stream.ensuring(
      Stream.fromAsyncIterable(read(parser as AsyncIterable<Placed>, reader()), failure),
      Effect.sync(() => {
        source.destroy()
        parser.destroy()
      })
    )
  })
