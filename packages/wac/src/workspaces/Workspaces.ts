/**
 * Workspaces: the tenants, which everything else belongs to.
 */
import {
  Errors,
  Id,
  PhoneNumber,
  PhoneNumberStore,
  PlainText,
  Provider,
  SenderCredentials,
  Templates,
  Time,
  Workspace as Core,
  WorkspaceStore
} from "@wac/core"
import { Clock, Effect, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Input from "../Input.ts"
import { Credentials, credentialsOf, type NumberCredentials } from "../numbers/PhoneNumbers.ts"
import type { Running } from "../Running.ts"

/** A workspace. On the wire its id is `tenant_id`. */
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
  /** The provider's own name for that number, which no other workspace has; the number itself when left out. */
  readonly providerNumberId?: string
  /** The provider's own name for the number's account; defaults to the account of the first workspace's number. */
  readonly providerAccountId?: string
  /** An access token of the number's own, if the provider does not accept the configured one for it. */
  readonly credentials?: NumberCredentials
}

/** The workspaces of an instance, where it serves several tenants. */
export interface Workspaces {
  /** Oldest first; the first is the default one. */
  readonly list: () => Promise<ReadonlyArray<WorkspaceInfo>>
  /** Creates a further workspace. Keep its id with your own tenant, and give it to `wac.workspace(id)`. */
  readonly create: (workspace: NewWorkspace) => Promise<WorkspaceInfo>
}

const readWorkspace = Input.read(Schema.Struct({
  name: Core.Name,
  phoneNumber: PhoneNumber.E164,
  providerNumberId: Schema.optionalKey(PlainText.between(1, 255)),
  providerAccountId: Schema.optionalKey(PlainText.between(1, 255)),
  credentials: Schema.optionalKey(Credentials)
}))

const shown = ({ createdAt, id, name }: Core.Workspace): WorkspaceInfo => ({ id, name, createdAt: Time.iso(createdAt) })

/** Creates workspaces with a number that nobody set or told anything of yet. */
const creating = Effect.gen(function*() {
  const store = yield* WorkspaceStore.WorkspaceStore
  const { name: provider } = yield* Provider.Provider
  const random = yield* SecureRandom.SecureRandom

  return Effect.fnUntraced(function*(name: string, number: PhoneNumber.ProviderNumber) {
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
    yield* store.create({ workspace, phoneNumber })
    return { workspace, phoneNumber }
  })
})

const findOrCreate = Effect.fnUntraced(function*(name: string) {
  const store = yield* WorkspaceStore.WorkspaceStore
  const provider = yield* Provider.Provider
  const create = yield* creating
  const [present] = yield* store.list
  if (present !== undefined) return present
  return yield* Effect.catch(
    Effect.map(create(name, yield* provider.firstNumber), ({ workspace }) => workspace),
    // of processes that start at once, one has made it: its number is unique
    (error) => Effect.flatMap(store.list, ([made]) => made === undefined ? Effect.fail(error) : Effect.succeed(made))
  )
})

/**
 * The first workspace, with the templates that the provider has now; one of that name is created, with the provider's
 * number, if there is none.
 */
export const first = Effect.fnUntraced(function*(name: string) {
  const workspace = yield* findOrCreate(name)
  const templates = yield* Templates.Templates
  // before the first send; from then on it goes on in the background
  yield* templates.sync(workspace.id).pipe(
    Effect.catchTag("TemplatesUnavailable", (error) => Effect.logWarning(error.message))
  )
  return workspace
})

/** Carries out operations of one workspace; the first finds out that it is there. Of one that is not they fail. */
export const running = Effect.map(WorkspaceStore.WorkspaceStore, (store) => {
  const known = new Set<string>()
  const find = Effect.fnUntraced(function*(text: string) {
    const id = Id.parse(Id.WorkspaceId, text)
    const found = Option.isSome(id) ? yield* store.get(id.value) : Option.none()
    if (Option.isNone(found)) return yield* new Errors.NotFound({ message: "there is no such workspace" })
    known.add(text)
  })
  return ({ run }: Running, id: string): Running => ({
    run: (operation, requestId) => run(known.has(id) ? operation : Effect.andThen(find(id), operation), requestId)
  })
})

export const make = Effect.gen(function*() {
  const store = yield* WorkspaceStore.WorkspaceStore
  const numbers = yield* PhoneNumberStore.PhoneNumberStore
  const provider = yield* Provider.Provider
  const own = yield* SenderCredentials.SenderCredentials
  const create = yield* creating

  return ({ run }: Running): Workspaces => ({
    list: () => run(Effect.map(store.list, (all) => all.map(shown))),
    create: (workspace) =>
      run(Effect.gen(function*() {
        const { credentials, name, phoneNumber, providerNumberId = phoneNumber, ...given } = yield* readWorkspace(
          workspace
        )
        if ((yield* numbers.named({ providerNumberId })).length > 0) {
          return yield* new Errors.InvalidBody({
            reason: "invalid_field",
            param: "providerNumberId",
            message: "providerNumberId belongs to a workspace already"
          })
        }
        const providerAccountId = given.providerAccountId ?? (yield* provider.firstNumber).providerAccountId
        const learned = PhoneNumber.unlearned
        const created = yield* create(name, { phoneNumber, providerNumberId, providerAccountId, learned })
        if (credentials !== undefined) yield* own.set(created.phoneNumber.id, credentialsOf(credentials))
        return shown(created.workspace)
      }))
  })
})
