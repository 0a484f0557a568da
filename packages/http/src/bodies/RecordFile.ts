/**
 * Files of records: CSV as spreadsheets write it, or lines of NDJSON. Read as a stream, so that memory use does not
 * depend on their size, and with turns of the event loop in between.
 */
import { CsvDialect, Errors } from "@wac/core"
import { CsvError, type Options, parse, type Parser } from "csv-parse"
import { Effect, Stream } from "effect"
import { Readable } from "node:stream"
import { setImmediate as turn } from "node:timers/promises"

/**
 * The maximum size of a row in bytes. A longer one ends the upload, so that a file without line breaks cannot fill the
 * memory.
 */
const maxRow = 65_536

/**
 * How many bytes are parsed before other work of the process gets its turn. Parsing them takes a few milliseconds at
 * most.
 */
export const bytesAtOnce = 8192

/** How many records are read before other work of the process gets its turn. */
export const recordsAtOnce = 100

const form = {
  max_record_size: maxRow,
  // a file that was joined from others may have several kinds of line break
  record_delimiter: ["\r\n", "\n", "\r"] as Array<string>,
  relax_column_count: true,
  skip_empty_lines: true
} as const

/** The media types of files. */
export type FileType = "application/x-ndjson" | "text/csv"

/** A row of CSV or a line, and the line of the file in which it begins. */
export interface FileRecord {
  readonly values: ReadonlyArray<string>
  readonly line: number
}

/** A refusal of the whole file. */
export const refused = (reason: "invalid_field" | "too_large" | "malformed_json", message: string) =>
  new Errors.InvalidBody({ reason, message })

/** The error for a file that could not be read. It names the place, but repeats nothing of the file. */
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

/** The character that a decoder writes for bytes that it cannot decode. */
export const undecodable = "\uFFFD"

const lineBreaks = /\r\n?|\n/g

/**
 * A parser whose records are arrays of any length. Even with `relax_column_count`, csv-parse makes an error with a
 * stack and copies of its options and the record for each record that is not as long as the first, which takes some
 * thirty times as long as parsing it. So every record is made to look like the first, which is compared with nothing.
 */
const parserOf = (options: Options, firstLine: number): Parser => {
  // csv-parse reports the last line of a record, and counts CRLF in a value as two line breaks
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

/** The file's text, without its byte order mark. */
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
const beginningOf = async (texts: AsyncIterator<string, void>, isWanted: (column: string) => boolean) => {
  let text = ""
  for (;;) {
    const next = await texts.next()
    text += next.value ?? ""
    const isEnough = next.done === true || text.length > maxRow
    const dialect = CsvDialect.of(text, isEnough, isWanted)
    if (dialect !== undefined) return { dialect, text: text.slice(dialect.begin) }
  }
}

/**
 * The records of a file, with a turn of the event loop between some of them. Calls `opened` with the function that ends
 * the reading early.
 */
async function* recordsOf(
  bytes: AsyncIterable<Uint8Array>,
  type: FileType,
  isWanted: (column: string) => boolean,
  opened: (close: () => void) => void
): AsyncGenerator<FileRecord, void> {
  const texts = textOf(pieces(bytes))
  const { dialect, text } = type === "text/csv"
    ? await beginningOf(texts, isWanted)
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
  let seen = 0
  for await (const record of source.pipe(parser) as AsyncIterable<FileRecord>) {
    yield record
    if (++seen % recordsAtOnce === 0) await turn()
  }
}

/**
 * The result that a reader makes of a file's records. `isWanted` is whether a column with this name is expected, by
 * which the delimiter of CSV is found. The stream fails if the file becomes unreadable or the reader throws.
 */
export const read = <A, E>(
  bytes: Stream.Stream<Uint8Array, E>,
  type: FileType,
  isWanted: (column: string) => boolean,
  reader: (records: AsyncIterable<FileRecord>) => AsyncIterable<A>
): Stream.Stream<A, Errors.InvalidBody> =>
  Stream.suspend(() => {
    let close = () => {}
    const records = recordsOf(Stream.toAsyncIterable(bytes), type, isWanted, (closing) => close = closing)
    return Stream.ensuring(Stream.fromAsyncIterable(reader(records), failure), Effect.sync(() => close()))
  })
