/**
 * What upstream told that changed nothing, because it belongs to nothing that we know.
 */
import { Effect } from "effect"

export interface PassedOver {
  /** What it is, in words that are the same for all of its kind; nothing of what is in it. */
  readonly what: string
  /** Whether it comes wherever an account is shared with others, or upstream has news: nobody has to look into it. */
  readonly isUsual: boolean
}

/** Tells in one line of the log what was passed over of something; quietly when all of it is usual. */
export const tell = (something: string, all: ReadonlyArray<PassedOver>): Effect.Effect<void> => {
  if (all.length === 0) return Effect.void
  const times = new Map<string, number>()
  for (const { what } of all) times.set(what, (times.get(what) ?? 0) + 1)
  const listed = [...times].map(([what, count]) => count === 1 ? what : `${what} (${count} times)`).join(", ")
  const line = `of ${something} was passed over: ${listed}`
  return all.every(({ isUsual }) => isUsual) ? Effect.logDebug(line) : Effect.logInfo(line)
}
