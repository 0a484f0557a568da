/**
 * The scopes of keys while processes of the version before run beside this one.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { ApiKeyStore, ApiScope } from "@wac/core"
import { Fixture } from "@wac/testkit"
import { Effect, Layer, Option } from "effect"
import * as PostgresClient from "../../src/PostgresClient.ts"
import { freshDatabase, storageIn } from "../servers.ts"

it.live("a key of the version before has the default scopes, and that version finds no scope that it does not know", () =>
  Effect.gen(function*() {
    const url = yield* freshDatabase()
    yield* Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const store = yield* ApiKeyStore.ApiKeyStore
      const { start, workspace } = yield* Fixture.world()
      const key = yield* Fixture.issuedKey(workspace.id, start, { scopes: ApiScope.all })
      assert.deepStrictEqual(yield* client`select scopes from api_keys where id = ${key.id}`, [
        { scopes: ["messages:send"] }
      ])
      // as the version before writes it
      yield* client`update api_keys set further_scopes = default where id = ${key.id}`
      assert.deepStrictEqual(
        yield* store.get(workspace.id, key.id),
        Option.some({ ...key, scopes: ApiScope.defaults })
      )
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          Layer.provide(storageIn(url, { maxConnections: 3 }), Fixture.timeOfAsker),
          PostgresClient.layer({ url, maxConnections: 1 }),
          Fixture.layer
        )
      )
    )
  }).pipe(Effect.scoped))
