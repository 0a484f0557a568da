/**
 * The service for API keys: issues, authenticates and revokes them (specification §4 *Internal endpoints* and §5,
 * contract §5). Caches looked-up keys in memory and writes through `ApiKeyStore`.
 */
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Option, Redacted } from "effect"
import { Digest, SecureRandom } from "effect/crypto"
import * as Elapsed from "../Elapsed.ts"
import { IdempotencyConflict, InvalidBody, type NotFound, ServerError, Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import { fingerprint, type IdempotencyKey } from "../Idempotency.ts"
import * as Lookup from "../Lookup.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import type { Page, PageRequest } from "../Page.ts"
import * as Recorder from "../Recorder.ts"
import * as RepeatedFailure from "../RepeatedFailure.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { ValuesSwitch } from "../workspaces/ValuesSwitch.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import * as ApiKey from "./ApiKey.ts"
import { ApiKeyStore, type Issuance, type IssuedBefore } from "./ApiKeyStore.ts"
import * as ApiScope from "./ApiScope.ts"
import * as KeyBinding from "./KeyBinding.ts"
import * as Signature from "./Signature.ts"

/** An authenticated caller of the public API. */
export interface Principal {
  readonly key: ApiKey.ApiKey
  readonly workspace: Workspace
  /** The workspace's switch for recording the values of its requests; `null` if it is off. */
  readonly valuesSwitch: ValuesSwitch | null
}

/**
 * Called with the principal of each request's key, even if the request is then refused because the key is revoked,
 * expired or bound to other networks. The HTTP layer sets it to record requests; by default it does nothing.
 */
export const PrincipalObserver = Context.Reference<(principal: Principal) => void>(
  "@wac/core/keys/ApiKeys/PrincipalObserver",
  { defaultValue: () => () => {} }
)

/** The properties of a new key. */
export interface IssueKey {
  readonly workspaceId: Id.WorkspaceId
  readonly name: string
  readonly expiresAt: Instant | null
  readonly requireSignature: boolean
  /**
   * The scopes that the caller asked for. `messages:send` is always added. If `undefined`, the key gets
   * `ApiScope.defaults`.
   */
  readonly scopes: ReadonlyArray<ApiScope.ApiScope> | undefined
  /** The ids of the only numbers that the key may send from, all in the workspace; if omitted, all numbers. */
  readonly phoneNumberIds?: ReadonlyArray<string> | undefined
  /** The only networks that the key may be used from (`KeyBinding.networkIssue`); anywhere if omitted. */
  readonly allowedCidrs?: ReadonlyArray<string> | undefined
  /** The person or program that makes the request. Idempotency keys of different callers are different keys. */
  readonly caller: string
  readonly idempotencyKey: IdempotencyKey
}

/** The result of issuing a key. Its two secrets are returned only once, with `replayed: false`. */
export interface IssuedKey {
  readonly key: ApiKey.ApiKey
  readonly replayed: boolean
  readonly secrets: { readonly token: Redacted.Redacted; readonly signingSecret: Redacted.Redacted } | null
}

/**
 * How long a cached key is trusted without asking the storage, counted from the start of the lookup, which may take
 * seconds. If every hint is lost, this limits how long a key that was revoked elsewhere still works. The contract (§5)
 * promises 2 s; the difference allows for a process that is slow to be scheduled.
 */
export const cacheFor = Duration.millis(1500)

/** How long a revocation is remembered: longer than any lookup that started before it. */
const revokedFor = Duration.minutes(1)

/** The capacity of the key cache. A miss costs one indexed read. */
const cacheCapacity = 10_000

/** How often the times of last use are written together, well within the 60 s that the contract promises. */
const touchEvery = Duration.seconds(20)

const notVerifiable = () =>
  new ServerError({ reason: "internal", message: "the request's signature cannot be checked at the moment" })

const lookUp = <E>(text: string, get: (id: Id.ApiKeyId) => Effect.Effect<Option.Option<ApiKey.ApiKey>, E>) =>
  Lookup.find("API key", Id.parse(Id.ApiKeyId, text), get)

export class ApiKeys extends Context.Service<ApiKeys, {
  /**
   * Issues a key, once for each idempotency key of the caller. A repeated request gets the same key without its
   * secrets.
   */
  readonly issue: (command: IssueKey) => Effect.Effect<IssuedKey, InvalidBody | IdempotencyConflict | StoreError>
  /**
   * Authenticates a token, which a client with this address (if known) used, and records the use. A key that is bound
   * to other networks is refused like a key that does not exist. A key revoked through this service is refused
   * immediately. A key revoked elsewhere is refused as soon as the store reports it, and within {@link cacheFor} if the
   * store never does; *accept* checks the key itself.
   */
  readonly authenticate: (
    token: string | undefined,
    client?: string
  ) => Effect.Effect<Principal, Unauthorized | StoreError>
  /** The secret that signs the key's requests. Fails if no configured master key opens it, which is a server error. */
  readonly signingSecret: (key: ApiKey.ApiKey) => Effect.Effect<string, ServerError>
  readonly get: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<ApiKey.ApiKey, NotFound | StoreError>
  /** Active keys, newest first. */
  readonly list: (workspaceId: Id.WorkspaceId, page: PageRequest) => Effect.Effect<Page<ApiKey.ApiKey>, StoreError>
  /** Revokes a key. Has no effect on a revoked key. */
  readonly revoke: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<void, NotFound | StoreError>
}>()("@wac/core/keys/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function*() {
      const store = yield* ApiKeyStore
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom
      const digest = yield* Digest.Digest
      const numbers = yield* PhoneNumberStore

      /** For how many more milliseconds a lookup that started at `askedAt` is trusted. */
      const believedFor = (askedAt: number, now: number) => Math.max(0, Duration.toMillis(cacheFor) - (now - askedAt))

      // keyed by the token itself, which every request carries: its HMAC costs more than the rest of authentication
      const remembered = yield* Cache.makeWith(
        Effect.fnUntraced(function*(token: string) {
          const askedAt = yield* Elapsed.now
          const found = yield* store.findByTokenHash(yield* vault.fingerprint(token))
          const answeredAt = yield* Elapsed.now
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

      /** Finds a token's key through the cache, in a lookup that started at most {@link cacheFor} ago. */
      const find = (token: string, now: number) =>
        Effect.flatMap(Cache.get(remembered, token), (first) =>
          // if the lookup is no longer trusted, it took long or the cache's clock was set back; the next one starts now
          // or later
          believedFor(first.askedAt, now) > 0
            ? Effect.succeed(first)
            : Effect.andThen(Cache.invalidate(remembered, token), Cache.get(remembered, token)))

      // a lookup that started before a revocation may end after it, so revocations are remembered for longer than any
      // lookup
      const revoked = new Map<Id.ApiKeyId, Instant>()
      const noteRevoked = (id: Id.ApiKeyId, now: Instant) => {
        for (const [other, at] of revoked) {
          if (at > now - Duration.toMillis(revokedFor)) break
          revoked.delete(other)
        }
        // inserted again, so that the map stays in the order of time
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
          // uses that could not be written wait for the next round
          Effect.onError(() => Effect.sync(() => batch.forEach((at, id) => uses.has(id) || uses.set(id, at))))
        )
      }).pipe(
        RepeatedFailure.watch("recording the uses of keys"),
        Effect.ignoreCause
      )
      const flushes = yield* Recorder.Flushes
      flushes?.push(touch)
      yield* Effect.addFinalizer(() => touch)
      yield* touch.pipe(Effect.delay(touchEvery), Effect.forever, Effect.forkScoped)

      const answered = (before: IssuedBefore): Effect.Effect<IssuedKey, IdempotencyConflict> =>
        before._tag === "Replayed"
          ? Effect.succeed({ key: before.key, replayed: true, secrets: null })
          : Effect.fail(
            new IdempotencyConflict({
              reason: "payload_mismatch",
              message: "the Idempotency-Key was already used with a different body"
            })
          )

      /** The error for a key that would have expired already, or whose numbers the workspace does not have. */
      const refusalOf = Effect.fnUntraced(function*(
        { expiresAt, phoneNumberIds, workspaceId }: IssueKey,
        now: Instant
      ) {
        if (expiresAt !== null && expiresAt <= now) {
          return new InvalidBody({
            reason: "invalid_field",
            param: "expiresAt",
            message: "expiresAt must be in the future"
          })
        }
        if (phoneNumberIds === undefined) return undefined
        const own = yield* numbers.list(workspaceId)
        const strange = phoneNumberIds.findIndex((id) => !own.some((number) => number.id === id))
        return strange < 0 ? undefined : new InvalidBody({
          reason: "invalid_field",
          param: `phoneNumberIds[${strange}]`,
          message: "the workspace has no phone number with this id"
        })
      })

      const issue = Effect.fn("ApiKeys.issue")(function*(command: IssueKey) {
        const now = yield* Clock.currentTimeMillis
        const scopes = ApiScope.granted(command.scopes)
        const binding: KeyBinding.KeyBinding = {
          // each once, in a fixed order
          phoneNumberIds: command.phoneNumberIds === undefined
            ? null
            : [...new Set(command.phoneNumberIds as ReadonlyArray<Id.PhoneNumberId>)].sort(),
          allowedCidrs: command.allowedCidrs === undefined ? null : KeyBinding.networksOf(command.allowedCidrs)
        }
        const idempotency: Issuance = {
          key: command.idempotencyKey,
          caller: command.caller,
          fingerprint: yield* fingerprint(digest, {
            name: command.name,
            expiresAt: command.expiresAt,
            requireSignature: command.requireSignature,
            // defaults are omitted, so that a retry of a request to the previous version has the same fingerprint
            scopes: ApiScope.isDefault(scopes) ? undefined : scopes,
            phoneNumberIds: binding.phoneNumberIds ?? undefined,
            allowedCidrs: binding.allowedCidrs ?? undefined
          })
        }
        const refusal = yield* refusalOf(command, now)
        if (refusal !== undefined) {
          // a key that exists is returned even if it could not be created now
          const before = yield* store.findIssued(command.workspaceId, idempotency, now)
          return yield* Option.match(before, { onNone: () => Effect.fail(refusal), onSome: answered })
        }
        const id = yield* Id.generate(random, "key")
        const token = yield* ApiKey.generateToken(random)
        const signingSecret = yield* Signature.generateSecret(random)
        const issued = yield* store.issue({
          id,
          workspaceId: command.workspaceId,
          name: command.name,
          prefix: ApiKey.prefixOf(token),
          scopes,
          ...binding,
          tokenHash: yield* vault.fingerprint(token),
          signingSecret: yield* vault.seal(signingSecret, id),
          requireSignature: command.requireSignature,
          createdAt: now,
          expiresAt: command.expiresAt,
          revokedAt: null,
          lastUsedAt: null
        }, idempotency)
        return issued._tag === "Created"
          ? {
            key: issued.key,
            replayed: false,
            secrets: { token: Redacted.make(token), signingSecret: Redacted.make(signingSecret) }
          }
          : yield* answered(issued)
      })

      const judged = (principal: Principal, now: Instant, usedAt: Instant) => {
        const { key } = principal
        const refusal = ApiKey.refusal(revoked.has(key.id) ? { ...key, revokedAt: revoked.get(key.id)! } : key, now)
        if (refusal !== undefined) return Effect.fail(refusal)
        uses.set(key.id, usedAt)
        return Effect.succeed(principal)
      }

      // every request runs this, so it takes as few steps as possible
      const authenticate = (token: string | undefined, client?: string) =>
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
            find(token, Elapsed.of(clock)),
            ({ answeredAt, found }) =>
              Option.isNone(found)
                ? Effect.fail(ApiKey.invalid())
                // the storage's time now: its time at the lookup, plus the time since then by the monotonic clock
                : Effect.flatMap(PrincipalObserver, (observe) => {
                  const { at, principal } = found.value
                  observe(principal)
                  // the refusal gives no reason, so that somebody who found the key learns nothing about it
                  if (!KeyBinding.isFrom(principal.key.allowedCidrs, client)) return Effect.fail(ApiKey.invalid())
                  return judged(
                    principal,
                    at + Math.max(0, Elapsed.of(clock) - answeredAt),
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
