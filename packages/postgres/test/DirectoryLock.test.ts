import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as DirectoryLock from "../src/DirectoryLock.ts"

/** A place for directories that are locked. */
const place = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "wac-lock-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true, force: true }))
)

/** A locked directory in a place of its own. */
const locked = Effect.gen(function*() {
  const within = yield* place
  const original = mkdtempSync(join(within, "original-"))
  yield* DirectoryLock.hold(join(original, "lock"))
  return { within, original, copy: join(within, "copy") }
})

const hold = (directory: string) => DirectoryLock.hold(join(directory, "lock"))

describe("the lock of a directory that is in use", () => {
  it.live("a copy can be used while the original is, and is in use itself from then on", () => {
    const logged: Array<string> = []
    return Effect.gen(function*() {
      const { copy, original } = yield* locked
      cpSync(original, copy, { recursive: true, preserveTimestamps: true })
      yield* hold(copy)
      assert.lengthOf(logged, 1)
      assert.include(logged[0], `${join(copy, "lock")} was copied along with the database`)
      for (const directory of [original, copy]) {
        assert.include((yield* Effect.flip(Effect.scoped(hold(directory)))).message, `in use by process ${process.pid}`)
      }
    }).pipe(
      Effect.scoped,
      Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]))
    )
  })

  it.live("a directory that is renamed is still in use", () =>
    Effect.gen(function*() {
      const { original, within } = yield* locked
      const renamed = join(within, "renamed")
      renameSync(original, renamed)
      assert.include((yield* Effect.flip(Effect.scoped(hold(renamed)))).message, "in use")
    }).pipe(Effect.scoped))

  it.live("a lock of an earlier version, which does not name its directory, counts wherever it is", () =>
    Effect.gen(function*() {
      const { copy, original } = yield* locked
      cpSync(original, copy, { recursive: true })
      const { directory, ...earlier } = JSON.parse(readFileSync(join(copy, "lock"), "utf8"))
      assert.isString(directory)
      writeFileSync(join(copy, "lock"), JSON.stringify(earlier))
      assert.include((yield* Effect.flip(Effect.scoped(hold(copy)))).message, "in use")
    }).pipe(Effect.scoped))
})
