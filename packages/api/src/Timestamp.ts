/**
 * Times on the wire (contract §1).
 */
import { Schema } from "effect"

/** ISO 8601 UTC with milliseconds. */
export const Timestamp = Schema.String.annotate({
  identifier: "Timestamp",
  description: "ISO 8601, UTC, with milliseconds.",
  format: "date-time",
  examples: ["2026-01-02T03:04:05.678Z"]
})

/** Matches only days that exist: parsers read the 30th of February as a day in March. */
const day = [
  String.raw`\d{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])`,
  String.raw`\d{4}-(?:0[469]|11)-(?:0[1-9]|[12]\d|30)`,
  String.raw`\d{4}-02-(?:0[1-9]|1\d|2[0-8])`,
  String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`
].join("|")

const minutes = String.raw`(?:[01]\d|2[0-3]):[0-5]\d`

// stores keep milliseconds; finer fractions are accepted, because programs write up to nanoseconds
const iso8601 = new RegExp(
  String.raw`^(?:${day})(?:T${minutes}(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]${minutes})?)?$`,
  "u"
)

/** The longest form: to the nanosecond, with an offset. */
const maxLength = "2026-01-02T03:04:05.678901234+00:00".length

/** A time in a request. For queries, clients also accept a `Date`. */
export const TimeGiven = Schema.String.check(
  Schema.isPattern(iso8601, {
    message: "must be a time in ISO 8601, such as 2026-01-02T03:04:05.678Z",
    toJsonSchema: () => ({ maxLength, pattern: iso8601.source })
  })
).annotate({
  identifier: "TimeGiven",
  description: "ISO 8601, to the day or finer; UTC if it has no offset.",
  examples: ["2026-01-02T03:04:05.678Z"],
  takesDate: true
}).pipe(Schema.decodeTo(Schema.DateTimeUtcFromString))
