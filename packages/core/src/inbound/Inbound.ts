/**
 * Applies what the provider reports: message statuses, customers' messages, and changes of numbers and templates. Every
 * provider uses this path, which removes duplicates and corrects the order. Writes through the stores.
 */
import { Clock, Context, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ContactStore } from "../contacts/ContactStore.ts"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import * as NameHashes from "../contacts/NameHashes.ts"
import * as Event from "../events/Event.ts"
import * as Id from "../Id.ts"
import { InboundFiles } from "../media/MediaLibrary.ts"
import { MediaStore } from "../media/MediaStore.ts"
import { type EventIds, MessageStore, type ReportResult } from "../messages/MessageStore.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import { Vault } from "../secrets/Vault.ts"
import * as Span from "../Span.ts"
import { Storage } from "../Storage.ts"
import type { StoreError } from "../StoreError.ts"
import { TemplateRequests } from "../templates/TemplateRequests.ts"
import { TemplateStore } from "../templates/TemplateStore.ts"
import type { Instant } from "../Time.ts"
import { UsageRecorder } from "../usage/UsageRecorder.ts"
import * as IgnoredItems from "./IgnoredItems.ts"
import type { InboundItem } from "./InboundItem.ts"
import * as InboundMessage from "./InboundMessage.ts"

const strange = (what: string, reason?: IgnoredItems.Reason): IgnoredItems.IgnoredItem => ({
  what,
  isUsual: false,
  ...(reason === undefined ? {} : { reason })
})
const usual = (what: string): IgnoredItems.IgnoredItem => ({ what, isUsual: true })

export class Inbound extends Context.Service<Inbound, {
  /**
   * Applies one item in one step. A repeated item changes nothing. Neither does an item about something that we do not
   * know; in that case the result describes it. `receivedAt` is the storage's time at which the item arrived: a message's
   * age is judged by it, not by the clock of the process. Safe to repeat, even after a {@link StoreError}.
   */
  readonly apply: (
    item: InboundItem,
    receivedAt: Instant
  ) => Effect.Effect<IgnoredItems.IgnoredItem | undefined, StoreError>
  /**
   * Applies items in the order given, and logs the ignored items in one line. Returns the result of `apply` for each.
   * `receivedAt` defaults to the storage's time. Safe to repeat, like `apply`.
   */
  readonly receive: (
    items: ReadonlyArray<InboundItem>,
    receivedAt?: Instant
  ) => Effect.Effect<ReadonlyArray<IgnoredItems.IgnoredItem | undefined>, StoreError>
}>()("@wac/core/inbound/Inbound") {
  static readonly layer = Layer.effect(
    Inbound,
    Effect.gen(function*() {
      const messages = yield* MessageStore
      const countUsage = yield* UsageRecorder
      const contacts = yield* ContactStore
      const numbers = yield* PhoneNumberStore
      const templates = yield* TemplateStore
      const requests = yield* TemplateRequests
      const media = yield* MediaStore
      const storage = yield* Storage
      const inboundFiles = yield* InboundFiles
      const random = yield* SecureRandom.SecureRandom
      const vault = yield* Vault

      /** The hashes of customers' names in the workspace of a number; none if no workspace has the number. */
      const hashesOf = Effect.fnUntraced(function*(
        providerNumberId: string,
        ...customers: ReadonlyArray<CustomerNames.Customer>
      ) {
        const [number] = yield* numbers.named({ providerNumberId })
        return number === undefined
          ? {}
          : yield* NameHashes.of(vault, number.workspaceId, customers.flatMap(CustomerNames.keysIn))
      })

      const idsFor = (count: number): Effect.Effect<EventIds> =>
        Effect.all({
          events: Effect.replicateEffect(Id.generate(random, "evt"), count),
          deliveries: Effect.replicateEffect(Id.generate(random, "dlv"), count),
          trace: Span.stored
        })

      /**
       * Registers the file in a message to a number. Returns our id of the file; `undefined` if the message has no
       * file.
       */
      const expectFile = Effect.fnUntraced(function*(
        { at, file }: InboundMessage.InboundMessage,
        number: PhoneNumber,
        receivedAt: Instant
      ) {
        if (file === undefined) return undefined
        const awaited = {
          ...file,
          id: yield* Id.generate(random, "med"),
          workspaceId: number.workspaceId,
          phoneNumberId: number.id,
          createdAt: Math.min(at, receivedAt)
        }
        return yield* media.expect(awaited, inboundFiles === "keep" ? receivedAt : null)
      })

      const record = Effect.fnUntraced(function*(
        message: InboundMessage.InboundMessage,
        now: Instant,
        receivedAt: Instant
      ) {
        if (InboundMessage.isTooOld(message, receivedAt)) return "too_old"
        const [number] = yield* numbers.named({ providerNumberId: message.providerNumberId })
        if (number === undefined) return "unknown_number"
        if (message.file !== undefined) {
          // its file may have been deleted since, and would be downloaded again
          const known = yield* messages.idOf(message.providerNumberId, message.providerMessageId)
          if (Option.isSome(known)) return "duplicate"
        }
        const names = new Map<string, Id.MessageId>()
        for (const name of InboundMessage.refersTo(message)) {
          const id = yield* messages.idOf(message.providerNumberId, name)
          if (Option.isSome(id)) names.set(name, id.value)
        }
        const known = InboundMessage.named(message, (name) => names.get(name))
        // before the message, because its event has the file's id; if the message fails, its repeat finds the same file
        const mediaId = yield* expectFile(message, number, receivedAt)
        return yield* contacts.recordInbound({
          now,
          hashes: yield* NameHashes.of(vault, number.workspaceId, CustomerNames.keysIn(message.customer)),
          message: mediaId === undefined ? known : InboundMessage.withMedia(known, mediaId),
          messageId: yield* Id.generate(random, "msg"),
          ids: yield* idsFor(1)
        })
      })

      /**
       * Learns the recipient's preference and names from a status report. Whatever names the report has, the recipient
       * is the customer to whom our message was sent. If that customer was erased, a report brings no name back, but an
       * opt-out in it counts.
       */
      const learn = Effect.fnUntraced(function*(
        { preference, providerNumberId, recipient, report: { at } }: Extract<InboundItem, { readonly _tag: "Status" }>,
        reported: ReportResult | undefined,
        now: Instant
      ) {
        const isErased = reported?.to === ""
        const customer = reported === undefined || isErased
          ? recipient
          : CustomerNames.addressed(reported.to, recipient)
        if (providerNumberId === null || customer === undefined) return
        if (preference !== undefined) {
          const hashes = yield* hashesOf(providerNumberId, customer)
          yield* contacts.setPreference({ now, hashes, providerNumberId, customer, preference, at })
        } else if (!isErased && CustomerNames.isTelling(customer)) {
          // most reports bring no new name, and this read takes no lock
          const contact = reported === undefined ? Option.none() : yield* contacts.get(
            reported.workspaceId,
            reported.phoneNumberId,
            CustomerNames.keyOf(reported.to)
          )
          if (CustomerNames.isKnownAs(Option.getOrUndefined(contact), customer)) return
          const hashes = yield* hashesOf(providerNumberId, customer)
          yield* contacts.recordNames({ now, hashes, providerNumberId, customer, at })
        }
      })

      const apply = Effect.fnUntraced(function*(item: InboundItem, receivedAt: Instant) {
        const now = yield* Clock.currentTimeMillis
        switch (item._tag) {
          case "Status": {
            const ids = yield* idsFor(Event.maxPerReport)
            const { preference: _, recipient: __, ...report } = item
            const reported = yield* messages.applyReport({ ...report, now, ids })
            if (reported !== undefined && reported.arrivedOf !== null) {
              countUsage({
                workspaceId: reported.workspaceId,
                at: reported.arrivedOf,
                activity: "sendsDelivered",
                // the difference may be negative, because the provider's clock may be behind
                timed: { kind: "arrival", durationMs: Math.max(0, report.report.at - reported.arrivedOf) }
              })
            }
            yield* learn(item, reported, now)
            return reported === undefined
              ? { ...usual("a status of an unknown message"), reason: "unknown_message" as const }
              : undefined
          }
          case "Message": {
            const recorded = yield* record(item.message, now, receivedAt)
            return recorded === "too_old"
              ? strange("a customer's message from more than 30 days ago", recorded)
              : recorded === "unknown_number"
              ? strange("a customer's message to an unknown number", recorded)
              : undefined
          }
          case "Preference": {
            const known = yield* contacts.setPreference({
              ...item,
              now,
              hashes: yield* hashesOf(item.providerNumberId, item.customer)
            })
            return known ? undefined : strange("a customer's preference for an unknown number")
          }
          case "CustomerMoved": {
            const known = yield* contacts.move({
              ...item,
              now,
              hashes: yield* hashesOf(item.providerNumberId, item.from, item.to)
            })
            return known ? undefined : strange("a customer's number change for an unknown number")
          }
          case "Number": {
            const { change, number } = item
            // a time in the future would outrank every report until then
            const told = yield* numbers.observe({ name: number, now, at: Math.min(item.at, receivedAt), change })
            return told > 0 ? undefined : strange("a report about an unknown number")
          }
          case "Template": {
            const known = yield* templates.update({ ...item, now })
            // the templates' list from the provider will describe an unknown template
            if (known === 0) yield* requests.ask(item.providerAccountId)
            return undefined
          }
          case "TemplatesChanged":
            yield* requests.ask(item.providerAccountId)
            return undefined
          case "Skipped":
            return usual(item.kind)
        }
      })

      const withSpan = yield* Span.ifTraced("Inbound.apply")
      const traced = (item: InboundItem, receivedAt: Instant) =>
        withSpan(apply(item, receivedAt), () => ({
          attributes: {
            "wac.inbound.item": item._tag,
            "wac.message.id": item._tag === "Status" ? item.reference ?? undefined : undefined
          }
        }))

      return Inbound.of({
        apply: traced,
        receive: Effect.fn("Inbound.receive")(function*(items, receivedAt) {
          const at = receivedAt ?? (yield* Effect.flatMap(Clock.currentTimeMillis, storage.now))
          const ignored = yield* Effect.forEach(items, (item) => traced(item, at))
          yield* IgnoredItems.log("the provider's report", ignored.filter((one) => one !== undefined))
          return ignored
        })
      })
    })
  )
}
