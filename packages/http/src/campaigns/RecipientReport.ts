/**
 * The report on a campaign's recipients as CSV (contract §11): a line for each uploaded row.
 */
import { CheckedRow, Time } from "@wac/core"
import * as CsvTable from "../bodies/CsvTable.ts"

const { header, lines: linesOf } = CsvTable.of([
  "row",
  "to",
  "outcome",
  "reason",
  "message",
  "message_id",
  "sent_at",
  "delivered_at",
  "read_at",
  "failed_at",
  "variant",
  "line",
  "value"
])

/** The first line of the report, with the names of its columns. */
export { header }

const cellsOf = (row: CheckedRow.CheckedRow) => {
  const { line, message, place, problem, value } = row
  return {
    row: place,
    to: message && message.content.to,
    outcome: CheckedRow.outcomeOf(row),
    reason: CheckedRow.reasonOf(row),
    message: problem?.message ?? message?.error?.message ?? null,
    message_id: message && message.id,
    sent_at: Time.isoOrNull(message && message.sentAt),
    delivered_at: Time.isoOrNull(message && message.deliveredAt),
    read_at: Time.isoOrNull(message && message.readAt),
    failed_at: Time.isoOrNull(message && message.failedAt),
    variant: message && message.variant,
    line,
    value: problem && value
  }
}

/** The lines of some rows. */
export const lines = (rows: ReadonlyArray<CheckedRow.CheckedRow>): string => linesOf(rows.map(cellsOf))
