import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Cryptography from "../../src/secrets/Cryptography.ts"
import * as MasterKeyFile from "../../src/secrets/MasterKeyFile.ts"

/** Loads the key of a directory whose data has secrets, or has none yet. */
const load = (directory: string, isUsed: boolean) =>
  MasterKeyFile.load(directory, Effect.succeed(isUsed)).pipe(
    Effect.map(Redacted.value),
    Effect.provide(Cryptography.layer)
  )

const begun = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "wac-"))),
  (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
)

describe("the master key's file", () => {
  it.effect.each([undefined, "", "\n"])(
    "a key is made where there is none (%j), and kept",
    (left) =>
      Effect.gen(function*() {
        const directory = yield* begun
        const path = join(directory, "master.key")
        if (left !== undefined) writeFileSync(path, left)
        const key = yield* load(directory, false)
        assert.lengthOf(key, 32)
        assert.deepStrictEqual(readdirSync(directory), ["master.key"])
        assert.strictEqual(statSync(path).mode & 0o777, 0o600)
        assert.deepStrictEqual(yield* load(directory, true), key)
      }).pipe(Effect.scoped)
  )

  it.effect.each([undefined, ""])("no key is made beside data that has secrets (%j)", (left) =>
    Effect.gen(function*() {
      const directory = yield* begun
      const path = join(directory, "master.key")
      if (left !== undefined) writeFileSync(path, left)
      const { message } = yield* Effect.flip(load(directory, true))
      assert.include(message, `${path}: is missing, and the secrets in the data are sealed under another master key`)
      const files = readdirSync(directory).map((name) => readFileSync(join(directory, name), "utf8"))
      assert.deepStrictEqual(files, left === undefined ? [] : [left])
    }).pipe(Effect.scoped))

  it.effect("a file that holds something else is refused, and left as it is", () =>
    Effect.gen(function*() {
      const directory = yield* begun
      const path = join(directory, "master.key")
      writeFileSync(path, "too short")
      chmodSync(path, 0o600)
      assert.include((yield* Effect.flip(load(directory, false))).message, "does not hold a master key")
      assert.strictEqual(readFileSync(path, "utf8"), "too short")
    }).pipe(Effect.scoped))
})
