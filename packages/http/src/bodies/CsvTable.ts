/**
 * Tables as CSV, for spreadsheets and programs.
 */
import { CsvDialect } from "@wac/core"
import { stringify } from "csv-stringify/sync"

type Cell = string | number | null

/** A table's lines, written in pieces. */
export interface CsvTable<Column extends string> {
  /** The first line, with the names of the columns, after a byte order mark. */
  readonly header: string
  /** The lines of some rows. */
  readonly lines: (rows: ReadonlyArray<Readonly<Record<Column, Cell>>>) => string
}

/** A table with these columns. */
export const of = <const Column extends string>(columns: ReadonlyArray<Column>): CsvTable<Column> => ({
  header: `${CsvDialect.mark}${columns.join(",")}\n`,
  lines: (rows) => rows.length === 0 ? "" : stringify([...rows], { ...CsvDialect.writing, columns: [...columns] })
})
