import { assert, it } from "@effect/vitest"
import { MemoryStorage } from "@wac/memory"
import { StubTransport } from "@wac/testkit"
import { Context, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { ApiKeys } from "../../src/keys/ApiKeys.ts"
import { ApiKeyStore } from "../../src/keys/ApiKeyStore.ts"
import { SealedSecretStore } from "../../src/secrets/SealedSecretStore.ts"
import * as SecretRewrap from "../../src/secrets/SecretRewrap.ts"
import { type MasterKeys, Vault } from "../../src/secrets/Vault.ts"
import { StoreError } from "../../src/StoreError.ts"
import { ReceiverGuard } from "../../src/webhooks/ReceiverGuard.ts"
import { Webhooks } from "../../src/webhooks/Webhooks.ts"
import { WebhookStore } from "../../src/webhooks/WebhookStore.ts"
import { advance, settle } from "../clock.ts"
import { logged } from "../logged.ts"
import { crypto, issueKey, world } from "../world.ts"

const masterKey = (byte: number) => Redacted.make(new Uint8Array(32).fill(byte))
const [one, two] = [masterKey(1), masterKey(2)]

const storage = Layer.merge(MemoryStorage.layer, crypto)
type Shared = Layer.Success<typeof storage>

const guard = Layer.succeed(ReceiverGuard, ReceiverGuard.of({ allowInsecure: false, check: () => Effect.void }))

/** A process with its keys over the storage at hand. `stop` ends it. */
const process = Effect.fnUntraced(function*(keys: MasterKeys, options: { readonly rewrapping: boolean }) {
  const scope = yield* Scope.make()
  const background = options.rewrapping ? SecretRewrap.layer : Layer.empty
  const services = Layer.mergeAll(background, ApiKeys.layer, Webhooks.layer).pipe(
    Layer.provideMerge(Vault.layer(keys)),
    Layer.provide([guard, StubTransport.layer()])
  )
  const context = yield* Layer.buildWithScope(Layer.fresh(services), scope)
  return { context, vault: Context.get(context, Vault), stop: Scope.close(scope, Exit.void) }
})

const run = <A, E>(test: Effect.Effect<A, E, Shared>) => Effect.provide(test, storage)

/** Workspaces with API keys and webhooks, created by a process. */
const made = (by: { readonly context: Context.Context<ApiKeys | Webhooks> }, workspaces: number, keys: number) =>
  Effect.forEach(
    Array.from({ length: workspaces }),
    Effect.fnUntraced(function*() {
      const { workspace } = yield* world()
      const issued = yield* Effect.replicateEffect(issueKey(workspace.id), keys)
      const { signingSecret } = yield* Webhooks.use((webhooks) =>
        webhooks.put({
          workspaceId: workspace.id,
          url: "https://receiver.example/",
          envelope: undefined,
          eventTypes: undefined
        })
      )
      return { workspace, issued, webhookSecret: Redacted.value(signingSecret!) }
    })
  ).pipe(Effect.provideContext(by.context))

const under = (keyId: string) =>
  Effect.map(
    SealedSecretStore.use((store) => store.under(keyId, { after: null, limit: 10_000 })),
    ({ length }) => length
  )

const lastLine = "no secret is encrypted with master key"

it.effect("after a rewrap the previous master key can be removed, and every key and secret is still valid", () =>
  run(logged((lines) =>
    Effect.gen(function*() {
      const before = yield* process({ current: one }, { rewrapping: true })
      const all = yield* made(before, 3, 60)
      const token = all[1]!.issued[7]!.token
      const secrets = yield* Effect.forEach(
        all.flatMap(({ issued }) => issued),
        ({ key }) => ApiKeys.use((keys) => keys.signingSecret(key)).pipe(Effect.provideContext(before.context))
      )
      yield* before.stop
      const changing = yield* process({ current: two, previous: one }, { rewrapping: true })
      yield* settle
      yield* changing.stop
      // 180 keys, 3 webhooks and the pepper
      assert.strictEqual(yield* under(changing.vault.keyIds.previous!), 0)
      assert.strictEqual(yield* under(changing.vault.keyIds.current), 184)

      const after = yield* process({ current: two }, { rewrapping: true })
      yield* Effect.gen(function*() {
        const keys = yield* ApiKeys
        assert.strictEqual((yield* keys.authenticate(token)).key.id, all[1]!.issued[7]!.key.id)
        const store = yield* ApiKeyStore
        const opened = yield* Effect.forEach(all.flatMap(({ issued }) => issued), ({ key }) =>
          Effect.flatMap(store.findByTokenHash(key.tokenHash), (found) =>
            keys.signingSecret(found._tag === "Some" ? found.value.key : assert.fail("no key"))))
        assert.deepStrictEqual(opened, secrets)
        for (const { webhookSecret, workspace } of all) {
          const state = yield* WebhookStore.use((store) =>
            store.get(workspace.id)
          )
          const { webhook } = state._tag === "Some" ? state.value : assert.fail("no webhook")
          assert.strictEqual(yield* after.vault.open(webhook.secrets[0]!.sealed, webhook.id), webhookSecret)
        }
      }).pipe(Effect.provideContext(after.context))

      const told = lines.map(({ message }) => message)
      assert.lengthOf(told.filter((line) => line.startsWith("rewrapped 184 secrets")), 1)
      assert.lengthOf(told.filter((line) => line.startsWith(lastLine)), 1)
      for (const secret of [...secrets, token]) assert.notInclude(told.join("\n"), secret)
    })
  )))

it.effect("rewrapping continues while other processes seal under the previous key, and then reports its end once", () =>
  run(logged((lines) =>
    Effect.gen(function*() {
      const old = yield* process({ current: one, previous: two }, { rewrapping: false })
      const changing = yield* process({ current: two, previous: one }, { rewrapping: true })
      yield* settle
      const { previous } = changing.vault.keyIds
      for (let i = 0; i < 3; i++) {
        yield* made(old, 1, 2)
        assert.strictEqual(yield* under(previous!), 3)
        yield* advance(SecretRewrap.lookEvery)
        assert.strictEqual(yield* under(previous!), 0)
      }
      yield* advance("1 hour")
      const told = lines.filter(({ message }) => message.startsWith(lastLine))
      assert.lengthOf(told, 1)
      yield* old.stop
      yield* changing.stop
    })
  )))

it.effect("processes may rewrap concurrently, be interrupted and start again", () =>
  run(Effect.gen(function*() {
    const old = yield* process({ current: one }, { rewrapping: false })
    yield* made(old, 2, 150)
    const keys = { current: two, previous: one }
    for (let i = 0; i < 3; i++) {
      const short = yield* process(keys, { rewrapping: true })
      yield* Effect.yieldNow
      yield* short.stop
    }
    const several = yield* Effect.replicateEffect(process(keys, { rewrapping: true }), 4)
    yield* settle
    const [{ vault }] = several as [typeof several[number]]
    assert.strictEqual(yield* under(vault.keyIds.previous!), 0)
    assert.strictEqual(yield* under(vault.keyIds.current), 303)
    for (const { stop } of several) yield* stop
  })))

it.effect("a secret that cannot be opened stays as it is and is logged, and the rest is rewrapped", () =>
  run(logged((lines) =>
    Effect.gen(function*() {
      const old = yield* process({ current: one }, { rewrapping: false })
      const [{ issued }] = (yield* made(old, 1, 3)) as [Effect.Success<ReturnType<typeof made>>[number]]
      const broken = issued[1]!.key
      const after = { ...broken.signingSecret, ciphertext: new Uint8Array(40) }
      yield* SealedSecretStore.use((store) => store.rewrap([{ row: broken.id, before: broken.signingSecret, after }]))
      const changing = yield* process({ current: two, previous: one }, { rewrapping: true })
      yield* advance(SecretRewrap.lookEvery)
      const left = yield* SealedSecretStore.use((store) =>
        store.under(changing.vault.keyIds.previous!, { after: null, limit: 10 })
      )
      assert.deepStrictEqual(left, [{ row: broken.id, sealed: after }])
      const errors = lines.filter(({ level }) => level === "Error")
      assert.lengthOf(errors, 1)
      assert.include(errors[0]!.message, broken.id)
      assert.include(errors[0]!.message, changing.vault.keyIds.previous!)
      assert.lengthOf(lines.filter(({ message }) => message.startsWith(lastLine)), 0)
      yield* changing.stop
    })
  )))

it.effect("an unavailable storage only delays rewrapping", () =>
  run(Effect.gen(function*() {
    const old = yield* process({ current: one }, { rewrapping: false })
    yield* made(old, 1, 3)
    let away = true
    const store = yield* SealedSecretStore
    const changing = yield* process({ current: two, previous: one }, { rewrapping: true }).pipe(
      Effect.provideService(
        SealedSecretStore,
        SealedSecretStore.of({
          ...store,
          rewrap: (secrets) =>
            away ? Effect.fail(new StoreError({ operation: "SealedSecretStore.rewrap" })) : store.rewrap(secrets)
        })
      ),
      (running) => logged(() => running)
    )
    yield* settle
    const { previous } = changing.vault.keyIds
    assert.strictEqual(yield* under(previous!), 5)
    away = false
    yield* advance(SecretRewrap.lookEvery)
    assert.strictEqual(yield* under(previous!), 0)
    yield* changing.stop
  })))
