/**
 * `ApiKeyStore` in memory: each method is one synchronous step over `State`.
 */
import { ApiKey, ApiKeyStore, type Id, Idempotency, KeyedMessage, type Time } from "@wac/core"
import { Clock, Effect, Layer, Option, Queue } from "effect"
import { switchOf } from "../requests/RequestValuesStore.ts"
import { type Memory, State } from "../State.ts"

const nameOf = (workspaceId: Id.WorkspaceId, { caller, key }: ApiKeyStore.Issuance): string =>
  `${workspaceId}\n${caller ?? ""}\n${key}`

const findIssued = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  idempotency: ApiKeyStore.Issuance,
  now: Time.Instant
): ApiKeyStore.IssuedBefore | undefined => {
  const before = memory.issuances.get(nameOf(workspaceId, idempotency))
  if (before === undefined || Idempotency.isExpired(before, now)) return undefined
  return before.fingerprint === idempotency.fingerprint
    ? { _tag: "Replayed", key: memory.apiKeys.get(before.apiKeyId)! }
    : { _tag: "Conflict" }
}

const issue = (memory: Memory, key: ApiKey.ApiKey, idempotency: ApiKeyStore.Issuance): ApiKeyStore.Issued => {
  const now = memory.now(key.createdAt)
  const before = findIssued(memory, key.workspaceId, idempotency, now)
  if (before !== undefined) return before
  memory.apiKeys.set(key)
  memory.apiKeyByTokenHash.set(key.tokenHash, key.id)
  const issuance = { fingerprint: idempotency.fingerprint, apiKeyId: key.id, expiresAt: KeyedMessage.expiryFrom(now) }
  memory.issuances.set(nameOf(key.workspaceId, idempotency), issuance, now)
  return { _tag: "Created", key }
}

const findByTokenHash = (memory: Memory, tokenHash: string, asked: Time.Instant) => {
  const id = memory.apiKeyByTokenHash.get(tokenHash)
  const key = id && memory.apiKeys.get(id)
  if (key === undefined) return undefined
  const workspace = memory.workspaces.get(key.workspaceId)
  const valuesSwitch = switchOf(memory, key.workspaceId)
  return workspace && { key, workspace, valuesSwitch, at: memory.now(asked) }
}

const expiring = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  { limit, now, until, usedSince }: Parameters<ApiKeyStore.ApiKeyStore["Service"]["expiring"]>[1]
): ReadonlyArray<ApiKey.ApiKey> =>
  memory.apiKeys.all(workspaceId).filter((key) =>
    ApiKey.refusal(key, now) === undefined && key.expiresAt !== null && key.expiresAt <= until &&
    key.lastUsedAt !== null && key.lastUsedAt > usedSince
  ).sort((a, b) => a.expiresAt! - b.expiresAt! || (a.id < b.id ? -1 : 1)).slice(0, limit)

const revoke = (memory: Memory, workspaceId: Id.WorkspaceId, id: Id.ApiKeyId, now: Time.Instant) => {
  const key = memory.apiKeys.of(workspaceId, id)
  if (key === undefined) return undefined
  const revoked: ApiKey.ApiKey = { ...key, revokedAt: key.revokedAt ?? now }
  memory.apiKeys.set(revoked)
  for (const tell of memory.revocations) tell(id)
  return revoked
}

/** How many revocations a listener may fall behind. The oldest are dropped first. */
const mostPending = 256

const listen = Effect.fnUntraced(function*(memory: Memory) {
  const queue = yield* Queue.sliding<Id.ApiKeyId>(mostPending)
  const tell = (id: Id.ApiKeyId) => void Queue.offerUnsafe(queue, id)
  yield* Effect.acquireRelease(
    Effect.sync(() => memory.revocations.add(tell)),
    () => Effect.sync(() => memory.revocations.delete(tell))
  )
  return queue
})

const touch = (memory: Memory, uses: ReadonlyMap<Id.ApiKeyId, Time.Instant>): void => {
  for (const [id, at] of uses) {
    const key = memory.apiKeys.get(id)
    if (key !== undefined) memory.apiKeys.set({ ...key, lastUsedAt: Math.max(at, key.lastUsedAt ?? at) })
  }
}

export const layer = Layer.effect(
  ApiKeyStore.ApiKeyStore,
  Effect.map(State, (memory) =>
    ApiKeyStore.ApiKeyStore.of({
      issue: (key, idempotency) => Effect.sync(() => issue(memory, key, idempotency)),
      findIssued: (workspaceId, idempotency, now) =>
        Effect.sync(() => Option.fromUndefinedOr(findIssued(memory, workspaceId, idempotency, memory.now(now)))),
      findByTokenHash: (tokenHash) =>
        Effect.map(Clock.currentTimeMillis, (now) => Option.fromUndefinedOr(findByTokenHash(memory, tokenHash, now))),
      get: (workspaceId, id) => Effect.sync(() => Option.fromUndefinedOr(memory.apiKeys.of(workspaceId, id))),
      list: (workspaceId, page, now) =>
        Effect.sync(() =>
          memory.apiKeys.page(workspaceId, page, (key) => ApiKey.refusal(key, memory.now(now)) === undefined)
        ),
      expiring: (workspaceId, asked) => Effect.sync(() => expiring(memory, workspaceId, asked)),
      revoke: (workspaceId, id, now) =>
        Effect.sync(() => Option.fromUndefinedOr(revoke(memory, workspaceId, id, memory.now(now)))),
      revocations: Effect.map(listen(memory), Queue.take),
      touch: (uses) => Effect.sync(() => touch(memory, uses))
    }))
)
