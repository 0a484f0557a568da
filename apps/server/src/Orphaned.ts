/**
 * Notices when the shell is gone in which `npm start` and `npx` run the server. A signal to npm ends only the shell:
 * the server would continue without the requested graceful stop, and keep the port from the next server.
 */
import { Duration, Effect } from "effect"

/** The interval of the check, which is one system call. A person waits for the stop, so it must start soon. */
const every = Duration.seconds(1)

/** Read when the module loads, because the shell may be gone before the server is ready. */
const parent = process.ppid

/** Completes when the shell that npm started is gone; never completes if npm did not start the server. */
export const orphaned = (environment: { readonly [name: string]: string | undefined }): Effect.Effect<void> =>
  environment["npm_lifecycle_event"] === undefined
    ? Effect.never
    : Effect.repeat(Effect.sleep(every), { while: () => process.ppid === parent })
