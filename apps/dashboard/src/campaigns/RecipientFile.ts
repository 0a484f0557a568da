/**
 * Reads the beginning of a recipient file in the browser, before it is uploaded: its columns and first rows, the column
 * that probably has the numbers, and what to change in a file that cannot be used.
 */
import type { RecipientFile } from "@wac/client/internal"
import * as CsvDialect from "@wac/core/campaigns/CsvDialect"
import { parse } from "csv-parse/browser/esm/sync"
import { Problem } from "../ui/Problem.ts"
import { counted } from "../ui/Words.ts"

/** How many bytes of a file are read: enough for the longest permitted row in UTF-16. */
const previewBytes = 131_072

/** The beginning of a file. */
export interface Head {
  /** The names of the columns, without repetitions. Empty for a file in which every line is a recipient in JSON. */
  readonly columns: ReadonlyArray<string>
  /** The first customers' values, by column. */
  readonly examples: ReadonlyArray<Example>
  /** A description of the file for people; `undefined` for JSON. */
  readonly summary: string | undefined
}

/** A customer's values, by column. */
export type Example = { readonly [column: string]: string }

/** Whether every line of the file is a recipient in JSON. */
const isJsonLines = (file: File): boolean => /\.(ndjson|jsonl)$/i.test(file.name)

/** Whether a column has the name that the service reads by default. */
const isTo = (name: string): boolean => name.toLowerCase() === "to"

/** Whether the name of a column says that it has phone numbers. */
const saysPhone = (name: string): boolean =>
  /phone|(?<!auto)m(?:obile|[oó]v[ei]l)|whatsapp|tel[eé]fon|handy|celular|(?<!\p{L})cell(?!\p{L})/iu
    .test(name.normalize("NFC"))

/** Whether the name of a column says that it has numbers. */
const saysNumber = (name: string): boolean => /number/i.test(name)

/** Whether a column has numbers, and its name does not say of what else, such as orders. */
const isPlainNumber = (name: string): boolean => /^(?:contact|recipient|sms)?[\s_-]*numbers?$/i.test(name)

/** Whether a column may have the phone numbers. */
const mayBePhone = (name: string): boolean => isTo(name) || saysPhone(name) || saysNumber(name)

const separators: { readonly [delimiter: string]: string } = { ",": "commas", ";": "semicolons", "\t": "tabs" }

/** Characters that appear if the file has a different encoding than assumed. */
const undecodable = ["\u0000", "\uFFFD"]

/** Describes a file for people. */
const summaryOf = (
  encoding: CsvDialect.Encoding,
  { delimiter }: CsvDialect.Dialect,
  names: ReadonlyArray<string>,
  examples: ReadonlyArray<Example>
): string => {
  const nameless = names.filter((name) => name === "").length
  return [
    `The file is in ${encoding === "utf-8" ? "UTF-8" : "UTF-16"}, with ${separators[delimiter] ?? delimiter} between ` +
    `the values and the names of ${counted(names.length - nameless, "column", "columns")} in the first row.`,
    ...nameless === 0
      ? []
      : [`${counted(nameless, "column has no name and is", "columns have no name and are")} not read.`],
    ...examples.length === 0 ? ["It has no customers below them."] : []
  ].join(" ")
}

/** The form of a phone number in a cell. A first row that contains one is a customer instead of column names. */
const phoneNumber = /^(?:\+|00)?[\d\s()./-]{9,20}$/

const rowsOf = (text: string, { begin, delimiter }: CsvDialect.Dialect): ReadonlyArray<ReadonlyArray<string>> => {
  try {
    const rows: ReadonlyArray<ReadonlyArray<string>> = parse(text.slice(begin), {
      delimiter,
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
      to: 20
    })
    return rows.filter((row) => row.some((value) => value.trim() !== "")).map((row) => row.map(CsvDialect.cellOf))
  } catch {
    throw new Error("The file is not CSV: a quoted value does not end.")
  }
}

/** Reads the beginning of a file. Rejects with an error for people if it has no columns. */
export const headOf = async (file: File): Promise<Head> => {
  if (isJsonLines(file)) return { columns: [], examples: [], summary: undefined }
  const bytes = new Uint8Array(await file.slice(0, previewBytes).arrayBuffer())
  if (CsvDialect.foreignTo(bytes) !== undefined) {
    throw new Error("The file is a spreadsheet’s own format. Save it as CSV, and choose that file.")
  }
  const encoding = CsvDialect.encodingOf(bytes)
  const text = new TextDecoder(encoding).decode(bytes)
  // with `true`, the text is taken for the whole file, so there always is a dialect
  const dialect = CsvDialect.of(text, true, mayBePhone)!
  const [first, ...customers] = rowsOf(text, dialect)
  if (first === undefined) throw new Error("The file is empty.")
  if (first.some((name) => undecodable.some((sign) => name.includes(sign)))) {
    throw new Error("The names of the columns are not UTF-8. Save the file as “CSV UTF-8”, and choose that file.")
  }
  const names = first.map((name) => name.trim())
  if (!names.some(mayBePhone) && names.some((name) => phoneNumber.test(name))) {
    throw new Error(
      "The first row is a customer. Insert a row above it that names the columns, such as phone and name, " +
        "save the file, and choose it again."
    )
  }
  const columns = [...new Set(names)].filter((name) => name !== "")
  const examples = customers.map((row) => Object.fromEntries(names.map((name, i) => [name, row[i] ?? ""])))
  return { columns, examples, summary: summaryOf(encoding, dialect, names, examples) }
}

/**
 * A warning about the phone numbers in the first rows, before the service checks all rows; `undefined` if there is
 * none.
 */
export const adviceOn = ({ examples }: Head, numberColumn: string, country: string): string | undefined => {
  const values = examples.map((example) => (example[numberColumn] ?? "").trim()).filter((value) => value !== "")
  const shortened = values.find((value) => /^\d[.,]?\d*E\+?\d+$/i.test(value))
  if (shortened !== undefined) {
    return `The spreadsheet has shortened numbers to ${shortened}, and their last digits are lost. ` +
      "Format the column as text, enter the numbers again, save the file, and choose it again."
  }
  // only the service knows the number formats of all countries; they would make the page too large
  return country === "" && values.some((value) => /^(?!00)[\d\s()./-]{4,}$/.test(value))
    ? "Some numbers have no + and country code. Choose their country below, or they are left out."
    : undefined
}

/**
 * The column that probably has the phone numbers; `undefined` if a person has to choose it. With a country chosen, other
 * numbers, such as those of orders, would become phone numbers of strangers.
 */
export const phoneColumnOf = ({ columns }: Head): string | undefined => {
  const numbers = columns.filter(saysNumber)
  return columns.find(isTo) ?? columns.find(saysPhone) ??
    (numbers.length === 1 ? numbers.find(isPlainNumber) : undefined)
}

/** The file with its media type, as it is uploaded. */
export const fileOf = (file: File, { columns }: Head): RecipientFile => ({
  type: columns.length === 0 ? "application/x-ndjson" : "text/csv",
  bytes: file
})

/** The name by which a {@link Problem} refers to the field of the file. */
export const fileParam = "file"

/**
 * Rejects with a problem if the file can no longer be read as it was chosen. Browsers stop the upload of such a file as
 * if the service had not responded.
 */
export const ensureUnchanged = async ({ bytes }: RecipientFile): Promise<void> => {
  try {
    await bytes.slice(0, 1).arrayBuffer()
  } catch {
    throw new Problem(fileParam, "The file has changed since it was chosen: choose it again.")
  }
}
