/**
 * The settings that a session inherits from its database or role belong to the operator. They are pinned, or no
 * statement depends on them: what is stored, read and claimed is the same under each.
 */
import { assert, describe, it } from "@effect/vitest"
import { StorageSuite } from "@wac/testkit"
import { Effect, Layer } from "effect"
import * as PostgresClient from "../src/PostgresClient.ts"
import { Sessions } from "../src/Sessions.ts"
import { freshDatabase, storageIn, withSettings } from "./servers.ts"

const unusual: Readonly<Record<string, string>> = {
  bytea_output: "escape",
  default_transaction_isolation: "repeatable read",
  DateStyle: "SQL, DMY",
  IntervalStyle: "sql_standard",
  TimeZone: "Pacific/Chatham",
  extra_float_digits: "-15",
  standard_conforming_strings: "off",
  array_nulls: "off",
  transform_null_equals: "on",
  row_security: "off",
  synchronous_commit: "off"
}

StorageSuite.suite(
  "PostgreSQL with unusual settings",
  Layer.unwrap(
    Effect.map(Effect.flatMap(freshDatabase(), (url) => withSettings(url, unusual)), (url) => storageIn(url))
  ),
  // the ports that read secrets, and those that read times and amounts
  { ports: ["ApiKeyStore", "WebhookStore", "PhoneNumberStore", "PepperStore", "SealedSecretStore", "CampaignStore"] }
)

describe("a transaction", () => {
  it.live("each statement sees what was committed before it, whatever the database's default isolation is", () =>
    Effect.gen(function*() {
      const url = yield* Effect.flatMap(freshDatabase(), (url) => withSettings(url, unusual))
      yield* Effect.gen(function*() {
        const sessions = yield* Sessions
        const isolation = { text: "show transaction_isolation" }
        const expected = [{ transaction_isolation: "read committed" }]
        const next = (rows: ReadonlyArray<unknown>) => ({ writes: [], result: rows[0] })
        assert.deepStrictEqual(yield* sessions.transaction([isolation], next), expected)
        assert.deepStrictEqual((yield* sessions.pipelined([isolation, isolation]))[1], expected)
      }).pipe(Effect.provide(PostgresClient.layer({ url })))
    }).pipe(Effect.scoped))
})
