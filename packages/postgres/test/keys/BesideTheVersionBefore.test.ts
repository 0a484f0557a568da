/**
 * Keys, their scopes and their Idempotency-Keys while processes of the version before run beside this one.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { ApiKeyStore, ApiScope, type Idempotency } from "@wac/core"
import { Fixture } from "@wac/testkit"
import { Effect, Option } from "effect"
import { storageAndClient } from "../servers.ts"

it.live("the version before, which knows no binding, finds no bound key by its token, and every other key", () =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const store = yield* ApiKeyStore.ApiKeyStore
    const { number, start, workspace } = yield* Fixture.world()
    const free = yield* Fixture.issuedKey(workspace.id, start)
    const bound = [
      yield* Fixture.issuedKey(workspace.id, start, { phoneNumberIds: [number.id] }),
      yield* Fixture.issuedKey(workspace.id, start, { allowedCidrs: ["203.0.113.0/24"] })
    ]
    /** As the version before looks a key up. */
    const found = (tokenHash: string) => client`select id from wac.api_keys where token_hash = ${tokenHash}`
    assert.deepStrictEqual(yield* found(free.tokenHash), [{ id: free.id }])
    for (const key of bound) {
      assert.deepStrictEqual(yield* found(key.tokenHash), [])
      assert.deepStrictEqual(yield* Fixture.foundByTokenHash(key), Option.some({ key, workspace }))
      // nor is the stored text the hash of another token
      assert.deepStrictEqual(yield* Fixture.foundByTokenHash({ tokenHash: "f".repeat(64) }), Option.none())
      assert.deepStrictEqual(yield* store.get(workspace.id, key.id), Option.some(key))
    }
  }).pipe(Effect.provide(storageAndClient)))

it.live("what the version before bound to an Idempotency-Key stays bound until it expires, whoever asks", () =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const store = yield* ApiKeyStore.ApiKeyStore
    const { start, workspace } = yield* Fixture.world()
    const key = yield* Fixture.issuedKey(workspace.id, start)
    // as the version before writes it
    yield* client`insert into wac.api_key_requests (workspace_id, idempotency_key, fingerprint, api_key_id, expires_at)
      values (${workspace.id}, 'k', 'one', ${key.id}, ${start + 1000})`
    const issue = (at: number, fingerprint: string) =>
      Effect.flatMap(
        Fixture.apiKey(workspace.id, at),
        (other) =>
          store.issue(other, { key: "k" as Idempotency.IdempotencyKey, fingerprint, caller: "usr_1 ana@example.com" })
      )
    assert.deepStrictEqual(yield* issue(start, "one"), { _tag: "Replayed", key })
    assert.deepStrictEqual(yield* issue(start, "two"), { _tag: "Conflict" })
    const { _tag } = yield* issue(start + 1000, "two")
    assert.strictEqual(_tag, "Created")
  }).pipe(Effect.provide(storageAndClient)))

it.live("a key of the version before has the default scopes, and that version finds no scope that it does not know", () =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const store = yield* ApiKeyStore.ApiKeyStore
    const { start, workspace } = yield* Fixture.world()
    const key = yield* Fixture.issuedKey(workspace.id, start, { scopes: ApiScope.all })
    assert.deepStrictEqual(yield* client`select scopes from wac.api_keys where id = ${key.id}`, [
      { scopes: ["messages:send"] }
    ])
    // as the version before writes it
    yield* client`update wac.api_keys set further_scopes = default where id = ${key.id}`
    assert.deepStrictEqual(
      yield* store.get(workspace.id, key.id),
      Option.some({ ...key, scopes: ApiScope.defaults })
    )
  }).pipe(Effect.provide(storageAndClient)))
