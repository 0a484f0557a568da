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
import type { Instant } from "./Time.ts"

/** What a sync found. */
export interface Synced {
  /** How many templates the provider has. */
  readonly count: number
  /** When the listing began. */
  readonly listedAt: Instant
}

export class Templates extends Context.Service<Templates, {
  /** Makes the workspace's templates those that the provider lists for its default number. */
  readonly sync: (workspaceId: Id.WorkspaceId) => Effect.Effect<Synced, TemplatesUnavailable | StoreError>
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
      const numbers = yield* PhoneNumberStore
      const provider = yield* Provider
      const random = yield* SecureRandom.SecureRandom

      const sync = Effect.fn("Templates.sync")(function*(workspaceId: Id.WorkspaceId) {
        const [sender] = yield* numbers.list(workspaceId)
        const listedAt = yield* Clock.currentTimeMillis
        if (sender === undefined) return { count: 0, listedAt }
        const listed = yield* provider.templates(sender)
        yield* store.replaceAll({
          listedAt,
          workspaceId,
          listed,
          ids: yield* Effect.replicateEffect(Id.generate(random, "tpl"), listed.length)
        })
        return { count: listed.length, listedAt }
      })

      return Templates.of({ sync, list: store.list })
    })
  )
}
