import { Effect, Logger } from "effect"

/** The lines logged during a test, by level. */
export const logged = <A, E, R>(
  test: (lines: ReadonlyArray<{ readonly level: string; readonly message: string }>) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.suspend(() => {
    const lines: Array<{ readonly level: string; readonly message: string }> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      lines.push({ level: logLevel, message: String(message) })
    })
    return Effect.provide(test(lines), Logger.layer([logger]))
  })
