/**
 * Workspaces: the tenants that own everything else.
 */
import {
  E164,
  Errors,
  Id,
  PhoneNumber,
  PhoneNumberStore,
  PlainText,
  Provider,
  SenderCredentials,
  Time,
  Workspace as Core,
  WorkspaceStore
} from "@wac/core"
import { Clock, Effect, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { CallOptions } from "../generated/Messaging.ts"
import * as Input from "../Input.ts"
import { Credentials, credentialsOf, type NumberCredentials } from "../numbers/PhoneNumbers.ts"
import type { Running } from "../Running.ts"

/** A workspace. Its id is `tenant_id` on the wire. */
export interface WorkspaceInfo {
  readonly id: string
  readonly name: string
  readonly createdAt: string
}

/** A further workspace, and the number that it sends from. */
export interface NewWorkspace {
  /** 1 to 100 characters. */
  readonly name: string
  /** In E.164 format. */
  readonly phoneNumber: string
  /** The provider's id of that number, which no other workspace may have. Defaults to the number itself. */
  readonly providerNumberId?: string
  /** The provider's id of the number's account. Defaults to the account of the first workspace's number. */
  readonly providerAccountId?: string
  /** An access token of the number's own, if the provider does not accept the configured one for it. */
  readonly credentials?: NumberCredentials
}

/** The workspaces of an instance that serves several tenants. */
export interface Workspaces {
  /** Oldest first. The first one is the default workspace. */
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<WorkspaceInfo>>
  /**
   * Creates a further workspace with its number and the number's credentials: all of them or, if it rejects with
   * `invalid_body`, nothing. Store its id with your own tenant, and pass it to `wac.workspace(id)`. If it rejects with
   * `server_error`, `no_response` or the reason of your signal, the workspace may have been created, or is created
   * later. A repeat is then refused with `invalid_body` for `providerNumberId`, because no workspace can take over
   * another's number: find the workspace with `list`, by a name that only this tenant has.
   */
  readonly create: (workspace: NewWorkspace, options?: CallOptions) => Promise<WorkspaceInfo>
}

const readWorkspace = Input.read(Schema.Struct({
  name: Core.Name,
  phoneNumber: E164.E164,
  providerNumberId: Schema.optionalKey(PlainText.between(1, 255)),
  providerAccountId: Schema.optionalKey(PlainText.between(1, 255)),
  credentials: Schema.optionalKey(Credentials)
}))

const shown = ({ createdAt, id, name }: Core.Workspace): WorkspaceInfo => ({ id, name, createdAt: Time.iso(createdAt) })

/** Creates workspaces whose number has no settings or reports yet. */
const creating = Effect.gen(function*() {
  const store = yield* WorkspaceStore.WorkspaceStore
  const { name: provider } = yield* Provider.Provider
  const own = yield* SenderCredentials.SenderCredentials
  const random = yield* SecureRandom.SecureRandom

  return Effect.fnUntraced(function*(
    name: string,
    number: PhoneNumber.ProviderNumber,
    given?: SenderCredentials.Credentials
  ) {
    const workspace: Core.Workspace = {
      id: yield* Id.generate(random, "ws"),
      name,
      createdAt: yield* Clock.currentTimeMillis,
      tier: null,
      monthlyQuota: null,
      suspended: false
    }
    const phoneNumber = PhoneNumber.fresh({
      ...number,
      id: yield* Id.generate(random, "pn"),
      workspaceId: workspace.id,
      provider,
      isDefault: true
    })
    const credentials = given && (yield* own.seal(phoneNumber.id, given))
    yield* store.create({ workspace, phoneNumber, credentials })
    return workspace
  })
})

/**
 * The first workspace. If there is none, one is created with this name and the provider's number; its templates are not
 * listed here.
 */
export const first = Effect.fnUntraced(function*(name: string) {
  const store = yield* WorkspaceStore.WorkspaceStore
  const provider = yield* Provider.Provider
  const create = yield* creating
  const [present] = yield* store.list
  if (present !== undefined) return present
  return yield* Effect.catch(
    create(name, yield* provider.firstNumber),
    // processes may start at the same time: the number is unique, so another process has created the workspace
    (error) => Effect.flatMap(store.list, ([made]) => made === undefined ? Effect.fail(error) : Effect.succeed(made))
  )
})

/** Fails if a workspace does not exist. */
export const finding = Effect.map(WorkspaceStore.WorkspaceStore, (store) =>
  Effect.fnUntraced(function*(text: string) {
    const id = Id.parse(Id.WorkspaceId, text)
    const found = Option.isSome(id) ? yield* store.get(id.value) : Option.none()
    if (Option.isNone(found)) return yield* new Errors.NotFound({ message: "there is no such workspace" })
  }))

/**
 * Runs the operations of one workspace. The first one checks that the workspace exists; if not, they fail. `present` is
 * known to exist.
 */
export const running = (present: Id.WorkspaceId) =>
  Effect.map(finding, (find) => {
    const known = new Set<string>([present])
    return ({ run }: Running, id: string): Running => ({
      run: (operation, call) =>
        run(
          known.has(id) || call?.looksUp === true
            ? operation
            : find(id).pipe(Effect.tap(() => Effect.sync(() => known.add(id))), Effect.andThen(operation)),
          call
        )
    })
  })

export const make = Effect.gen(function*() {
  const store = yield* WorkspaceStore.WorkspaceStore
  const numbers = yield* PhoneNumberStore.PhoneNumberStore
  const provider = yield* Provider.Provider
  const create = yield* creating

  return ({ run }: Running): Workspaces => ({
    list: (options) => run(Effect.map(store.list, (all) => all.map(shown)), { options }),
    create: (workspace, options) =>
      run(
        Effect.gen(function*() {
          const { credentials, name, phoneNumber, providerNumberId = phoneNumber, ...given } = yield* readWorkspace(
            workspace
          )
          if ((yield* numbers.named({ providerNumberId })).length > 0) {
            return yield* new Errors.InvalidBody({
              reason: "invalid_field",
              param: "providerNumberId",
              message: "providerNumberId already belongs to a workspace"
            })
          }
          const providerAccountId = given.providerAccountId ?? (yield* provider.firstNumber).providerAccountId
          const learned = PhoneNumber.unlearned
          const number = { phoneNumber, providerNumberId, providerAccountId, learned }
          return shown(yield* create(name, number, credentials && credentialsOf(credentials)))
        }),
        { options }
      )
  })
})
