/**
 * Files of recipients as a person chooses them: what their columns are called, and which column names the customers.
 */
import type { RecipientFile } from "@wac/client/internal"
import * as CsvDialect from "@wac/core/campaigns/CsvDialect"
import { parse } from "csv-parse/browser/esm/sync"

/** How much of a file is read to learn its columns, in bytes: the longest row in UTF-16. */
const read = 131_072

/** The beginning of a file. */
export interface Head {
  /** Empty for a file in which every line is a recipient in JSON. */
  readonly columns: ReadonlyArray<string>
  /** The first customer's values, by column. */
  readonly example: { readonly [column: string]: string }
}

/** Whether every line of the file is a recipient in JSON. */
const isLines = (file: File): boolean => /\.(ndjson|jsonl)$/i.test(file.name)

/** Whether a column probably holds the numbers. */
const isNumbers = (name: string): boolean => name.toLowerCase() === "to" || /phone|mobile|number/i.test(name)

/** Reads the beginning of a file. Rejects with an error for people if it has no columns. */
export const headOf = async (file: File): Promise<Head> => {
  if (isLines(file)) return { columns: [], example: {} }
  const bytes = new Uint8Array(await file.slice(0, read).arrayBuffer())
  if (CsvDialect.foreignTo(bytes) !== undefined) {
    throw new Error("The file is a spreadsheet’s own format. Save it as CSV, and choose that file.")
  }
  const text = new TextDecoder(CsvDialect.encodingOf(bytes)).decode(bytes)
  const dialect = CsvDialect.of(text, true, isNumbers)!
  let rows: ReadonlyArray<ReadonlyArray<string>>
  try {
    rows = parse(text.slice(dialect.begin), {
      delimiter: dialect.delimiter,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: 20
    })
  } catch {
    throw new Error("The file is not CSV: a quoted value does not end.")
  }
  const [names, first] = rows.filter((row) => row.some((value) => value.trim() !== ""))
  if (names === undefined) throw new Error("The file is empty.")
  const columns = names.map((name) => name.trim())
  return {
    columns: columns.filter((name) => name !== ""),
    example: Object.fromEntries(columns.map((name, i) => [name, first?.[i] ?? ""]))
  }
}

/** The column that probably holds the numbers. */
export const numbersOf = ({ columns }: Head): string | undefined =>
  columns.find((name) => name.toLowerCase() === "to") ?? columns.find(isNumbers)

/** The file as it is uploaded. */
export const fileOf = (file: File, { columns }: Head): RecipientFile => ({
  type: columns.length === 0 ? "application/x-ndjson" : "text/csv",
  bytes: file
})
