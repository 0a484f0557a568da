/**
 * An uploaded row of a campaign with what became of its recipient, and the filter of a list of rows (contract §11).
 * Pure.
 */
import type { Message } from "../messages/Message.ts"
import { type Outcome, outcomeOf as outcomeOfMessage } from "./CampaignCounts.ts"
import * as CampaignTally from "./CampaignTally.ts"
import type { Problem } from "./Problem.ts"

/** A row of a campaign, as checking left it. */
export interface CheckedRow {
  /** Its place in the uploads, from 1. */
  readonly place: number
  /** The message to it; `null` for a row that was not checked yet, or has a problem. */
  readonly message: Message | null
  readonly problem: Problem | null
  /** The line of its file in which the row begins; `null` if it came from no file. */
  readonly line: number | null
  /** What the file has in the place of the field that is wrong, else of the customer's name. */
  readonly value: string | null
}

/** Which rows to list; all if empty. */
export interface RowFilter {
  /** Only recipients with this outcome, or the rows that are not sent to. */
  readonly outcome?: Outcome | "left_out"
  /** Only recipients that failed or were skipped for this reason, and rows with this problem. */
  readonly reason?: string
}

/** The outcome of a row's recipient; `null` for a row that was not checked yet, or has a problem. */
export const outcomeOf = ({ message }: CheckedRow): Outcome | null => message && outcomeOfMessage(message)

/** Why the recipient failed or was skipped, or what is wrong with the row; `null` for all others. */
export const reasonOf = ({ message, problem }: CheckedRow): string | null =>
  problem?.reason ?? (message && CampaignTally.reasonOf(message))

/** Whether a filter selects a row. */
export const isSelected = (row: CheckedRow, { outcome, reason }: RowFilter): boolean =>
  (outcome === undefined || (outcome === "left_out" ? row.problem !== null : outcomeOf(row) === outcome)) &&
  (reason === undefined || reasonOf(row) === reason)
