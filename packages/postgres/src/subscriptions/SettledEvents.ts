/**
 * Reads the settled position once in a transaction that holds the lock on a subscription, for its later statements.
 */
import { settled } from "../events/EventPositions.ts"
import type { Statement } from "../Statement.ts"

/** Reads the position. A separate statement, so that the statements after it see everything up to that position. */
export const lookSettled: Statement = {
  text: `select set_config('wac_step.settled', ${settled}::text, true) as settled`
}

/** An expression for the position that {@link lookSettled} has read. */
export const lookedSettled = "current_setting('wac_step.settled')::bigint"
