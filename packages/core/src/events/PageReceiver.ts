/**
 * A receiver that runs in an open page: the workspace's new events come to it as they would to a webhook, signed with a
 * secret that nobody else has and that ends with it. Nothing is stored for it, and nothing is tried again.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { WorkspaceId } from "../Id.ts"
import { deliveryHeaders, generateSecret } from "../keys/Signature.ts"
import type { PageRequest } from "../Page.ts"
import type { StoreError } from "../StoreError.ts"
import { body } from "./Event.ts"
import { resumeAfter } from "./Events.ts"
import { EventStore } from "./EventStore.ts"

/** An event as the page gets it: to be verified by its headers and raw body. */
export interface PageDelivery {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** A receiver of one page. */
export interface PageReceiver {
  readonly signingSecret: string
  /** What was recorded since the last time, oldest first; a page of it at most. */
  readonly next: Effect.Effect<ReadonlyArray<PageDelivery>, StoreError>
}

/** Events that one look takes. */
const limit = 25

/** Receivers of open pages: the events of a workspace from now on, each signed with the receiver's own secret. */
export class PageReceivers extends Context.Service<PageReceivers, {
  /** Begins with the events that are recorded from now on. */
  readonly open: (workspaceId: WorkspaceId) => Effect.Effect<PageReceiver, StoreError>
}>()("@wac/core/events/PageReceiver/PageReceivers") {
  static readonly layer = Layer.effect(
    PageReceivers,
    Effect.gen(function*() {
      const events = yield* EventStore
      const random = yield* SecureRandom.SecureRandom

      const open = Effect.fnUntraced(function*(workspaceId: WorkspaceId) {
        const signingSecret = yield* generateSecret(random)
        const { items: [newest] } = yield* events.latest(workspaceId, {}, { limit: 1, after: null })
        let request: PageRequest = { limit, after: newest?.id ?? null }
        const next = Effect.gen(function*() {
          const page = yield* events.list(workspaceId, {}, request)
          request = { limit, after: resumeAfter(page, request) }
          return yield* Effect.forEach(page.items, (event) => {
            const sent = body(event, "combined")
            return Effect.flatMap(Clock.currentTimeMillis, (now) =>
              Effect.map(
                deliveryHeaders({ eventId: event.id, body: sent, secrets: [signingSecret], now }),
                (headers) => ({ headers, body: sent })
              ))
          })
        })
        return { signingSecret, next }
      })

      return PageReceivers.of({ open })
    })
  )
}
