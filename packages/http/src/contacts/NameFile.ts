/**
 * Files of names (contract §13): NDJSON, where each line is a name or an object with a `name`, or CSV, whose first row may
 * name its columns. Read as a stream.
 */
import { CustomerNames, type Errors, type OptOuts, PhoneNumber } from "@wac/core"
import { Predicate, type Stream } from "effect"
import * as RecipientFile from "../campaigns/RecipientFile.ts"

/** The columns of a CSV that hold names; without any of them, the first row is not a header. */
const columns = ["name", "to", "phone"]

/** A number as people and spreadsheets write it becomes one in E.164 format. */
const written = (text: string): string => {
  const name = text.trim()
  return CustomerNames.isUserId(name) ? name : PhoneNumber.canonicalOf(RecipientFile.digitsOf(name))
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

const ofLine = (record: RecipientFile.Placed): OptOuts.Line => {
  const text = record.values.join("")
  const name = nameIn(text)
  return name === undefined
    ? { line: record.line, value: text, reason: "the line is neither a JSON string nor an object with a name" }
    : { line: record.line, value: written(name) }
}

/** The names in a file; a file that cannot be read further ends the stream with an error. */
export const lines = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  type: RecipientFile.FileType
): Stream.Stream<OptOuts.Line, Errors.InvalidBody> =>
  RecipientFile.placed(bytes, type, () => {
    let column: number | undefined
    return (record) => {
      if (type !== "text/csv") return ofLine(record)
      if (column === undefined) {
        const names = record.values.map((name) => name.trim().toLowerCase())
        const found = names.findIndex((name) => columns.includes(name))
        column = Math.max(found, 0)
        if (found >= 0) return undefined
      }
      return { line: record.line, value: written(record.values[column] ?? "") }
    }
  })
