/**
 * A process that receives no notifications, on a database with active peers.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { DeliveryStore, Signature, Vault, WebhookScheduler } from "@wac/core"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import { Fixture, StubTransport } from "@wac/testkit"
import { Clock, Context, Deferred, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as DeliveryProcesses from "./webhooks/DeliveryProcesses.ts"

/** The sessions that listen for notifications. */
const listeners = PgClient.PgClient.use((client) =>
  client<{ pid: number }>`select pid from pg_stat_activity
    where datname = current_database() and query like 'LISTEN %' order by pid`
)

layer(DeliveryProcesses.layer, { excludeTestServices: true })("a process without notifications", (it) => {
  it.effect("a process without notifications attempts deliveries that another process recorded", () =>
    Effect.gen(function*() {
      const { url } = yield* DeliveryProcesses.Other
      const proxy = yield* Effect.acquireRelease(
        Effect.promise(() => PostgresProxy.start(Redacted.value(url))),
        (proxy) => Effect.sync(proxy.close)
      )
      const held = proxy.stopAt("LISTEN ", "sent")
      const deaf = yield* DeliveryProcesses.startProcess(Redacted.make(proxy.url))
      yield* Effect.promise(() => held)
      const others = yield* listeners

      const own = yield* Fixture.world({ start: yield* Clock.currentTimeMillis })
      yield* Fixture.putWebhook(own)
      const secret = yield* Effect.flatMap(SecureRandom.SecureRandom, Signature.generateSecret)
      const looked = yield* Deferred.make<void>()
      const store = Context.get(deaf, DeliveryStore.DeliveryStore)
      const scheduler = WebhookScheduler.layer.pipe(
        Layer.provideMerge(StubTransport.layer()),
        Layer.provide(Layer.mock(Vault.Vault, {
          keyIds: { current: "testkey1", previous: undefined },
          open: () => Effect.succeed(secret)
        })),
        Layer.provide(Layer.succeed(DeliveryStore.DeliveryStore, {
          ...store,
          claimDue: (command) => Effect.tap(store.claimDue(command), () => Deferred.succeed(looked, undefined))
        })),
        Layer.provide(SecureRandom.layerWebCrypto)
      )
      const { next } = Context.get(yield* Layer.build(scheduler), StubTransport.StubTransport)
      yield* Deferred.await(looked)
      // there was nothing before: only a poll can find this
      yield* DeliveryProcesses.record(own, { now: yield* Clock.currentTimeMillis })
      assert.include((yield* next).body, "message.received")
      assert.deepStrictEqual(yield* listeners, others)
    }))
})
