/**
 * A receiver in an open page of the dashboard. It gets the workspace's new events like a webhook, signed with a secret
 * of its own that is valid only while the page is open. It only reads events, and neither stores nor retries anything.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { WorkspaceId } from "../Id.ts"
import { deliveryHeaders, generateSecret } from "../keys/Signature.ts"
import type { StoreError } from "../StoreError.ts"
import { body } from "./Event.ts"
import { resumeAfter } from "./Events.ts"
import { type EventPageRequest, EventStore } from "./EventStore.ts"

/** An event for the page, which verifies the signature from the headers and the raw body. */
export interface PageDelivery {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** The receiver of one page. */
export interface PageReceiver {
  readonly signingSecret: string
  /** The events recorded since the previous call, oldest first, at most one page. */
  readonly next: Effect.Effect<ReadonlyArray<PageDelivery>, StoreError>
}

/** The maximum number of events per call of `next`. */
const limit = 25

/** The service that opens receivers for pages. Each signs the workspace's events with its own secret. */
export class PageReceivers extends Context.Service<PageReceivers, {
  /** Opens a receiver of the events recorded from now on. */
  readonly open: (workspaceId: WorkspaceId) => Effect.Effect<PageReceiver, StoreError>
}>()("@wac/core/events/PageReceiver/PageReceivers") {
  static readonly layer = Layer.effect(
    PageReceivers,
    Effect.gen(function*() {
      const events = yield* EventStore
      const random = yield* SecureRandom.SecureRandom

      const open = Effect.fnUntraced(function*(workspaceId: WorkspaceId) {
        const signingSecret = yield* generateSecret(random)
        const { items: [newest], places: [place] } = yield* events.latest(workspaceId, {}, { limit: 1, after: null })
        let request: EventPageRequest = { limit, after: newest?.id ?? null, place }
        const next = Effect.gen(function*() {
          const page = yield* events.list(workspaceId, {}, request)
          request = { limit, after: resumeAfter(page, request, {}), place: page.places.at(-1) ?? request.place }
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
