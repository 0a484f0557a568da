/**
 * An uploaded row of a campaign with its problem or message, and the filter of a list of rows (contract §11). Pure.
 */
import type { Message } from "../messages/Message.ts"
import { type Outcome, outcomeOf as outcomeOfMessage } from "./CampaignCounts.ts"
import * as CampaignTally from "./CampaignTally.ts"
import type { Problem } from "./Problem.ts"

/** A row of a campaign, before or after its check. */
export interface CheckedRow {
  /** The row's place in the uploads, from 1. */
  readonly place: number
  /** The row's message; `null` if the row was not checked yet or has a problem. */
  readonly message: Message | null
  readonly problem: Problem | null
  /** The line of the file in which the row begins; `null` if the row did not come from a file. */
  readonly line: number | null
  /** The text in the file of the field that is wrong, or else of the customer's name; `null` if it was not kept. */
  readonly value: string | null
}

/** Which rows to list; all if empty. */
export interface RowFilter {
  /** Only recipients with this outcome, or (`left_out`) only rows with a problem. */
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
