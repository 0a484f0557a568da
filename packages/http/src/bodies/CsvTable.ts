/**
 * Tables as CSV, for spreadsheets and programs.
 */
import { stringify } from "csv-stringify/sync"

type Cell = string | number | null

/** A table's lines, written in pieces. */
export interface CsvTable<Column extends string> {
  /** The first line. Spreadsheets need the byte order mark to read the file as UTF-8. */
  readonly header: string
  /** The lines of some rows. */
  readonly lines: (rows: ReadonlyArray<Readonly<Record<Column, Cell>>>) => string
}

/** A spreadsheet that opens the file must not read a value as a formula: such a value begins with an apostrophe. */
const form = { escape_formulas: true } as const

/** A table with these columns. */
export const of = <const Column extends string>(columns: ReadonlyArray<Column>): CsvTable<Column> => ({
  header: `\uFEFF${columns.join(",")}\n`,
  lines: (rows) => rows.length === 0 ? "" : stringify([...rows], { ...form, columns: [...columns] })
})
