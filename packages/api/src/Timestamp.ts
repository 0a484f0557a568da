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
