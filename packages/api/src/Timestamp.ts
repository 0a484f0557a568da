/**
 * Times on the wire (contract §1).
 */
import { Schema } from "effect"

/** ISO 8601 UTC with milliseconds. */
export const Timestamp = Schema.String.annotate({
  identifier: "Timestamp",
  description: "ISO 8601, UTC, with milliseconds",
  format: "date-time",
  examples: ["2026-01-02T03:04:05.678Z"]
})

/** Days that there are: parsers take the 30th of February for one of March. */
const day = [
  String.raw`\d{4}-(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])`,
  String.raw`\d{4}-(?:0[469]|11)-(?:0[1-9]|[12]\d|30)`,
  String.raw`\d{4}-02-(?:0[1-9]|1\d|2[0-8])`,
  String.raw`(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`
].join("|")

const minutes = String.raw`(?:[01]\d|2[0-3]):[0-5]\d`

// in each of our stores a time is in milliseconds; of what is finer, no more than programs write
const iso8601 = new RegExp(
  String.raw`^(?:${day})(?:T${minutes}(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]${minutes})?)?$`,
  "u"
)

/** The longest form: to the nanosecond, with an offset. */
const maxLength = "2026-01-02T03:04:05.678901234+00:00".length

/** A time that a caller gives: ISO 8601, in UTC where it names no offset, to the day or finer. */
export const TimeGiven = Schema.String.annotate({
  description: "ISO 8601, to the day or finer; UTC where it names no offset",
  examples: ["2026-01-02T03:04:05.678Z"]
}).check(
  Schema.isPattern(iso8601, {
    message: "must be a time in ISO 8601, such as 2026-01-02T03:04:05.678Z",
    toJsonSchema: () => ({ maxLength, pattern: iso8601.source })
  })
).pipe(Schema.decodeTo(Schema.DateTimeUtcFromString))
