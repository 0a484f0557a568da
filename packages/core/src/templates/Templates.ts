/**
 * Templates: bringing the provider's list over, and listing them (specification §4 *GET /templates*).
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Id from "../Id.ts"
import { Provider, type TemplatesUnavailable } from "../messages/Provider.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import type { Page, PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Template } from "./Template.ts"
import { type TemplateFilter, TemplateStore } from "./TemplateStore.ts"

/** What a sync found. */
export interface Synced {
  /** How many templates the provider has. */
  readonly count: number
  /** When the first listing began. */
  readonly listedAt: Instant
}

export class Templates extends Context.Service<Templates, {
  /**
   * Makes the workspace's templates those that the provider lists for the accounts of its numbers: of those of other
   * providers it cannot be asked. Where it fails for one, the others are brought over all the same.
   */
  readonly sync: (workspaceId: Id.WorkspaceId) => Effect.Effect<Synced, TemplatesUnavailable | StoreError>
  /** The same for the account of one number of this provider; answers with how many templates it has. */
  readonly syncAccount: (sender: PhoneNumber) => Effect.Effect<number, TemplatesUnavailable | StoreError>
  /** Templates of every status, newest first; those of another provider's accounts are not among them. */
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
      const random = yield* SecureRandom.SecureRandom

      const syncAccount = Effect.fn("Templates.syncAccount")(function*(sender: PhoneNumber) {
        const { providerAccountId, workspaceId } = sender
        const listedAt = yield* Clock.currentTimeMillis
        const listed = yield* provider.templates(sender)
        const ids = yield* Effect.replicateEffect(Id.generate(random, "tpl"), listed.length)
        yield* store.replaceAll({ listedAt, workspaceId, providerAccountId, listed, ids })
        return listed.length
      })

      const sync = Effect.fn("Templates.sync")(function*(workspaceId: Id.WorkspaceId) {
        const listedAt = yield* Clock.currentTimeMillis
        const senders = new Map<string, PhoneNumber>()
        // the default one first: it asks for its account
        for (const sender of yield* numbers.list(workspaceId)) {
          if (sender.provider === provider.name && !senders.has(sender.providerAccountId)) {
            senders.set(sender.providerAccountId, sender)
          }
        }
        const [counts, [failure]] = yield* Effect.partition(senders.values(), syncAccount)
        if (failure !== undefined) return yield* failure
        return { count: counts.reduce((sum, count) => sum + count, 0), listedAt }
      })

      return Templates.of({
        sync,
        syncAccount,
        list: (workspaceId, filter, page) => store.list(workspaceId, { ...filter, provider: provider.name }, page)
      })
    })
  )
}
