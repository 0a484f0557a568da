/**
 * Templates: bringing the provider's list over, and listing them (specification §4 *GET /templates*).
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Id from "./Id.ts"
import type { Page, PageRequest } from "./Page.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import { Provider, type TemplatesUnavailable } from "./Provider.ts"
import type { StoreError } from "./StoreError.ts"
import type { Template } from "./Template.ts"
import { type TemplateFilter, TemplateStore } from "./TemplateStore.ts"
import { WorkspaceStore } from "./WorkspaceStore.ts"

export class Templates extends Context.Service<Templates, {
  /** Makes the workspace's templates those that the provider lists for its default number. */
  readonly sync: (workspaceId: Id.WorkspaceId) => Effect.Effect<void, TemplatesUnavailable | StoreError>
  /** The same for every workspace; one that fails is logged and does not stop the others. */
  readonly syncAll: Effect.Effect<void, StoreError>
  /** Templates of every status, newest first. */
  readonly list: (
    workspaceId: Id.WorkspaceId,
    filter: TemplateFilter,
    page: PageRequest
  ) => Effect.Effect<Page<Template>, StoreError>
}>()("@wac/core/Templates") {
  static readonly layer = Layer.effect(
    Templates,
    Effect.gen(function*() {
      const store = yield* TemplateStore
      const workspaces = yield* WorkspaceStore
      const numbers = yield* PhoneNumberStore
      const provider = yield* Provider
      const random = yield* SecureRandom.SecureRandom

      const sync = Effect.fn("Templates.sync")(function*(workspaceId: Id.WorkspaceId) {
        const [sender] = yield* numbers.list(workspaceId)
        if (sender === undefined) return
        const listed = yield* provider.templates(sender)
        yield* store.replaceAll({
          now: yield* Clock.currentTimeMillis,
          workspaceId,
          listed,
          ids: yield* Effect.replicateEffect(Id.generate(random, "tpl"), listed.length)
        })
      })

      const syncAll = Effect.flatMap(workspaces.list, (all) =>
        Effect.forEach(
          all,
          ({ id }) => Effect.catch(sync(id), (error) => Effect.logWarning(`templates of ${id}: ${error.message}`)),
          { discard: true }
        ))

      return Templates.of({ sync, syncAll, list: store.list })
    })
  )
}
