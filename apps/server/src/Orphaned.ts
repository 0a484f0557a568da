/**
 * `npm start` runs us in a shell of its own. A signal to npm ends the shell, and we would go on unheard: without the
 * graceful stop that was asked for, and on the port that the next one wants.
 */
import { Duration, Effect } from "effect"

/** A stop by signal is waited for, so within a second; the question is one system call. */
const every = Duration.seconds(1)

/** Done when the shell that npm started us in is gone; never, when it was not npm. */
export const orphaned = (environment: { readonly [name: string]: string | undefined }): Effect.Effect<void> =>
  Effect.suspend(() => {
    const { ppid } = process
    return environment["npm_lifecycle_event"] === undefined
      ? Effect.never
      : Effect.repeat(Effect.sleep(every), { while: () => process.ppid === ppid })
  })
