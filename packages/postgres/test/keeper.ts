/**
 * A process with an embedded database in the directory of its first argument. It writes until it is killed, and prints
 * a line for every acknowledged write: first a workspace's id, then ids of API keys.
 */
import { ApiKeyStore, Id, type Idempotency, PepperStore, PhoneNumber, WorkspaceStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { writeSync } from "node:fs"
import { PostgresStorage } from "../src/index.ts"

const say = (line: string) => Effect.sync(() => writeSync(1, `${line}\n`))

const secret = { keyId: "one", nonce: new Uint8Array(12), ciphertext: new Uint8Array(48).fill(7) }

const keep = Effect.gen(function*() {
  const random = yield* SecureRandom.SecureRandom
  const keys = yield* ApiKeyStore.ApiKeyStore
  const workspaces = yield* WorkspaceStore.WorkspaceStore
  const workspaceId = yield* Id.generate(random, "ws")
  yield* PepperStore.PepperStore.use((store) => store.adopt(secret))
  yield* workspaces.create({
    workspace: { id: workspaceId, name: "W", createdAt: 1, tier: null, monthlyQuota: null, suspended: false },
    phoneNumber: PhoneNumber.fresh({
      id: yield* Id.generate(random, "pn"),
      workspaceId,
      provider: "sandbox",
      phoneNumber: "+14155550123",
      providerNumberId: "number",
      providerAccountId: "account",
      learned: PhoneNumber.unlearned,
      isDefault: true
    })
  })
  yield* workspaces.configure(workspaceId, { tier: "scale", monthlyQuota: 5 })
  yield* say(workspaceId)
  const issue = Effect.gen(function*() {
    const id = yield* Id.generate(random, "key")
    yield* keys.issue({
      id,
      workspaceId,
      name: id,
      prefix: "wac_live_AbCd",
      scopes: ["messages:send"],
      tokenHash: id,
      signingSecret: secret,
      phoneNumberIds: null,
      allowedCidrs: null,
      requireSignature: false,
      createdAt: 1,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null
    }, { key: id as string as Idempotency.IdempotencyKey, fingerprint: id })
    yield* say(id)
  })
  return yield* Effect.forever(Effect.all([issue, issue, issue], { concurrency: "unbounded" }))
})

const storage = PostgresStorage.layerEmbedded({ directory: process.argv[2]! })
await Effect.runPromise(Effect.provide(keep, Layer.merge(storage, SecureRandom.layerWebCrypto)))
