/**
 * Times on the wire (contract §1).
 */
import { DateTime, Option, Schema } from "effect"

/** ISO 8601 UTC with milliseconds. */
export const Timestamp = Schema.String.annotate({
  identifier: "Timestamp",
  description: "ISO 8601, UTC, with milliseconds",
  format: "date-time",
  examples: ["2026-01-02T03:04:05.678Z"]
})

const iso8601 = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/

/** That there is such a time: parsers take much that is none, such as `5` or the 30th of February. */
const isTime = (text: string): boolean => {
  const day = iso8601.exec(text)?.[1]
  return day !== undefined && Option.isSome(DateTime.make(text)) &&
    Option.exists(DateTime.make(day), (date) => DateTime.formatIsoDateUtc(date) === day)
}

/** A time that a caller gives: ISO 8601, in UTC where it names no offset, to the day or finer. */
export const TimeGiven = Schema.String.annotate({
  description: "ISO 8601; UTC where it names no offset",
  examples: ["2026-01-02T03:04:05.678Z"]
}).check(
  Schema.makeFilter((text: string) => isTime(text) || "must be a time in ISO 8601, such as 2026-01-02T03:04:05.678Z")
).pipe(Schema.decodeTo(Schema.DateTimeUtcFromString))
