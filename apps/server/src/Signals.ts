/**
 * Handles SIGQUIT and SIGHUP, which would end the process immediately. `NodeRuntime` itself handles SIGTERM and SIGINT.
 */
import { Effect } from "effect"

/**
 * While the effect runs, SIGQUIT interrupts it, as SIGTERM does, and SIGHUP does nothing: programs that rotate logs
 * send it, and the server keeps no log file open.
 */
export const obeyed = <A, E, R>(main: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const hungUp = Effect.acquireRelease(
    Effect.sync(() => {
      const ignore = (): void => {}
      process.on("SIGHUP", ignore)
      return ignore
    }),
    (ignore) => Effect.sync(() => process.off("SIGHUP", ignore))
  )
  const quit = Effect.callback<never>((resume) => {
    const stop = (): void => resume(Effect.interrupt)
    process.once("SIGQUIT", stop)
    return Effect.sync(() => process.off("SIGQUIT", stop))
  })
  return Effect.scoped(Effect.andThen(hungUp, Effect.raceFirst(main, quit)))
}
