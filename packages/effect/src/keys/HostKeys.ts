/**
 * The API key that identifies the host's own sends. It is like other keys, except that no token opens it: its hash is
 * not an HMAC of any token (docs/decisions/0012-the-hosts-own-key.md).
 */
import {
  type ApiKey,
  ApiKeyStore,
  ApiScope,
  Id,
  Idempotency,
  KeyBinding,
  Signature,
  StoreError,
  Vault
} from "@wac/core"
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"

/** The key's name in lists. */
const name = "the application that embeds this service"
const prefix = "embedded"

/** Times of use are written at most this often, well within the promised 60 s. */
const touchEvery = Duration.seconds(20)

/** The text in the place of a token's hash. A key that is made after a revocation has the next generation. */
const markOf = (workspaceId: Id.WorkspaceId, generation: number): string => `embedded:${workspaceId}:${generation}`

interface Known {
  readonly id: Id.ApiKeyId
  touchedAt: number
}

/** Finds or creates the host's key in each workspace. */
export class HostKeys extends Context.Service<HostKeys, {
  /**
   * The host's key in a workspace, created when first needed. If somebody revokes it, the host's sends are refused as
   * with any revoked key, until the next instance finds or creates another.
   */
  readonly of: (workspaceId: Id.WorkspaceId) => Effect.Effect<Id.ApiKeyId, StoreError.StoreError>
}>()("@wac/effect/keys/HostKeys") {
  static readonly layer = Layer.effect(
    HostKeys,
    Effect.gen(function*() {
      const store = yield* ApiKeyStore.ApiKeyStore
      const vault = yield* Vault.Vault
      const random = yield* SecureRandom.SecureRandom
      const scope = yield* Effect.scope
      const known = new Map<Id.WorkspaceId, Known>()

      const issue = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, mark: string) {
        const id = yield* Id.generate(random, "key")
        const key: ApiKey.ApiKey = {
          id,
          workspaceId,
          name,
          prefix,
          scopes: ApiScope.defaults,
          ...KeyBinding.unbound,
          tokenHash: mark,
          signingSecret: yield* vault.seal(yield* Signature.generateSecret(random), id),
          requireSignature: true,
          createdAt: yield* Clock.currentTimeMillis,
          expiresAt: null,
          revokedAt: null,
          lastUsedAt: null
        }
        // if processes start at the same time, one creates the key, and the others get the same one
        const issued = yield* store.issue(key, {
          key: Idempotency.IdempotencyKey.make(mark),
          fingerprint: mark
        })
        return issued._tag === "Conflict"
          ? yield* new StoreError.StoreError({ operation: "HostKeys.issue" })
          : issued.key
      })

      const find = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId) {
        for (let generation = 1;; generation++) {
          const mark = markOf(workspaceId, generation)
          const found = yield* store.findByTokenHash(mark)
          const key = Option.isSome(found) ? found.value.key : yield* issue(workspaceId, mark)
          if (key.revokedAt === null) return key.id
        }
      })

      const touch = (key: Known, now: number) => {
        key.touchedAt = now
        return Effect.forkIn(Effect.ignore(store.touch(new Map([[key.id, now]]))), scope)
      }

      return HostKeys.of({
        of: (workspaceId) =>
          Effect.flatMap(Clock.currentTimeMillis, (now) => {
            const key = known.get(workspaceId)
            if (key === undefined) {
              return Effect.flatMap(find(workspaceId), (id) => {
                const fresh = { id, touchedAt: now }
                known.set(workspaceId, fresh)
                return Effect.as(touch(fresh, now), id)
              })
            }
            return now - key.touchedAt < Duration.toMillis(touchEvery)
              ? Effect.succeed(key.id)
              : Effect.as(touch(key, now), key.id)
          })
      })
    })
  )
}
