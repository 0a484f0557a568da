/**
 * Items of a provider post that change nothing, because they are about something unknown. Collects them for one line in
 * the log.
 */
import { Effect } from "effect"

/** Why a status or a customer's message changes nothing. */
export type Reason = "unknown_message" | "unknown_number" | "too_old"

/** An item that changes nothing. */
export interface IgnoredItem {
  /** A fixed description of the kind of item, without any of its content. */
  readonly what: string
  /**
   * Whether such items are normal, because an account is shared or the provider introduces something new. If so, nobody
   * needs to look into it.
   */
  readonly isUsual: boolean
  /** The rule that applied, for hosts that report the result of an item. */
  readonly reason?: Reason
}

/** Logs ignored items in one line, at debug level if all of them are usual. `something` names what contained them. */
export const log = (something: string, all: ReadonlyArray<IgnoredItem>): Effect.Effect<void> => {
  if (all.length === 0) return Effect.void
  const times = new Map<string, number>()
  for (const { what } of all) times.set(what, (times.get(what) ?? 0) + 1)
  const listed = [...times].map(([what, count]) => count === 1 ? what : `${what} (${count} times)`).join(", ")
  const line = `ignored parts of ${something}: ${listed}`
  return all.every(({ isUsual }) => isUsual) ? Effect.logDebug(line) : Effect.logInfo(line)
}
