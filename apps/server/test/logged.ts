/**
 * What the servers of a test write to the console.
 */
import { Console, Effect } from "effect"

/** Runs with the lines that the servers started within it have logged so far. */
export const logged = <A, E, R>(test: (lines: () => ReadonlyArray<string>) => Effect.Effect<A, E, R>) => {
  const lines: Array<string> = []
  const keep = (...words: ReadonlyArray<unknown>) => void lines.push(words.join(" "))
  return Effect.provideService(
    test(() => lines),
    Console.Console,
    { ...globalThis.console, log: keep, error: keep, warn: keep, info: keep, debug: keep }
  )
}
