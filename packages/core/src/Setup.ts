/**
 * The first workspace and its owner (contract §5): by a one-time link that the log shows, or from the environment.
 */
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import { Mac, SecureRandom } from "effect/crypto"
import * as Base62 from "./Base62.ts"
import { type ServerError, Unauthorized } from "./Errors.ts"
import * as Id from "./Id.ts"
import { normalizeEmail } from "./LocalAuthenticator.ts"
import { Passwords } from "./Password.ts"
import * as PhoneNumber from "./PhoneNumber.ts"
import { Provider, type ProviderError, toServerError } from "./Provider.ts"
import type { StoreError } from "./StoreError.ts"
import { Templates } from "./Templates.ts"
import { WorkspaceStore } from "./WorkspaceStore.ts"

/** Who owns the first workspace, and its name. */
export interface Owner {
  readonly email: string
  readonly password: Redacted.Redacted
  readonly workspaceName: string
}

/** There is a workspace already. */
export class AlreadySetUp extends Schema.TaggedError<AlreadySetUp>()("AlreadySetUp", {}) {
  override get message() {
    return "the first workspace exists already"
  }
}

/** 32 base62 characters: 190 bits. */
const tokenLength = 32

const encode = (text: string) => new TextEncoder().encode(text)

export class Setup extends Context.Service<Setup, {
  /** The one-time token of this process, while there is no workspace. */
  readonly token: Effect.Effect<Redacted.Redacted | undefined, StoreError>
  /**
   * Creates the first workspace for who brings the token; once. When the provider does not say which number it begins
   * with, nothing is made, and the token stays good.
   */
  readonly redeem: (
    token: Redacted.Redacted,
    owner: Owner
  ) => Effect.Effect<void, Unauthorized | ServerError | StoreError>
  /** Creates the first workspace without a token, for the operator who owns the environment. */
  readonly create: (owner: Owner) => Effect.Effect<void, AlreadySetUp | ProviderError | StoreError>
}>()("@wac/core/Setup") {
  static readonly layer = Layer.effect(
    Setup,
    Effect.gen(function*() {
      const workspaces = yield* WorkspaceStore
      const passwords = yield* Passwords
      const provider = yield* Provider
      const templates = yield* Templates
      const random = yield* SecureRandom.SecureRandom
      const own = yield* Base62.random(random, tokenLength)

      const create = Effect.fn("Setup.create")(function*(owner: Owner) {
        const number = yield* provider.firstNumber
        const workspaceId = yield* Id.generate(random, "ws")
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
            userId: yield* Id.generate(random, "usr"),
            workspaceId,
            email: normalizeEmail(owner.email),
            passwordHash: yield* passwords.hash(owner.password),
            role: "owner",
            createdAt
          },
          phoneNumber: PhoneNumber.fresh({
            ...number,
            id: yield* Id.generate(random, "pn"),
            workspaceId,
            isDefault: true
          })
        })
        if (!created) return yield* new AlreadySetUp()
        yield* templates.sync(workspaceId).pipe(
          Effect.catchTag("TemplatesUnavailable", (error) => Effect.logWarning(error.message))
        )
      })

      const refused = () =>
        new Unauthorized({
          reason: "invalid_credentials",
          param: "token",
          message: "the set-up link is not valid, or was used already"
        })

      const isSetUp = Effect.map(workspaces.list, (all) => all.length > 0)

      return Setup.of({
        token: Effect.map(isSetUp, (done) => done ? undefined : Redacted.make(own)),
        redeem: Effect.fn("Setup.redeem")(function*(token: Redacted.Redacted, owner: Owner) {
          if (!Mac.timingSafeEqual(encode(Redacted.value(token)), encode(own)) || (yield* isSetUp)) {
            return yield* refused()
          }
          yield* create(owner).pipe(Effect.catchTags({
            AlreadySetUp: () => Effect.fail(refused()),
            ProviderError: (error) => Effect.fail(toServerError(error))
          }))
        }),
        create
      })
    })
  )
}
