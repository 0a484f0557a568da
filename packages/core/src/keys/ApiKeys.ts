/**
 * API keys: issuing, authenticating, revoking (specification §4 *Internal endpoints* and §5, contract §5).
 */
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Option, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import { IdempotencyConflict, InvalidBody, type NotFound, ServerError, Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Lookup from "../Lookup.ts"
import { fingerprint, type IdempotencyKey } from "../messages/Idempotency.ts"
import type { Page, PageRequest } from "../Page.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import * as ApiKey from "./ApiKey.ts"
import { ApiKeyStore } from "./ApiKeyStore.ts"
import * as ApiScope from "./ApiScope.ts"
import * as Signature from "./Signature.ts"

/** An authenticated caller of the public API. */
export interface Principal {
  readonly key: ApiKey.ApiKey
  readonly workspace: Workspace
}

/**
 * Told whose key a request came with, even one that is refused since the key was revoked or has expired: the HTTP layer
 * sets it to record requests; elsewhere nobody listens.
 */
export const PrincipalObserver = Context.Reference<(principal: Principal) => void>(
  "@wac/core/keys/ApiKeys/PrincipalObserver",
  { defaultValue: () => () => {} }
)

/** What a new key is made of. */
export interface IssueKey {
  readonly workspaceId: Id.WorkspaceId
  readonly name: string
  readonly expiresAt: Instant | null
  readonly requireSignature: boolean
  readonly idempotencyKey: IdempotencyKey
}

/** A key that was issued; its two secrets are given once, with `replayed: false`. */
export interface IssuedKey {
  readonly key: ApiKey.ApiKey
  readonly replayed: boolean
  readonly secrets: { readonly token: Redacted.Redacted; readonly signingSecret: Redacted.Redacted } | null
}

/**
 * How long a key may be believed without asking the storage, counted from the question and not from its answer, which
 * may have taken seconds. It bounds revocation elsewhere when every hint is lost: 2 s are promised (contract §5), and
 * the rest is for a process that is slow to get its turn.
 */
export const cacheFor = Duration.millis(1500)

/** How long a revocation is remembered: longer than any look-up takes that began before it. */
const revokedFor = Duration.minutes(1)

/** Keys remembered at once; a look-up costs one indexed read. */
const cacheCapacity = 10_000

/** Times of use are written together this often, well within the promised 60 s. */
const touchEvery = Duration.seconds(20)

const notVerifiable = () =>
  new ServerError({ reason: "internal", message: "the request's signature cannot be checked at the moment" })

const lookUp = <E>(text: string, get: (id: Id.ApiKeyId) => Effect.Effect<Option.Option<ApiKey.ApiKey>, E>) =>
  Lookup.find("API key", Id.parse(Id.ApiKeyId, text), get)

export class ApiKeys extends Context.Service<ApiKeys, {
  /** Issues a key, once per idempotency key. A repetition gets the same key without its secrets. */
  readonly issue: (command: IssueKey) => Effect.Effect<IssuedKey, InvalidBody | IdempotencyConflict | StoreError>
  /**
   * The caller that a token belongs to. Notes the use. A key revoked through this service is refused at once, one
   * revoked elsewhere as soon as the store tells of it, and within {@link cacheFor} if it never does; *accept* looks at
   * the key itself.
   */
  readonly authenticate: (token: string | undefined) => Effect.Effect<Principal, Unauthorized | StoreError>
  /** The secret that signs the key's requests. Fails while no master key at hand opens it, which is our own fault. */
  readonly signingSecret: (key: ApiKey.ApiKey) => Effect.Effect<string, ServerError>
  readonly get: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<ApiKey.ApiKey, NotFound | StoreError>
  /** Active keys, newest first. */
  readonly list: (workspaceId: Id.WorkspaceId, page: PageRequest) => Effect.Effect<Page<ApiKey.ApiKey>, StoreError>
  /** Revokes a key; one that was revoked before stays so. */
  readonly revoke: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<void, NotFound | StoreError>
}>()("@wac/core/keys/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function*() {
      const store = yield* ApiKeyStore
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const digest = yield* Digest.Digest

      const monotonicOf = (clock: Clock.Clock) => Number(clock.monotonicTimeNanosUnsafe() / 1_000_000n)
      const monotonic = Effect.map(Clock.Clock, monotonicOf)
      /** Milliseconds in which what was asked at `askedAt` is still believed. */
      const believedFor = (askedAt: number, now: number) => Math.max(0, Duration.toMillis(cacheFor) - (now - askedAt))

      // by the token itself, which every request brings anyway: its HMAC costs more than all else of authenticating
      const remembered = yield* Cache.makeWith(
        Effect.fnUntraced(function*(token: string) {
          const askedAt = yield* monotonic
          const found = yield* store.findByTokenHash(yield* vault.fingerprint(token))
          const answeredAt = yield* monotonic
          return {
            found: Option.map(found, ({ at, ...principal }) => ({ principal, at })),
            askedAt,
            answeredAt,
            believedFor: believedFor(askedAt, answeredAt)
          }
        }),
        {
          capacity: cacheCapacity,
          timeToLive: (exit) =>
            Exit.isSuccess(exit) && Option.isSome(exit.value.found)
              ? Duration.millis(exit.value.believedFor)
              : Duration.zero
        }
      )

      /** What the storage says of a token, asked not longer than {@link cacheFor} before now. */
      const find = (token: string, now: number) =>
        Effect.flatMap(Cache.get(remembered, token), (first) =>
          // an answer that was long on its way, or a clock that was set back; the next question is ours, or later
          believedFor(first.askedAt, now) > 0
            ? Effect.succeed(first)
            : Effect.andThen(Cache.invalidate(remembered, token), Cache.get(remembered, token)))

      // a look-up that began before a revocation may fill the cache after it: these outlive any such entry
      const revoked = new Map<Id.ApiKeyId, Instant>()
      const noteRevoked = (id: Id.ApiKeyId, now: Instant) => {
        for (const [other, at] of revoked) {
          if (at > now - Duration.toMillis(revokedFor)) break
          revoked.delete(other)
        }
        // in the order of their times
        revoked.delete(id)
        revoked.set(id, now)
      }
      const nextRevocation = yield* store.revocations
      yield* Effect.gen(function*() {
        const id = yield* nextRevocation
        if (id === null) return yield* Cache.invalidateAll(remembered)
        noteRevoked(id, yield* Clock.currentTimeMillis)
      }).pipe(Effect.forever, Effect.forkScoped)

      const uses = new Map<Id.ApiKeyId, Instant>()

      const touch = Effect.suspend(() => {
        if (uses.size === 0) return Effect.void
        const batch = new Map(uses)
        uses.clear()
        return store.touch(batch).pipe(
          // what was not written waits for the next time
          Effect.onError(() => Effect.sync(() => batch.forEach((at, id) => uses.has(id) || uses.set(id, at))))
        )
      }).pipe(Effect.catchCause((cause) => Effect.logWarning("uses of keys could not be noted; they will be", cause)))
      yield* Effect.addFinalizer(() => touch)
      yield* touch.pipe(Effect.delay(touchEvery), Effect.forever, Effect.forkScoped)

      const issue = Effect.fn("ApiKeys.issue")(function*(command: IssueKey) {
        const now = yield* Clock.currentTimeMillis
        if (command.expiresAt !== null && command.expiresAt <= now) {
          return yield* new InvalidBody({
            reason: "invalid_field",
            param: "expiresAt",
            message: "expiresAt must be in the future"
          })
        }
        const id = yield* Id.generate(random, "key")
        const token = yield* ApiKey.generateToken(random)
        const signingSecret = yield* Signature.generateSecret(random)
        const issued = yield* store.issue({
          id,
          workspaceId: command.workspaceId,
          name: command.name,
          prefix: ApiKey.prefixOf(token),
          scopes: ApiScope.issued,
          tokenHash: yield* vault.fingerprint(token),
          signingSecret: yield* vault.seal(signingSecret, id),
          requireSignature: command.requireSignature,
          createdAt: now,
          expiresAt: command.expiresAt,
          revokedAt: null,
          lastUsedAt: null
        }, {
          key: command.idempotencyKey,
          fingerprint: yield* fingerprint(digest, {
            name: command.name,
            expiresAt: command.expiresAt,
            requireSignature: command.requireSignature
          })
        })
        switch (issued._tag) {
          case "Conflict":
            return yield* new IdempotencyConflict({
              reason: "payload_mismatch",
              message: "the Idempotency-Key was used before with another body"
            })
          case "Replayed":
            return { key: issued.key, replayed: true, secrets: null }
          case "Created":
            return {
              key: issued.key,
              replayed: false,
              secrets: { token: Redacted.make(token), signingSecret: Redacted.make(signingSecret) }
            }
        }
      })

      const judged = (principal: Principal, now: Instant, usedAt: Instant) => {
        const { key } = principal
        const refusal = ApiKey.refusal(revoked.has(key.id) ? { ...key, revokedAt: revoked.get(key.id)! } : key, now)
        if (refusal !== undefined) return Effect.fail(refusal)
        uses.set(key.id, usedAt)
        return Effect.succeed(principal)
      }

      // every request comes here: as few steps as there can be
      const authenticate = (token: string | undefined) =>
        Effect.flatMap(Clock.Clock, (clock): Effect.Effect<Principal, Unauthorized | StoreError> => {
          if (token === undefined) {
            return Effect.fail(
              new Unauthorized({
                reason: "missing_key",
                message: "an API key is required: Authorization: Bearer wac_live_…"
              })
            )
          }
          if (!ApiKey.isWellFormed(token)) return Effect.fail(ApiKey.invalid())
          return Effect.flatMap(
            find(token, monotonicOf(clock)),
            ({ answeredAt, found }) =>
              Option.isNone(found)
                ? Effect.fail(ApiKey.invalid())
                // the storage's time: what it was when it answered, and what has passed since by a clock that nobody sets
                : Effect.flatMap(PrincipalObserver, (observe) => {
                  const { at, principal } = found.value
                  observe(principal)
                  return judged(
                    principal,
                    at + Math.max(0, monotonicOf(clock) - answeredAt),
                    clock.currentTimeMillisUnsafe()
                  )
                })
          )
        })

      const get = (workspaceId: Id.WorkspaceId, text: string) => lookUp(text, (id) => store.get(workspaceId, id))

      const revoke = Effect.fn("ApiKeys.revoke")(function*(workspaceId: Id.WorkspaceId, text: string) {
        const now = yield* Clock.currentTimeMillis
        const key = yield* lookUp(text, (id) => store.revoke(workspaceId, id, now))
        noteRevoked(key.id, now)
      })

      return ApiKeys.of({
        issue,
        authenticate,
        signingSecret: (key) => Effect.mapError(vault.open(key.signingSecret, key.id), notVerifiable),
        get,
        list: (workspaceId, page) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => store.list(workspaceId, page, now)),
        revoke
      })
    })
  )
}
