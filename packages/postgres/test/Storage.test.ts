import { assert, describe, it } from "@effect/vitest"
import { Storage, StoreError } from "@wac/core"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Database } from "../src/Database.ts"
import * as PoolUse from "../src/PoolUse.ts"
import * as PostgresStorage from "../src/Storage.ts"

/** A database of which only the disk matters: reads succeed, and making a table needs room. */
const database = (disk: { isFull: boolean }, lastProblem: { current: StoreError.Problem | undefined }) =>
  Layer.mock(Database, {
    lastProblem,
    pools: { steps: PoolUse.make(), statements: PoolUse.make() },
    query: (operation, { text }) =>
      text.startsWith("create")
        ? disk.isFull
          ? Effect.fail(new StoreError.StoreError({ operation, problem: "disk_full" }))
          : Effect.succeed([])
        : Effect.succeed([{ read_only: false, has_schema: true, granted: true }])
  })

describe("the storage's access", () => {
  it.effect("once a write has failed for a full disk, writes are tried, and access returns with the first success", () => {
    const disk = { isFull: true }
    const lastProblem: { current: StoreError.Problem | undefined } = { current: undefined }
    return Effect.gen(function*() {
      const storage = yield* Storage.Storage
      // nothing has failed, so nothing is tried
      assert.strictEqual(yield* storage.ping, "writable")
      lastProblem.current = "disk_full"
      for (let i = 0; i < 3; i++) {
        assert.strictEqual(yield* storage.ping, "disk_full")
        yield* TestClock.adjust("2 seconds")
      }
      disk.isFull = false
      assert.strictEqual(yield* storage.ping, "writable")
      assert.isUndefined(lastProblem.current)
    }).pipe(Effect.provide(Layer.provide(PostgresStorage.layer("a database", true), database(disk, lastProblem))))
  })
})
