/**
 * The service for templates: synchronizes them from the provider, lists them (specification §4 *GET /templates*), and
 * creates, changes and deletes them at the provider. Writes through `TemplateStore`.
 */
import { Clock, Context, Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { type DomainError, InvalidBody, NotFound, ServerError } from "../Errors.ts"
import * as Id from "../Id.ts"
import * as Lookup from "../Lookup.ts"
import { SendableMedia } from "../media/SendableMedia.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import type { Page, PageRequest } from "../Page.ts"
import { Provider, type TemplateRefused, TemplatesUnavailable } from "../provider/Provider.ts"
import { Storage } from "../Storage.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { ProviderTemplate, Template } from "./Template.ts"
import type * as TemplateDraft from "./TemplateDraft.ts"
import { TemplateRequests } from "./TemplateRequests.ts"
import * as TemplateRules from "./TemplateRules.ts"
import * as TemplateSamples from "./TemplateSamples.ts"
import { type TemplateFilter, TemplateStore } from "./TemplateStore.ts"

/** The result of a synchronization. */
export interface Synced {
  /** How many templates the provider has. */
  readonly count: number
  /** When the first listing began. */
  readonly listedAt: Instant
}

/** How long a start waits for the first list: enough for a few thousand templates. */
export const startWaits = Duration.seconds(20)

export class Templates extends Context.Service<Templates, {
  /**
   * Makes the workspace's templates equal to the provider's lists for the accounts of its numbers. Accounts of other
   * providers cannot be listed and stay as they are. If one account fails, the others are still synchronized.
   */
  readonly sync: (workspaceId: Id.WorkspaceId) => Effect.Effect<Synced, TemplatesUnavailable | StoreError>
  /**
   * Like `sync`, but only if the workspace has no templates of this provider yet, because every send of a template
   * would be refused without them. Waits for a limited time. A failure is logged; the next `sync` lists them.
   */
  readonly syncFirst: (workspaceId: Id.WorkspaceId) => Effect.Effect<void, StoreError>
  /** Like `sync`, for the account of one number of this provider. Returns how many templates the account has. */
  readonly syncAccount: (sender: PhoneNumber) => Effect.Effect<number, TemplatesUnavailable | StoreError>
  /**
   * Creates a template in the account of a number: the workspace's default number, or the one with this id. The provider
   * reviews it and reports the result later. A wrong field is refused before the provider is asked. Files of headers are
   * uploaded to the provider first.
   */
  readonly create: (
    workspaceId: Id.WorkspaceId,
    draft: TemplateDraft.TemplateDraft,
    phoneNumberId?: string
  ) => Effect.Effect<Template, DomainError | StoreError>
  /** The template with this id, of any status, unless its account is another provider's. */
  readonly get: (workspaceId: Id.WorkspaceId, id: string) => Effect.Effect<Template, NotFound | StoreError>
  /** Changes a template, which the provider reviews again. */
  readonly edit: (
    workspaceId: Id.WorkspaceId,
    id: string,
    change: TemplateDraft.TemplateEdit
  ) => Effect.Effect<Template, DomainError | StoreError>
  /** Deletes a template, at the provider too. Templates of the same name in other languages stay. */
  readonly remove: (
    workspaceId: Id.WorkspaceId,
    id: string
  ) => Effect.Effect<Template, TemplateRefused | NotFound | StoreError>
  /** Templates of every status, newest first, except those of other providers' accounts. */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: TemplateFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Template>, StoreError>
}>()("@wac/core/templates/Templates") {
  static readonly layer = Layer.effect(
    Templates,
    Effect.gen(function*() {
      const store = yield* TemplateStore
      const numbers = yield* PhoneNumberStore
      const provider = yield* Provider
      const storage = yield* Storage
      const random = yield* SecureRandom.SecureRandom

      /** Processes compare when they asked the provider, so it is told by the clock that they share. */
      const storageTime = Effect.flatMap(Clock.currentTimeMillis, storage.now)

      const syncAccount = Effect.fn("Templates.syncAccount")(function*(sender: PhoneNumber) {
        const { providerAccountId, workspaceId } = sender
        const listedAt = yield* storageTime
        const listed = yield* provider.templates(sender)
        const ids = yield* Effect.replicateEffect(Id.generate(random, "tpl"), listed.length)
        const now = yield* Clock.currentTimeMillis
        yield* store.replaceAll({ now, listedAt, workspaceId, providerAccountId, listed, ids })
        return listed.length
      })

      const sync = Effect.fn("Templates.sync")(function*(workspaceId: Id.WorkspaceId) {
        const listedAt = yield* storageTime
        const senders = new Map<string, PhoneNumber>()
        // the default number comes first, so its credentials list its account
        for (const sender of yield* numbers.list(workspaceId)) {
          if (sender.provider === provider.name && !senders.has(sender.providerAccountId)) {
            senders.set(sender.providerAccountId, sender)
          }
        }
        const [counts, [failure]] = yield* Effect.partition(senders.values(), syncAccount)
        if (failure !== undefined) return yield* failure
        return { count: counts.reduce((sum, count) => sum + count, 0), listedAt }
      })

      const list: Templates["Service"]["list"] = (workspaceId, filter, page) =>
        store.list(workspaceId, { ...filter, provider: provider.name }, page)

      const syncFirst = Effect.fnUntraced(
        function*(workspaceId: Id.WorkspaceId) {
          const { items } = yield* list(workspaceId, {}, { limit: 1, after: null })
          if (items.length > 0) return
          yield* Effect.timeoutOrElse(sync(workspaceId), {
            duration: startWaits,
            orElse: () =>
              Effect.fail(new TemplatesUnavailable({ message: "the provider has not yet listed its templates" }))
          })
        },
        Effect.catchTag("TemplatesUnavailable", (error) => Effect.logWarning(error.message))
      )

      const requests = yield* TemplateRequests

      const editor = provider.templateEditor === undefined
        ? Effect.fail(
          new ServerError({
            reason: "provider_error",
            message: "this provider's templates cannot be changed from here"
          })
        )
        : Effect.succeed(provider.templateEditor)

      const judge = (judged: TemplateRules.Judged) => {
        const problem = TemplateRules.problemOf(judged)
        return problem === undefined ? Effect.void : Effect.fail(
          new InvalidBody({
            reason: "invalid_field",
            param: problem.param,
            message: `${problem.param} ${problem.message}`
          })
        )
      }

      const files = yield* SendableMedia

      /** Uploads each sample file once and puts the provider's handles in place. If a file is wrong, uploads none. */
      const uploaded = Effect.fnUntraced(function*(
        sender: PhoneNumber,
        components: ReadonlyArray<TemplateDraft.Component>
      ) {
        const found = yield* Effect.forEach(
          TemplateSamples.fileSamplesOf(components),
          Effect.fnUntraced(function*({ media, param, types }) {
            const id = Id.parse(Id.MediaId, media)
            const file = Option.isSome(id) ? yield* files.find(sender.workspaceId, id.value) : undefined
            const wrong = (message: string) =>
              new InvalidBody({ reason: "invalid_field", param, message: `${param} ${message}` })
            if (file === undefined) return yield* wrong("must be a file of the workspace")
            if (!types.includes(file.mimeType)) {
              return yield* wrong(`must be ${types.join(" or ")} in a header of this format`)
            }
            return [media, file] as const
          })
        )
        const handles = yield* Effect.forEach(
          new Map(found),
          ([media, file]) => Effect.map(files.sampleHandleOf(sender, file), (handle) => [media, handle] as const)
        )
        return TemplateSamples.withHandles(components, new Map(handles))
      })

      const gone = new NotFound({ message: "the workspace has no such template" })

      /** A template, and a number of its account. */
      const found = Effect.fnUntraced(function*(workspaceId: Id.WorkspaceId, id: string) {
        const template = yield* Lookup.find(
          "template",
          Id.parse(Id.TemplateId, id),
          (id) => store.get(workspaceId, id)
        )
        const sender = (yield* numbers.list(workspaceId)).find((number) =>
          number.provider === provider.name && number.providerAccountId === template.providerAccountId
        )
        return sender === undefined ? yield* gone : { sender, template }
      })

      /** Stores the template that the provider returned and requests a listing, since reports may have come earlier. */
      const kept = Effect.fnUntraced(function*(sender: PhoneNumber, at: Instant, template: ProviderTemplate) {
        const { providerAccountId, workspaceId } = sender
        const id = yield* Id.generate(random, "tpl")
        const now = yield* Clock.currentTimeMillis
        const put = yield* store.put({ now, at, workspaceId, providerAccountId, template, id })
        yield* requests.ask(providerAccountId)
        return put
      })

      const create = Effect.fn("Templates.create")(
        function*(workspaceId: Id.WorkspaceId, draft: TemplateDraft.TemplateDraft, phoneNumberId?: string) {
          const { create } = yield* editor
          yield* judge({ ...draft, parameterFormat: draft.parameterFormat ?? "positional" })
          const sender = (yield* numbers.list(workspaceId)).find((number) =>
            number.provider === provider.name && (phoneNumberId === undefined || number.id === phoneNumberId)
          )
          const noNumber = new InvalidBody({
            reason: "invalid_field",
            param: "phoneNumberId",
            message: "phoneNumberId must be a number of the workspace"
          })
          if (sender === undefined) return yield* noNumber
          const components = yield* uploaded(sender, draft.components)
          const at = yield* storageTime
          return (yield* kept(sender, at, yield* create(sender, { ...draft, components }))) ?? (yield* noNumber)
        },
        // once the provider was asked, its answer is kept even if the caller leaves
        Effect.uninterruptible
      )

      const edit = Effect.fn("Templates.edit")(
        function*(workspaceId: Id.WorkspaceId, id: string, change: TemplateDraft.TemplateEdit) {
          const { edit } = yield* editor
          const { sender, template } = yield* found(workspaceId, id)
          const { parameterFormat } = template
          const category = change.category ?? template.category
          yield* judge({ parameterFormat, ...change, category })
          const { components, ...rest } = change
          const made = components === undefined ? rest : { ...rest, components: yield* uploaded(sender, components) }
          const at = yield* storageTime
          const edited = yield* Effect.tapError(
            edit(sender, template, made),
            // the listing removes a template that the provider no longer has
            ({ reason }) => reason === "template_not_found" ? requests.ask(template.providerAccountId) : Effect.void
          )
          return (yield* kept(sender, at, edited)) ?? (yield* gone)
        },
        Effect.uninterruptible
      )

      const remove = Effect.fn("Templates.remove")(
        function*(workspaceId: Id.WorkspaceId, id: string) {
          const { remove } = yield* editor
          const { sender, template } = yield* found(workspaceId, id)
          yield* remove(sender, template)
          yield* store.remove({ workspaceId, id: template.id })
          // a listing that began before may bring it back
          yield* requests.ask(template.providerAccountId)
          return template
        },
        Effect.uninterruptible
      )

      return Templates.of({
        sync,
        syncFirst,
        create,
        edit,
        remove,
        syncAccount,
        get: Effect.fn("Templates.get")(function*(workspaceId: Id.WorkspaceId, id: string) {
          const { template } = yield* found(workspaceId, id)
          return template
        }),
        list
      })
    })
  )
}
