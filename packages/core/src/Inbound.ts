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
import * as InboundMessage from "./InboundMessage.ts"
import { type EventIds, MessageStore } from "./MessageStore.ts"
import { PhoneNumberStore } from "./PhoneNumberStore.ts"
import type { StoreError } from "./StoreError.ts"
import { TemplateRequests } from "./TemplateRequests.ts"
import { TemplateStore } from "./TemplateStore.ts"
import type { Instant } from "./Time.ts"

const passedOver = (what: string): Effect.Effect<void> => Effect.logInfo(`${what} was passed over`)

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
      const templates = yield* TemplateStore
      const requests = yield* TemplateRequests
      const random = yield* SecureRandom.SecureRandom

      const idsFor = (count: number): Effect.Effect<EventIds> =>
        Effect.all({
          events: Effect.replicateEffect(Id.generate(random, "evt"), count),
          deliveries: Effect.replicateEffect(Id.generate(random, "dlv"), count)
        })

      const record = Effect.fnUntraced(function*(message: InboundMessage.InboundMessage, now: Instant) {
        if (InboundMessage.isTooOld(message, now)) return "too_old"
        return yield* contacts.recordInbound({
          now,
          message,
          messageId: yield* Id.generate(random, "msg"),
          ids: yield* idsFor(1)
        })
      })

      const apply = Effect.fnUntraced(function*(item: InboundItem) {
        const now = yield* Clock.currentTimeMillis
        switch (item._tag) {
          case "Status": {
            const ids = yield* idsFor(Event.maxPerReport)
            const known = yield* messages.applyReport({ ...item, now, ids })
            return known ? undefined : yield* passedOver("a status report for a message that is not ours")
          }
          case "Message": {
            const recorded = yield* record(item.message, now)
            if (recorded === "too_old") return yield* passedOver("a customer's message of more than 30 days ago")
            if (recorded === "unknown_number") {
              return yield* passedOver("a customer's message to a number that is not ours")
            }
            return
          }
          case "Preference": {
            const known = yield* contacts.setPreference({ ...item, now })
            return known ? undefined : yield* passedOver("a customer's wish about a number that is not ours")
          }
          case "CustomerMoved": {
            const known = yield* contacts.move({ ...item, now })
            return known ? undefined : yield* passedOver("a customer's move, told to a number that is not ours")
          }
          case "Number": {
            const { change, number } = item
            // a time to come would hold against whatever is told until then
            const told = yield* numbers.observe({ name: number, at: Math.min(item.at, now), change })
            return told > 0 ? undefined : yield* passedOver("what upstream told of a number that is not ours")
          }
          case "Template": {
            const known = yield* templates.update({ ...item, now })
            // one that we have not heard of: the list will tell what it is
            return known > 0 ? undefined : yield* requests.ask(item.providerAccountId)
          }
          case "TemplatesChanged":
            return yield* requests.ask(item.providerAccountId)
          case "Skipped":
            return yield* Effect.logDebug(`${item.kind} was passed over`)
        }
      })

      return Inbound.of({
        receive: Effect.fn("Inbound.receive")((items) => Effect.forEach(items, apply, { discard: true }))
      })
    })
  )
}
