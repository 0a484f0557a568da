/**
 * Templates: synchronizes them from the provider and lists them (specification §4 *GET /templates*). Calls the provider
 * and writes through `TemplateStore`.
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

/** The result of a synchronization. */
export interface Synced {
  /** How many templates the provider has. */
  readonly count: number
  /** When the first listing began. */
  readonly listedAt: Instant
}

export class Templates extends Context.Service<Templates, {
  /**
   * Makes the workspace's templates equal to the provider's lists for the accounts of its numbers. Accounts of other
   * providers cannot be listed and stay as they are. If one account fails, the others are still synchronized.
   */
  readonly sync: (workspaceId: Id.WorkspaceId) => Effect.Effect<Synced, TemplatesUnavailable | StoreError>
  /** Does the same for the account of one number of this provider. Returns how many templates it has. */
  readonly syncAccount: (sender: PhoneNumber) => Effect.Effect<number, TemplatesUnavailable | StoreError>
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

      return Templates.of({
        sync,
        syncAccount,
        list: (workspaceId, filter, page) => store.list(workspaceId, { ...filter, provider: provider.name }, page)
      })
    })
  )
}
