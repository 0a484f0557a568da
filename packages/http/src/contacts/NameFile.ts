/**
 * Files of customers' names, for importing opt-outs (contract §13): NDJSON, where each line is a name or an object with
 * a `name`, or CSV, whose first row may name its columns. Read as a stream.
 */
import { type Errors, type OptOuts, WrittenName } from "@wac/core"
import { Predicate, type Stream } from "effect"
import { type FileRecord, type FileType, read } from "../bodies/RecordFile.ts"

/** The columns of a CSV that hold names; without any of them, the first row is not a header. */
const columns = ["name", "to", "phone"]

/** Reads a customer's name from a text: the customer, or the reason why the text is not a name. */
const named = ({ line }: FileRecord, text: string): OptOuts.Line => {
  const read = WrittenName.read(text, undefined)
  return "to" in read ? { line, value: read.to } : { line, value: text, reason: `name ${read.issue}` }
}

const nameIn = (line: string): string | undefined => {
  try {
    const json: unknown = JSON.parse(line)
    const name = Predicate.hasProperty(json, "name") ? json.name : json
    return typeof name === "string" ? name : undefined
  } catch {
    return undefined
  }
}

const ofLine = (record: FileRecord): OptOuts.Line => {
  const text = record.values.join("")
  const name = nameIn(text)
  return name === undefined
    ? { line: record.line, value: text, reason: "the line is neither a JSON string nor an object with a name" }
    : named(record, name)
}

const isNamed = (column: string): boolean => columns.includes(column.trim().toLowerCase())

const reader = (type: FileType) =>
  async function*(records: AsyncIterable<FileRecord>): AsyncGenerator<OptOuts.Line> {
    let column: number | undefined
    for await (const record of records) {
      if (record.values.every((value) => value.trim() === "")) continue
      if (type !== "text/csv") {
        yield ofLine(record)
        continue
      }
      const isFirst = column === undefined
      column ??= Math.max(record.values.findIndex(isNamed), 0)
      if (!isFirst || !record.values.some(isNamed)) yield named(record, record.values[column] ?? "")
    }
  }

/** The names in a file, with the reason for each that is invalid. The stream fails if the file becomes unreadable. */
export const lines = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  type: FileType
): Stream.Stream<OptOuts.Line, Errors.InvalidBody> => read(bytes, type, isNamed, reader(type))
