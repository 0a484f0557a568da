/**
 * Exports and erases everything that is stored about one customer of a workspace (contract §7).
 */
import { Clock, Context, Duration, Effect, Layer, Option, Stream } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Audit from "../audit/Audit.ts"
import { AuditStore } from "../audit/AuditStore.ts"
import { ServerError } from "../Errors.ts"
import * as Event from "../events/Event.ts"
import { EventStore } from "../events/EventStore.ts"
import type { MediaId, WorkspaceId } from "../Id.ts"
import { MediaBytes } from "../media/MediaBytes.ts"
import { MediaStore } from "../media/MediaStore.ts"
import { MessageStore } from "../messages/MessageStore.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import { QueueStore } from "../queue/QueueStore.ts"
import { KeptAnswerStore } from "../requests/KeptAnswerStore.ts"
import { RequestValuesStore } from "../requests/RequestValuesStore.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import { DeliveryStore } from "../webhooks/DeliveryStore.ts"
import * as CustomerRecords from "./CustomerRecords.ts"
import { CustomerStore, type Erased, type EraseStep, type Found } from "./CustomerStore.ts"
import * as NameHashes from "./NameHashes.ts"
import type * as Suppression from "./Suppression.ts"

/** A record of a customer: its kind, and everything that it contains. Times are in milliseconds since 1970. */
export interface CustomerRecord {
  readonly kind:
    | "contact"
    | "opt_out"
    | "enqueued_message"
    | "message"
    | "inbound_message"
    | "event"
    | "delivery"
    | "file"
    | "campaign_row"
    | "provider_post"
  readonly record: object
}

/** How many records of each kind were erased. */
export type Erasure = { readonly [place in CustomerRecords.Place | "files"]: number }

/**
 * How long an erasure waits before it looks again at records that a process is working on. All {@link maxWaits} waits
 * together are longer than the lease of a send.
 */
const again = Duration.seconds(1)
const maxWaits = 60

/** The maximum number of rounds. After this many, the customer writes faster than their records can be erased. */
const maxRounds = 10

/** Whether the records of this kind name files of the customer. */
const namesFiles = (place: CustomerRecords.Place): boolean => place === "events" || place === "conversations"

/** The files that records name. */
const filesIn = (found: ReadonlyArray<Found>): ReadonlyArray<MediaId> =>
  found.flatMap((one) =>
    one.place === "events"
      ? one.files
      : one.place === "conversations"
      ? CustomerRecords.filesOf(one.message.content)
      : []
  )

const unsent = { code: "forbidden", reason: "customer_erased", message: "the customer was erased" }

export class Customers extends Context.Service<Customers, {
  /**
   * Everything that is stored about the customer with this phone number (E.164) or user id of the provider, under all
   * of their names: contacts, opt-outs of names, messages in both directions, events, deliveries with their attempts,
   * files without their bytes, rows of campaigns, and what provider posts say of them to the workspace. Reads through
   * the whole workspace, in small steps.
   */
  readonly export: (workspaceId: WorkspaceId, customer: string) => Stream.Stream<CustomerRecord, StoreError>
  /**
   * Erases everything that `export` finds, the customer's names in answers that are kept under Idempotency-Keys, and all
   * stored values of the workspace's API requests. Messages that wait in a campaign's queue are skipped first. Fails with `in_progress` if a send to the customer does not end. Writes an
   * audit entry that holds only counts and a keyed hash of the customer. An opt-out stays: for each opted-out name, a
   * keyed hash is kept. If the bytes of a file cannot be deleted now, `MediaTidier` deletes them later. Safe to repeat.
   */
  readonly erase: (workspaceId: WorkspaceId, customer: string) => Effect.Effect<Erasure, ServerError | StoreError>
}>()("@wac/core/contacts/Customers") {
  static readonly layer = Layer.effect(
    Customers,
    Effect.gen(function*() {
      const store = yield* CustomerStore
      const messages = yield* MessageStore
      const events = yield* EventStore
      const deliveries = yield* DeliveryStore
      const queue = yield* QueueStore
      const numbers = yield* PhoneNumberStore
      const media = yield* MediaStore
      const bytes = yield* MediaBytes
      const answers = yield* KeptAnswerStore
      const requestValues = yield* RequestValuesStore
      const audit = yield* AuditStore
      const vault = yield* Vault
      const random = yield* SecureRandom.SecureRandom

      /**
       * All names of a customer, and the names that were `known` before. The names in a contact may lead to further
       * contacts.
       */
      const namesOf = Effect.fnUntraced(function*(
        workspaceId: WorkspaceId,
        customer: string,
        known = CustomerRecords.namesOf(customer, [])
      ) {
        let names = known
        for (;;) {
          const found = CustomerRecords.namesOf(customer, yield* store.contacts(workspaceId, names))
          const more = CustomerRecords.joined(names, found)
          if (more.texts.length === names.texts.length) return names
          names = more
        }
      })

      const fileOf = (workspaceId: WorkspaceId, id: MediaId) =>
        Effect.map(
          media.find({ workspaceId, id }),
          (found): ReadonlyArray<CustomerRecord> =>
            Option.isSome(found) ? [{ kind: "file", record: { id, ...found.value } }] : []
        )

      /** The records that a step found, loaded if it found only their ids. */
      const recordsOf = (workspaceId: WorkspaceId, names: CustomerRecords.Names) => {
        const told = new Set<MediaId>()
        /** The files that data names, each of which is exported once. */
        const filesNamed = (data: unknown) =>
          Effect.map(
            Effect.forEach(CustomerRecords.filesOf(data), (id) => {
              if (told.has(id)) return Effect.succeed([])
              told.add(id)
              return fileOf(workspaceId, id)
            }),
            (files) => files.flat()
          )
        return Effect.fnUntraced(function*(found: Found): Effect.fn.Return<ReadonlyArray<CustomerRecord>, StoreError> {
          const one = <A extends object>(kind: CustomerRecord["kind"], record: Option.Option<A>) =>
            Option.isSome(record) ? [{ kind, record: record.value }] : []
          switch (found.place) {
            case "contacts":
              return [{ kind: "contact", record: found.contact }]
            case "conversations":
              // the event that named its file may be gone
              return [{ kind: "inbound_message", record: found.message }, ...yield* filesNamed(found.message.content)]
            case "messages":
              return one("message", yield* messages.get(workspaceId, found.id))
            case "deliveries":
              return one("delivery", yield* deliveries.get(workspaceId, found.id))
            case "events": {
              const event = yield* events.get(workspaceId, found.id)
              if (Option.isNone(event)) return []
              return [{ kind: "event", record: Event.combined(event.value) }, ...yield* filesNamed(event.value.data)]
            }
            case "outbox":
              return [{ kind: "enqueued_message", record: found.entry }]
            case "campaignRows": {
              const { place: _, ...record } = found
              return [{ kind: "campaign_row", record }]
            }
            case "posts": {
              const { body, place: _, ...record } = found
              const ids = (yield* numbers.list(workspaceId)).map(({ providerNumberId }) => providerNumberId)
              return [{ kind: "provider_post", record: { ...record, body: CustomerRecords.inPost(body, names, ids) } }]
            }
          }
        })
      }

      const optOutsOf = (workspaceId: WorkspaceId, names: CustomerRecords.Names) =>
        Effect.map(
          store.optOuts(workspaceId, names),
          (all) => all.map((record): CustomerRecord => ({ kind: "opt_out", record }))
        )

      const found = (workspaceId: WorkspaceId, names: CustomerRecords.Names) =>
        Stream.fromIterable(CustomerRecords.places).pipe(
          Stream.flatMap((place) =>
            Stream.paginate(null as string | null, (after) =>
              Effect.map(
                store.find({ workspaceId, names, place, after }),
                ({ found, next }) => [found, next === null ? Option.none() : Option.some(next)] as const
              ))
          )
        )

      /** Removes files, and returns how many there were. Their bytes are deleted afterwards. */
      const removeFiles = Effect.fnUntraced(function*(workspaceId: WorkspaceId, ids: Iterable<MediaId>) {
        let removed = 0
        for (const id of ids) {
          const now = yield* Clock.currentTimeMillis
          if (yield* media.remove({ workspaceId, id, now, only: "file" })) removed++
        }
        return removed
      })

      /** Deletes the bytes of removed files. If this fails or the process dies, `MediaTidier` deletes them later. */
      const deleteBytes = Effect.fnUntraced(function*(workspaceId: WorkspaceId, ids: Iterable<MediaId>) {
        for (const id of ids) {
          const file = { workspaceId, id }
          const deleted = Effect.repeat(bytes.remove(file), { while: (isMore) => isMore })
          const forgotten = Effect.flatMap(Clock.currentTimeMillis, (now) => media.forget(file, now))
          yield* Effect.ignoreCause(Effect.andThen(deleted, forgotten))
        }
      })

      /** Erases the customer's records of one kind. */
      const eraseIn = Effect.fnUntraced(
        function*(
          workspaceId: WorkspaceId,
          names: CustomerRecords.Names,
          hashes: Suppression.Hashes,
          place: CustomerRecords.Place
        ) {
          let erased = 0
          let files = 0
          let after: string | null = null
          for (let waited = 0;;) {
            const now = yield* Clock.currentTimeMillis
            const step: EraseStep = { workspaceId, names, hashes, place, after, now }
            // before the records, because nothing else names the files if the process dies in between
            const named = new Set(namesFiles(place) ? filesIn((yield* store.find(step)).found) : [])
            files += yield* removeFiles(workspaceId, named)
            const { busy, erased: count, files: gone, next, queued }: Erased = yield* store.erase(step)
            // files of records that came meanwhile
            files += yield* removeFiles(workspaceId, gone)
            yield* deleteBytes(workspaceId, new Set([...named, ...gone]))
            for (const messageId of queued) {
              yield* queue.end({
                now,
                messageId,
                phoneNumberId: null,
                end: { _tag: "Skipped", error: unsent },
                ids: { events: [], deliveries: [] }
              })
            }
            erased += count
            if (busy === 0 && queued.length === 0) {
              after = next
              if (after === null) return { erased, files }
            } else if (waited++ === maxWaits) {
              return yield* new ServerError({
                reason: "in_progress",
                message: "something of the customer is still being processed; erase them again in a minute"
              })
            } else if (busy > 0) yield* Effect.sleep(again)
          }
        }
      )

      return Customers.of({
        export: (workspaceId, customer) =>
          Stream.unwrap(Effect.map(namesOf(workspaceId, customer), (names) =>
            found(workspaceId, names).pipe(
              Stream.mapEffect(recordsOf(workspaceId, names)),
              Stream.concat(Stream.fromEffect(optOutsOf(workspaceId, names))),
              Stream.flatMap(Stream.fromIterable)
            ))),
        erase: Effect.fn("Customers.erase")(function*(workspaceId, customer) {
          let names = yield* namesOf(workspaceId, customer)
          const counts: { -readonly [place in keyof Erasure]: number } = {
            deliveries: 0,
            events: 0,
            outbox: 0,
            messages: 0,
            campaignRows: 0,
            inboundMessages: 0,
            conversations: 0,
            posts: 0,
            contacts: 0,
            files: 0
          }
          // reports that arrive meanwhile are still recorded, so repeat until a round finds nothing
          for (let round = 0, found = 1; found > 0 && round < maxRounds; round++) {
            found = 0
            const hashes = yield* NameHashes.of(vault, workspaceId, names.keys)
            for (const place of CustomerRecords.places) {
              if (place === "contacts") {
                const { length } = names.texts
                names = yield* namesOf(workspaceId, customer, names)
                // only a contact leads to a name that was learnt meanwhile, so it stays until that name is erased
                if (names.texts.length > length) {
                  found++
                  continue
                }
              }
              const { erased, files } = yield* eraseIn(workspaceId, names, hashes, place)
              counts[place] += erased
              counts.files += files
              found += erased
            }
          }
          const written = CustomerRecords.written(names)
          for (let after: string | null = null, isMore = true; isMore; isMore = after !== null) {
            after = (yield* answers.unname({ workspaceId, names: written, after })).next
          }
          // the values of requests are not stored by customer, so all values of the workspace are deleted
          yield* requestValues.outdate(workspaceId)
          yield* Effect.repeat(requestValues.removeOutdated(workspaceId), { while: ({ isMore }) => isMore })
          const hash = yield* vault.fingerprint(`customer ${CustomerRecords.namesOf(customer, []).keys[0] ?? ""}`)
          const entry = yield* Audit.entry(random, workspaceId, null, {
            action: "customer.erase",
            target: hash,
            detail: Object.fromEntries(Object.entries(counts).map(([place, count]) => [place, `${count}`]))
          })
          yield* audit.record([entry])
          return counts
        })
      })
    })
  )
}
