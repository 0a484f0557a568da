/** Files of recipients as a person chooses them: what their columns are called, and which column names the customers. */
import type { RecipientFile } from "@wac/client/internal"
import { parse } from "csv-parse/browser/esm/sync"

/** The column that the service reads the customers' numbers and user ids from. */
const to = "to"

/** How much of a file is read to learn its columns. */
const read = 65_536

/** What a file begins with. */
export interface Head {
  /** Empty for a file in which every line is a recipient in JSON. */
  readonly columns: ReadonlyArray<string>
  /** The first customer's values, by column. */
  readonly example: { readonly [column: string]: string }
  /** Where the first row ends, in bytes. */
  readonly headerEnd: number
}

/** Whether every line of the file is a recipient in JSON. */
const isLines = (file: File): boolean => /\.(ndjson|jsonl)$/i.test(file.name)

/** Reads the beginning of a file. Rejects with an error for people if it has no columns. */
export const headOf = async (file: File): Promise<Head> => {
  if (isLines(file)) return { columns: [], example: {}, headerEnd: 0 }
  // with its mark of the byte order, so that places in the text are places in the file
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(await file.slice(0, read).arrayBuffer())
  const rows = parse(text, { bom: true, to: 2, info: true, relax_column_count: true }) as unknown as ReadonlyArray<
    { readonly info: { readonly bytes: number }; readonly record: ReadonlyArray<string> }
  >
  if (rows[0] === undefined) throw new Error("The file is empty.")
  const columns = rows[0].record.map((name) => name.trim())
  const example = Object.fromEntries(columns.map((name, i) => [name, rows[1]?.record[i] ?? ""]))
  return { columns, example, headerEnd: rows[0].info.bytes }
}

/** The column that probably holds the numbers. */
export const numbersOf = ({ columns }: Head): string | undefined =>
  columns.find((name) => name.toLowerCase() === to) ?? columns.find((name) => /phone|mobile|number/i.test(name))

const quoted = (name: string): string => `"${name.replaceAll("\"", "\"\"")}"`

/** The file as the service reads it: the column of numbers gets the name by which the service knows it. */
export const fileOf = (file: File, { columns, headerEnd }: Head, numbers: string): RecipientFile =>
  columns.length === 0
    ? { type: "application/x-ndjson", bytes: file }
    : {
      type: "text/csv",
      bytes: new Blob([
        `${columns.map((name) => quoted(name === numbers ? to : name)).join(",")}\n`,
        file.slice(headerEnd)
      ])
    }
