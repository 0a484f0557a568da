/**
 * Writes the set-up link to a file instead of the log, which many people may read (contract §8 `WAC_SETUP_FILE`).
 */
import { Setup } from "@wac/core"
import { Duration, Effect, Schedule, Schema } from "effect"
import { closeSync, fchmodSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

/** The file cannot be written. */
class SetupFileError extends Schema.TaggedError<SetupFileError>()("SetupFileError", {
  path: Schema.String,
  why: Schema.String
}) {
  override get message() {
    return `WAC_SETUP_FILE: cannot write the set-up link to ${this.path} (${this.why})`
  }
}

/** How often it is checked whether a set-up link, of this or another process, has been used. */
const every = Duration.seconds(1)

const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "unknown error"

/** Writes a new file that only this user can read. Never follows or reuses what somebody else put there. */
const write = (path: string, text: string): void => {
  rmSync(path, { force: true })
  const file = openSync(path, "wx", 0o600)
  try {
    fchmodSync(file, 0o600)
    writeSync(file, text)
  } finally {
    closeSync(file)
  }
}

/**
 * Writes the link to the file at `path` or, if omitted, to one in the temporary folder. Returns the file's path. The
 * file is removed once there is a workspace, and at the latest when the scope ends.
 */
export const keep = Effect.fnUntraced(function*(path: string | undefined, link: string) {
  const chosen = path === undefined
    ? yield* Effect.acquireRelease(
      Effect.sync(() => join(mkdtempSync(join(tmpdir(), "wac-")), "setup-link")),
      (made) => Effect.sync(() => rmSync(dirname(made), { recursive: true, force: true }))
    )
    : resolve(path)
  const remove = Effect.sync(() => rmSync(chosen, { force: true }))
  yield* Effect.acquireRelease(
    Effect.try({
      try: () => write(chosen, `${link}\n`),
      catch: (cause) => new SetupFileError({ path: chosen, why: codeOf(cause) })
    }),
    () => remove
  )
  const { isDone } = yield* Setup.Setup
  yield* Effect.orElseSucceed(isDone, () => false).pipe(
    Effect.repeat({ schedule: Schedule.spaced(every), until: (done) => done }),
    Effect.andThen(remove),
    Effect.forkScoped
  )
  return chosen
})
