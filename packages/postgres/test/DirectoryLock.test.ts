import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Logger } from "effect"
import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
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

/**
 * A directory with a lock that a process of this space left, which ended, and whose id another user's process has now.
 * The lock was last renewed some seconds ago.
 */
const left = Effect.fnUntraced(function*(ago: number) {
  const directory = yield* place
  const lock = join(directory, "lock")
  const holder = yield* Effect.scoped(
    Effect.andThen(DirectoryLock.hold(lock), Effect.sync(() => JSON.parse(readFileSync(lock, "utf8"))))
  )
  writeFileSync(lock, JSON.stringify({ ...holder, pid: 812, startedAt: "1" }))
  const renewedAt = (yield* Clock.currentTimeMillis) / 1000 - ago
  utimesSync(lock, renewedAt, renewedAt)
  yield* Effect.acquireRelease(
    // the tests may run as root, who may signal every process
    Effect.sync(() =>
      vi.spyOn(process, "kill").mockImplementation(() => {
        throw Object.assign(new Error("kill EPERM"), { code: "EPERM" })
      })
    ),
    (kill) => Effect.sync(() => kill.mockRestore())
  )
  return directory
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

  it.live("a lock that nobody renews is over, even if a process of another user has its holder's id", () =>
    Effect.gen(function*() {
      const directory = yield* left(16)
      yield* hold(directory)
      assert.strictEqual(JSON.parse(readFileSync(join(directory, "lock"), "utf8")).pid, process.pid)
    }).pipe(Effect.scoped))

  it.live("a lock that a process of another user renews counts", () =>
    Effect.gen(function*() {
      const directory = yield* left(3)
      assert.include((yield* Effect.flip(Effect.scoped(hold(directory)))).message, "in use by process 812")
    }).pipe(Effect.scoped))
})
