/**
 * What comes from upstream: status reports and customers' messages, from whichever provider, by one path that
 * removes duplicates and puts disorder right.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { ContactStore } from "./ContactStore.ts"
import * as Event from "./Event.ts"
import * as Id from "./Id.ts"
import type { InboundItem } from "./InboundItem.ts"
import { type EventIds, MessageStore } from "./MessageStore.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import type { StoreError } from "./StoreError.ts"

export class Inbound extends Context.Service<Inbound, {
  /**
   * Applies what upstream told, each item in a step of its own and in the order given. Items that were told before,
   * or that belong to nothing we know, change nothing. Safe to repeat, also after a {@link StoreError}.
   */
  readonly receive: (items: ReadonlyArray<InboundItem>) => Effect.Effect<void, StoreError>
}>()("@wac/core/Inbound") {
  static readonly layer = Layer.effect(
    Inbound,
    Effect.gen(function*() {
      const messages = yield* MessageStore
      const contacts = yield* ContactStore
      const numbers = yield* PhoneNumberStore
      const random = yield* SecureRandom.SecureRandom

      const idsFor = (count: number): Effect.Effect<EventIds> =>
        Effect.all({
          events: Effect.replicateEffect(Id.generate(random, "evt"), count),
          deliveries: Effect.replicateEffect(Id.generate(random, "dlv"), count)
        })

      const apply = Effect.fnUntraced(function*(item: InboundItem) {
        const now = yield* Clock.currentTimeMillis
        if (item._tag === "Status") {
          const { reference, report } = item
          const known = yield* messages.applyReport({ now, reference, report, ids: yield* idsFor(Event.maxPerReport) })
          if (!known) yield* Effect.logInfo("a status report for a message that is not ours was passed over")
          return
        }
        if (item._tag === "Number") {
          const { change, number } = item
          // a time to come would hold against whatever is told until then
          const told = yield* numbers.observe({ name: number, at: Math.min(item.at, now), change })
          if (told === 0) yield* Effect.logInfo("what upstream told of a number that is not ours was passed over")
          return
        }
        if (item._tag !== "Message") return yield* Effect.logDebug(`passed over: ${item._tag}`)
        const { message } = item
        const recorded = yield* contacts.recordInbound({
          now,
          message,
          messageId: yield* Id.generate(random, "msg"),
          ids: yield* idsFor(1)
        })
        if (recorded === "unknown_number") {
          yield* Effect.logInfo("a customer's message to a number that is not ours was passed over")
        }
      })

      return Inbound.of({
        receive: Effect.fn("Inbound.receive")((items) => Effect.forEach(items, apply, { discard: true }))
      })
    })
  )
}
