/**
 * The service that creates the first workspace and its owner (contract §5): by a one-time link in the log, or from the
 * environment.
 */
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import * as Base62 from "../Base62.ts"
import { type InvalidBody, type RateLimited, type ServerError, Unauthorized } from "../Errors.ts"
import * as Id from "../Id.ts"
import { RateLimitStore } from "../limits/RateLimitStore.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import * as EmailAddress from "../people/EmailAddress.ts"
import * as LoginLimits from "../people/LoginLimits.ts"
import { Passwords } from "../people/Password.ts"
import { Provider, type ProviderError, toServerError } from "../provider/Provider.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import { Templates } from "../templates/Templates.ts"
import { WorkspaceStore } from "./WorkspaceStore.ts"

/** The first workspace's owner, and the workspace's name. */
export interface Owner {
  readonly email: string
  readonly password: Redacted.Redacted
  readonly workspaceName: string
}

/** The first workspace, and its owner. */
export interface Created {
  readonly workspaceId: Id.WorkspaceId
  readonly userId: Id.UserId
}

/** There is already a workspace. */
export class AlreadySetUp extends Schema.TaggedError<AlreadySetUp>()("AlreadySetUp", {}) {
  override get message() {
    return "the first workspace exists already"
  }
}

/** 32 base62 characters: 190 bits. */
const tokenLength = 32

const encode = (text: string) => new TextEncoder().encode(text)

export class Setup extends Context.Service<Setup, {
  /** The one-time token, the same in every process of the installation; `undefined` once there is a workspace. */
  readonly token: Effect.Effect<Redacted.Redacted | undefined, StoreError>
  /** Whether there is a workspace. Once true, it no longer asks the storage. */
  readonly isDone: Effect.Effect<boolean, StoreError>
  /**
   * Creates the first workspace for a client with the token, once, and returns its owner. If the provider does not
   * return its first number, nothing is created and the token stays valid. Wrong tokens are limited per `address`
   * together with wrong passwords; the right token, which nobody can guess, is never limited.
   */
  readonly redeem: (
    token: Redacted.Redacted,
    owner: Owner,
    address: string
  ) => Effect.Effect<Id.UserId, InvalidBody | Unauthorized | RateLimited | ServerError | StoreError>
  /**
   * Creates the first workspace without a token, for the operator who controls the environment. Its templates are not
   * listed here, since a start lists them itself and would otherwise wait twice for a slow provider.
   */
  readonly create: (
    owner: Owner
  ) => Effect.Effect<Created, AlreadySetUp | InvalidBody | ProviderError | StoreError>
}>()("@wac/core/workspaces/Setup") {
  static readonly layer = Layer.effect(
    Setup,
    Effect.gen(function*() {
      const workspaces = yield* WorkspaceStore
      const passwords = yield* Passwords
      const provider = yield* Provider
      const templates = yield* Templates
      const limits = yield* RateLimitStore
      const random = yield* SecureRandom.SecureRandom
      const vault = yield* Vault
      // any process behind a load balancer may be asked
      const own = Base62.ofHex(yield* vault.fingerprint("set-up link"), tokenLength)

      // no workspace is ever removed, so the storage is asked only until this is true
      let done = false
      const isDone = Effect.suspend(() =>
        done ? Effect.succeed(true) : Effect.map(workspaces.list, (all) => done = all.length > 0)
      )

      const create = Effect.fn("Setup.create")(function*(owner: Owner) {
        // checked before the password's rules: an owner who exists chooses no password here
        if (yield* isDone) return yield* new AlreadySetUp()
        const email = EmailAddress.normalize(owner.email)
        const passwordHash = yield* passwords.choose(owner.password, { email, param: "password" })
        const number = yield* provider.firstNumber
        const workspaceId = yield* Id.generate(random, "ws")
        const userId = yield* Id.generate(random, "usr")
        const createdAt = yield* Clock.currentTimeMillis
        const created = yield* workspaces.createFirst({
          workspace: {
            id: workspaceId,
            name: owner.workspaceName,
            createdAt,
            tier: null,
            monthlyQuota: null,
            suspended: false
          },
          owner: {
            userId,
            workspaceId,
            email,
            passwordHash,
            role: "owner",
            createdAt
          },
          phoneNumber: PhoneNumber.fresh({
            ...number,
            id: yield* Id.generate(random, "pn"),
            workspaceId,
            provider: provider.name,
            isDefault: true
          })
        })
        if (!created) return yield* new AlreadySetUp()
        return { workspaceId, userId }
      })

      const refused = (message: string) => new Unauthorized({ reason: "invalid_credentials", param: "token", message })
      const used = () => refused("this service is already set up, and the set-up link works only once. Sign in instead")

      return Setup.of({
        token: Effect.map(isDone, (done) => done ? undefined : Redacted.make(own)),
        isDone,
        redeem: Effect.fn("Setup.redeem")(function*(token: Redacted.Redacted, owner: Owner, address: string) {
          const isRight = Mac.timingSafeEqual(encode(Redacted.value(token)), encode(own))
          if (!isRight) {
            yield* LoginLimits.spend(limits, [LoginLimits.ofAddress(address)], yield* Clock.currentTimeMillis)
          }
          if (yield* isDone) return yield* used()
          if (!isRight) {
            return yield* refused(
              "the set-up link is not valid: open the link that the service has logged at its start"
            )
          }
          const { userId, workspaceId } = yield* create(owner).pipe(Effect.catchTags({
            AlreadySetUp: () => Effect.fail(used()),
            ProviderError: (error) => Effect.fail(toServerError(error))
          }))
          yield* templates.syncFirst(workspaceId)
          return userId
        }),
        create
      })
    })
  )
}
