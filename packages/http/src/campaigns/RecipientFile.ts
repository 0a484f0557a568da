/**
 * Files of recipients (contract §11): NDJSON, one recipient a line, or CSV with a header row, as spreadsheets write it.
 * Read as a stream, so that memory use does not depend on their size.
 */
import { CsvDialect, Errors, Recipient, WrittenName } from "@wac/core"
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

/** The column of the recipients' names, unless the upload tells another. */
const defaultColumn = "to"

/** The column of the recipients' time zones. Every column that is neither is a variable of its name. */
const zoneColumn = "timeZone"

const form = {
  max_record_size: maxRow,
  // files are joined from others
  record_delimiter: ["\r\n", "\n", "\r"] as Array<string>,
  relax_column_count: true,
  skip_empty_lines: true
} as const

/** What the person who uploads a file says about it. */
export interface Reading {
  /** The country of numbers without a country code. */
  readonly defaultCountry?: string
  /** The column of CSV with the customers' numbers or user ids; `to` if omitted. */
  readonly toColumn?: string
}

/** A row of CSV or a line, and the line of the file in which it begins. */
interface FileRecord {
  readonly values: ReadonlyArray<string>
  readonly line: number
}

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

/** What a decoder writes for bytes that it cannot decode. */
const undecodable = "\uFFFD"

/** Columns for every variable, the phone number and the time zone. */
const maxColumns = Recipient.maxVariables + 2

/** The text of cells. Spreadsheets write empty ones at the end of rows, or leave out some of those. */
const cellsOf = (values: ReadonlyArray<string>, columns: number): ReadonlyArray<string> => {
  let end = values.length
  while (end > columns && values[end - 1]!.trim() === "") end--
  return values.slice(0, end).map(WrittenName.cellOf)
}

const isBlank = ({ values }: FileRecord): boolean => values.every((value) => value.trim() === "")

const isNamed = (column: string, { toColumn }: Reading): boolean =>
  toColumn === undefined ? column.toLowerCase() === defaultColumn : column === toColumn.trim()

/** A name of the file in a message. */
const cut = (name: string): string => name.slice(0, 64).toWellFormed()

/** The columns of a file. Those that have no name are not read. */
interface Columns {
  readonly names: ReadonlyArray<string>
  readonly to: number
  /** -1 if there is none. */
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
  const twice = names.find((name, i) =>
    name !== "" && (names.indexOf(name) < i || (i !== to && isNamed(name, reading)))
  )
  if (twice !== undefined) throw refused("invalid_field", `the file has the column ${cut(twice)} twice`)
  return { names, to, timeZone: names.findIndex((name, i) => i !== to && name === zoneColumn) }
}

/** Reads the rows below a header. */
const rowOf =
  ({ names, timeZone, to }: Columns, { defaultCountry }: Reading) => ({ line, values }: FileRecord): Recipient.Row => {
    const cells = cellsOf(values, names.length)
    const named = values[to]
    if (cells.length > names.length) {
      return Recipient.misread("the row has more values than the first row has columns", named, line)
    }
    const zone = cells[timeZone]?.trim() ?? ""
    const variables = cells.flatMap((cell, i): ReadonlyArray<readonly [string, string]> =>
      i === to || i === timeZone || names[i] === "" || cell === "" ? [] : [[names[i]!, cell]]
    )
    if (variables.some(([, text]) => text.includes(undecodable))) {
      return Recipient.misread("the row is not UTF-8", named, line)
    }
    return Recipient.parseWritten({
      to: named ?? "",
      ...(zone === "" ? {} : { timeZone: zone }),
      ...(variables.length === 0 ? {} : { variables: Object.fromEntries(variables) })
    }, { line, country: defaultCountry })
  }

/** Each line is a record of one value. */
const lineOf = ({ defaultCountry }: Reading) => ({ line, values }: FileRecord): Recipient.Row => {
  const text = values.join("")
  // UTF-16 without its mark has the byte that the parser takes for a separator
  return values.length > 1 || text.includes(undecodable)
    ? Recipient.misread("the line is not UTF-8", undefined, line)
    : Recipient.parseLine(text, { line, country: defaultCountry })
}

const lineBreaks = /\r\n?|\n/g

/**
 * A parser whose records are arrays of any length. Even with `relax_column_count`, csv-parse makes an error with a stack
 * and copies of its options and the record for each record that is not as long as the first, which takes some thirty
 * times as long as parsing it. Before the first record it compares with nothing.
 */
const parserOf = (options: Options, firstLine: number): Parser => {
  // csv-parse tells the last line of a record, and takes CRLF in a value for two line breaks
  let surplus = 1 - firstLine
  const all: Options = {
    ...form,
    ...options,
    on_record: (values, { lines }) => {
      Object.assign(parser.info, { records: 0 })
      let breaks = 0
      for (const value of values) {
        for (const [found] of value.matchAll(lineBreaks)) {
          breaks++
          if (found.length > 1) surplus++
        }
      }
      const record: FileRecord = { values, line: lines - surplus - breaks }
      // its type knows records of the default shape only
      return record as never
    }
  }
  const parser = parse(all)
  return parser
}

/** Passes bytes on in small pieces, with a turn of the event loop between them. */
async function* pieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const some of bytes) {
    for (let at = 0; at < some.length; at += bytesAtOnce) {
      yield some.subarray(at, at + bytesAtOnce)
      await turn()
    }
  }
}

/** The file's text, without its mark. */
async function* textOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void> {
  let decoder: TextDecoder | undefined
  let begin = new Uint8Array()
  for await (const piece of bytes) {
    if (decoder !== undefined) {
      yield decoder.decode(piece, { stream: true })
      continue
    }
    begin = Buffer.concat([begin, piece])
    if (begin.length < CsvDialect.markLength) continue
    const foreign = CsvDialect.foreignTo(begin)
    if (foreign !== undefined) throw refused("invalid_field", foreign)
    decoder = new TextDecoder(CsvDialect.encodingOf(begin))
    yield decoder.decode(begin, { stream: true })
  }
  yield decoder === undefined ? new TextDecoder().decode(begin) : decoder.decode()
}

/** Reads a file's text until its dialect is known. Returns the dialect and the text so far. */
const beginningOf = async (texts: AsyncIterator<string, void>, reading: Reading) => {
  let text = ""
  for (;;) {
    const next = await texts.next()
    text += next.value ?? ""
    const isEnough = next.done === true || text.length > maxRow
    const dialect = CsvDialect.of(text, isEnough, (column) => isNamed(column, reading))
    if (dialect !== undefined) return { dialect, text: text.slice(dialect.begin) }
  }
}

/** The records of a file. `opened` gets what ends the reading early. */
async function* recordsOf(
  bytes: AsyncIterable<Uint8Array>,
  type: FileType,
  reading: Reading,
  opened: (close: () => void) => void
): AsyncGenerator<FileRecord, void> {
  const texts = textOf(pieces(bytes))
  const { dialect, text } = type === "text/csv"
    ? await beginningOf(texts, reading)
    : { dialect: { delimiter: "\u0000", line: 1 }, text: "" }
  const quoting: Options = type === "text/csv" ? { relax_quotes: true } : { quote: false }
  const parser = parserOf({ ...quoting, delimiter: dialect.delimiter }, dialect.line)
  const source = Readable.from((async function*() {
    for (let at = 0; at < text.length; at += bytesAtOnce) {
      yield text.slice(at, at + bytesAtOnce)
      await turn()
    }
    yield* texts
  })())
  source.on("error", (error) => parser.destroy(error))
  opened(() => {
    source.destroy()
    parser.destroy()
  })
  yield* source.pipe(parser) as AsyncIterable<FileRecord>
}

/** Reads rows from records, with a turn of the event loop between some of them. The first record may be a header. */
async function* read(
  records: AsyncIterable<FileRecord>,
  type: FileType,
  reading: Reading
): AsyncGenerator<Recipient.Row> {
  let rowsOf = type === "text/csv" ? undefined : lineOf(reading)
  let seen = 0
  for await (const record of records) {
    if (++seen % rowsAtOnce === 0) await turn()
    if (isBlank(record)) continue
    if (rowsOf === undefined) rowsOf = rowOf(columnsOf(record, reading), reading)
    else yield rowsOf(record)
  }
  if (rowsOf === undefined) throw refused("invalid_field", "the file is empty")
}

/** The media types of files. */
export type FileType = "application/x-ndjson" | "text/csv"

/**
 * The rows of a file. A row that is no recipient is a row with a problem; a file that cannot be read further ends the
 * stream with an error.
 */
export const rows = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  type: FileType,
  reading: Reading = {}
): Stream.Stream<Recipient.Row, Errors.InvalidBody> =>
  Stream.suspend(() => {
    let close = () => {}
    const records = recordsOf(Stream.toAsyncIterable(bytes), type, reading, (closing) => close = closing)
    return Stream.ensuring(
      Stream.fromAsyncIterable(read(records, type, reading), failure),
      Effect.sync(() => close())
    )
  })
