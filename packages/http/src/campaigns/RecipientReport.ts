/**
 * The report on a campaign's recipients as CSV (contract §11): a line for each uploaded row.
 */
import { CheckedRow, Time } from "@wac/core"
import { stringify } from "csv-stringify/sync"

const columns = [
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
] as const

const cellsOf = (row: CheckedRow.CheckedRow): Readonly<Record<(typeof columns)[number], string | number | null>> => {
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

/** A spreadsheet that opens the file must not read a value as a formula: such a value begins with an apostrophe. */
const form = { escape_formulas: true } as const

/** The first line. Spreadsheets need the byte order mark to read the file as UTF-8. */
export const header: string = `\uFEFF${columns.join(",")}\n`

/** The lines of some rows. */
export const lines = (rows: ReadonlyArray<CheckedRow.CheckedRow>): string =>
  rows.length === 0 ? "" : stringify(rows.map(cellsOf), { ...form, columns: [...columns] })
