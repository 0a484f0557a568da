/**
 * Revocations over a broken connection.
 */
import { assert, it } from "@effect/vitest"
import { ApiKeyStore } from "@wac/core"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import { Fixture } from "@wac/testkit"
import { Effect, Layer, Redacted } from "effect"
import { PostgresStorage } from "../../src/index.ts"
import { freshDatabase } from "../servers.ts"

it.live("a listener whose connection was cut is notified that it may have missed some, and receives the next revocation", () =>
  Effect.gen(function*() {
    const url = yield* freshDatabase()
    const proxy = yield* Effect.acquireRelease(
      Effect.promise(() => PostgresProxy.start(Redacted.value(url))),
      ({ close }) => Effect.sync(close)
    )
    const storage = (url: Redacted.Redacted) =>
      Layer.build(
        Layer.fresh(Layer.provide(PostgresStorage.layerServer({ url, maxConnections: 2 }), Fixture.timeOfAsker))
      )
    const here = yield* storage(url)
    const behind = yield* storage(Redacted.make(proxy.url))
    yield* Effect.gen(function*() {
      const { key, start, workspace } = yield* Fixture.world()
      const [missed, next] = yield* Effect.replicateEffect(Fixture.issuedKey(workspace.id, start), 2)
      const store = yield* ApiKeyStore.ApiKeyStore
      const heard = yield* Effect.provideContext(
        Effect.flatMap(ApiKeyStore.ApiKeyStore, ({ revocations }) => revocations),
        behind
      )
      assert.isNull(yield* heard)
      yield* store.revoke(workspace.id, key.id, start)
      assert.strictEqual(yield* heard, key.id)

      const refused = proxy.refuse()
      yield* store.revoke(workspace.id, missed!.id, start)
      yield* Effect.promise(() => refused)
      proxy.thaw()
      assert.isNull(yield* heard)
      yield* store.revoke(workspace.id, next!.id, start)
      assert.strictEqual(yield* heard, next!.id)
    }).pipe(Effect.provideContext(here), Effect.provide(Fixture.layer))
  }).pipe(Effect.scoped))
