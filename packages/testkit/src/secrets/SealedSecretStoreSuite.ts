/**
 * Conformance of `SealedSecretStore`: how secrets under a master key are found, and sealed again under another.
 */
import { assert } from "@effect/vitest"
import { ApiKeyStore, PepperStore, PhoneNumberStore, type Sealed, SealedSecretStore, WebhookStore } from "@wac/core"
import { Effect, Option } from "effect"
import * as Fixture from "../Fixture.ts"

const { day, world } = Fixture

/** A unique master key id. */
const freshKeyId = Effect.map(Fixture.word, (word) => `key-${word}`)

const sealed = (keyId: string, mark: number): Sealed.Sealed => ({ ...Fixture.sealed(mark), keyId })

/** API keys (one of them revoked), a number, and a webhook during a rotation, all under one master key. */
const underOne = Effect.gen(function*() {
  const keyId = yield* freshKeyId
  const own = yield* world()
  const keys = yield* Effect.forEach(
    [1, 2, 3],
    (mark) => Fixture.issuedKey(own.workspace.id, own.start, { signingSecret: sealed(keyId, mark) })
  )
  yield* ApiKeyStore.ApiKeyStore.use((store) => store.revoke(own.workspace.id, keys[1]!.id, own.start))
  const webhook = yield* Fixture.putWebhook(own, {
    secrets: [
      { sealed: sealed(keyId, 4), expiresAt: null },
      { sealed: sealed(keyId, 5), expiresAt: own.start + day }
    ]
  })
  const credentials = {
    version: yield* Fixture.word,
    accessToken: sealed(keyId, 6),
    baseUrl: "https://graph.example",
    apiVersion: "v26.0"
  }
  yield* PhoneNumberStore.PhoneNumberStore.use((store) =>
    store.setCredentials({ now: own.start, id: own.number.id, credentials })
  )
  return { keyId, own, keys, webhook, credentials }
})

const all = (keyId: string) =>
  SealedSecretStore.SealedSecretStore.use((store) => store.under(keyId, { after: null, limit: 100 }))

const currentSecrets = ({ workspace }: Fixture.World) =>
  WebhookStore.WebhookStore.use((store) => store.get(workspace.id)).pipe(
    Effect.map((state) => Option.getOrThrow(state).webhook.secrets)
  )

const currentCredentials = ({ number }: Fixture.World) =>
  PhoneNumberStore.PhoneNumberStore.use((store) => store.credentials(number.id)).pipe(Effect.map(Option.getOrThrow))

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("under finds all secrets under a master key, of every kind of row, and no others", () =>
    Effect.gen(function*() {
      const { credentials, keyId, keys, own, webhook } = yield* underOne
      yield* Fixture.issuedKey(own.workspace.id, own.start, { signingSecret: sealed(yield* freshKeyId, 7) })
      const found = yield* all(keyId)
      assert.sameDeepMembers([...found], [
        ...keys.map(({ id, signingSecret }) => ({ row: id, sealed: signingSecret })),
        { row: own.number.id, sealed: credentials.accessToken },
        ...webhook.secrets.map(({ sealed }) => ({ row: webhook.id, sealed }))
      ])
      assert.deepStrictEqual(found.map(({ row }) => row), found.map(({ row }) => row).sort())
      assert.deepStrictEqual(yield* all(yield* freshKeyId), [])
    }))

  it.effect("keyIds has each master key under which a secret of any kind of row is sealed, once, and no other", () =>
    Effect.gen(function*() {
      const { keyId, own } = yield* underOne
      const { keyIds, rewrap } = yield* SealedSecretStore.SealedSecretStore
      const ofKey = yield* freshKeyId
      yield* Fixture.issuedKey(own.workspace.id, own.start, { signingSecret: sealed(ofKey, 7) })
      const found = yield* keyIds
      assert.includeMembers([...found], [keyId, ofKey])
      assert.lengthOf(new Set(found), found.length)
      for (const { row, sealed: before } of yield* all(keyId)) {
        const [alone, next] = [yield* freshKeyId, yield* freshKeyId]
        yield* rewrap([{ row, before, after: sealed(alone, 8) }])
        assert.include(yield* keyIds, alone)
        yield* rewrap([{ row, before: sealed(alone, 8), after: sealed(next, 9) }])
        assert.notInclude(yield* keyIds, alone)
      }
      assert.notInclude(yield* keyIds, keyId)
    }))

  it.effect("under pages over rows without gap or repetition, and keeps a webhook's secrets together", () =>
    Effect.gen(function*() {
      const { keyId, keys, own, webhook } = yield* underOne
      const store = yield* SealedSecretStore.SealedSecretStore
      const rows: Array<ReadonlyArray<string>> = []
      let after: SealedSecretStore.SecretRow | null = null
      while (rows.length < 10) {
        const page: ReadonlyArray<SealedSecretStore.SealedSecret> = yield* store.under(keyId, { after, limit: 2 })
        if (page.length === 0) break
        rows.push(page.map(({ row }) => row))
        after = page.at(-1)!.row
      }
      const ids = keys.map(({ id }) => id)
      assert.deepStrictEqual(rows, [[ids[0]!, ids[1]!], [ids[2]!, own.number.id], [webhook.id, webhook.id]])
      for (const [after, rows] of [[ids[2]!, [own.number.id]], [own.number.id, [webhook.id, webhook.id]]] as const) {
        assert.deepStrictEqual((yield* store.under(keyId, { after, limit: 1 })).map(({ row }) => row), [...rows])
      }
    }))

  it.effect("rewrap replaces a secret and nothing else of its row", () =>
    Effect.gen(function*() {
      const { credentials, keyId, keys, own, webhook } = yield* underOne
      const store = yield* SealedSecretStore.SealedSecretStore
      const next = yield* freshKeyId
      const changes = (yield* all(keyId)).map(({ row, sealed: before }, i) => ({
        row,
        before,
        after: sealed(next, 20 + i)
      }))
      assert.strictEqual(yield* store.rewrap(changes), 6)
      assert.deepStrictEqual(yield* all(keyId), [])
      assert.sameDeepMembers([...(yield* all(next))], changes.map(({ after, row }) => ({ row, sealed: after })))
      for (const [i, key] of keys.entries()) {
        assert.deepStrictEqual(
          yield* Fixture.foundByTokenHash(key),
          Option.some({
            workspace: own.workspace,
            key: {
              ...key,
              revokedAt: i === 1 ? own.start : null,
              signingSecret: changes.find(({ row }) => row === key.id)!.after
            }
          })
        )
      }
      const after = new Map(changes.map((change) => [change.before.nonce[0], change.after]))
      assert.deepStrictEqual(
        yield* currentSecrets(own),
        webhook.secrets.map(({ expiresAt, sealed }) => ({ sealed: after.get(sealed.nonce[0])!, expiresAt }))
      )
      assert.deepStrictEqual(
        yield* currentCredentials(own),
        { ...credentials, accessToken: after.get(credentials.accessToken.nonce[0])! }
      )
      // repeating it changes nothing
      assert.strictEqual(yield* store.rewrap(changes), 0)
      assert.strictEqual(yield* store.rewrap([]), 0)
    }))

  it.effect("rewrap leaves secrets alone that were removed or replaced meanwhile", () =>
    Effect.gen(function*() {
      const { keyId, keys: [key], own, webhook } = yield* underOne
      const store = yield* SealedSecretStore.SealedSecretStore
      const [next, later] = [yield* freshKeyId, yield* freshKeyId]
      const [before, rotated] = [key!.signingSecret, sealed(keyId, 9)]
      assert.strictEqual(yield* store.rewrap([{ row: key!.id, before, after: rotated }]), 1)
      assert.strictEqual(yield* store.rewrap([{ row: key!.id, before, after: sealed(next, 10) }]), 0)
      assert.deepInclude(yield* all(keyId), { row: key!.id, sealed: rotated })

      yield* WebhookStore.WebhookStore.use((webhooks) => webhooks.remove(own.workspace.id, own.start))
      const another = yield* Fixture.putWebhook(own, {
        secrets: [{ sealed: webhook.secrets[0]!.sealed, expiresAt: null }]
      })
      const change = { before: webhook.secrets[0]!.sealed, after: sealed(later, 11) }
      assert.strictEqual(yield* store.rewrap([{ ...change, row: webhook.id }]), 0)
      assert.deepStrictEqual((yield* currentSecrets(own))[0]!.sealed, another.secrets[0]!.sealed)
      assert.strictEqual(yield* store.rewrap([{ ...change, row: another.id }]), 1)
    }))

  it.effect("concurrent new credentials win over rewrap", () =>
    Effect.gen(function*() {
      const store = yield* SealedSecretStore.SealedSecretStore
      for (let i = 0; i < 10; i++) {
        const { credentials, keyId, own } = yield* underOne
        const { id } = own.number
        const other = { ...credentials, version: yield* Fixture.word, accessToken: sealed(keyId, 8) }
        yield* Effect.all([
          store.rewrap([{ row: id, before: credentials.accessToken, after: sealed(yield* freshKeyId, 9) }]),
          PhoneNumberStore.PhoneNumberStore.use((store) =>
            store.setCredentials({ now: own.start, id, credentials: other })
          )
        ], { concurrency: "unbounded" })
        assert.deepStrictEqual(yield* currentCredentials(own), other)
      }
    }))

  it.effect("a rewrap and a concurrent rotation leave both secrets complete, the new one first", () =>
    Effect.gen(function*() {
      const store = yield* SealedSecretStore.SealedSecretStore
      const webhooks = yield* WebhookStore.WebhookStore
      for (let i = 0; i < 10; i++) {
        const [keyId, next] = [yield* freshKeyId, yield* freshKeyId]
        const own = yield* world()
        const [before, after, fresh] = [sealed(keyId, 1), sealed(next, 2), sealed(next, 3)]
        const { id } = yield* Fixture.putWebhook(own, { secrets: [{ sealed: before, expiresAt: null }] })
        const previousExpiresAt = own.start + day
        const rotation = { workspaceId: own.workspace.id, webhookId: id, previousExpiresAt, now: own.start }
        const [replaced] = yield* Effect.all(
          [store.rewrap([{ row: id, before, after }]), webhooks.rotateSecret({ ...rotation, secret: fresh })],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(yield* currentSecrets(own), [
          { sealed: fresh, expiresAt: null },
          { sealed: replaced === 1 ? after : before, expiresAt: previousExpiresAt }
        ])
        // a secret that a rotation moved first can be rewrapped at its new position
        assert.strictEqual(yield* store.rewrap([{ row: id, before, after }]), 1 - replaced)
      }
    }))

  it.effect("if processes rewrap the same secrets concurrently, each secret is replaced once", () =>
    Effect.gen(function*() {
      const { keyId, own } = yield* underOne
      const store = yield* SealedSecretStore.SealedSecretStore
      yield* Effect.forEach(
        Array.from({ length: 30 }, (_, i) => i),
        (i) => Fixture.issuedKey(own.workspace.id, own.start, { signingSecret: sealed(keyId, 30 + i) })
      )
      const found = yield* all(keyId)
      const nexts = yield* Effect.replicateEffect(freshKeyId, 8)
      const counts = yield* Effect.forEach(nexts, (next, i) => {
        const changes = found.map(({ row, sealed: before }, j) => ({ row, before, after: sealed(next, i * 40 + j) }))
        return store.rewrap(i % 2 === 0 ? changes : changes.reverse())
      }, { concurrency: "unbounded" })
      assert.strictEqual(counts.reduce((sum, count) => sum + count), found.length)
      assert.deepStrictEqual(yield* all(keyId), [])
      const kept = yield* Effect.forEach(nexts, all)
      assert.deepStrictEqual(kept.map(({ length }) => length), counts)
    }))
}

/** Registers the tests that need a storage without a pepper. */
export const testsOfEmpty = (it: Fixture.It): void => {
  it.effect("under finds the pepper too", () =>
    Effect.gen(function*() {
      const peppers = yield* PepperStore.PepperStore
      const store = yield* SealedSecretStore.SealedSecretStore
      const before = yield* peppers.adopt(Fixture.sealed(1))
      const after = sealed(yield* freshKeyId, 2)
      assert.deepInclude(yield* all(before.keyId), { row: "pepper", sealed: before })
      assert.include(yield* store.keyIds, before.keyId)
      assert.strictEqual(yield* store.rewrap([{ row: "pepper", before: after, after: Fixture.sealed(3) }]), 0)
      assert.strictEqual(yield* store.rewrap([{ row: "pepper", before, after }]), 1)
      assert.deepStrictEqual(yield* peppers.adopt(Fixture.sealed(4)), after)
      assert.strictEqual(yield* store.rewrap([{ row: "pepper", before, after: Fixture.sealed(3) }]), 0)
      assert.deepStrictEqual(yield* all(after.keyId), [{ row: "pepper", sealed: after }])
    }))
}
