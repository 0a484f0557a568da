/**
 * `CustomerStore` in memory: each method is one synchronous step over `State`, which searches the whole of its place.
 */
import {
  Contact,
  CustomerRecords,
  CustomerStore,
  Delivery,
  DeliveryStep,
  type Event,
  type Id,
  Limits,
  Message,
  MessageErasure,
  Recipient,
  Suppression,
  type Time
} from "@wac/core"
import { Effect, Layer } from "effect"
import * as Journal from "../events/Journal.ts"
import { CountedCustomers } from "../limits/CountedCustomers.ts"
import { rekey, sendOf, write as writeSends } from "../messages/Sends.ts"
import { type CampaignRecord, forgetContact, type Memory, type PostRecord, State } from "../State.ts"
import { keepAll, loaded } from "../webhooks/DeliveryStore.ts"
import type { Consignment } from "../webhooks/Outbox.ts"
import { optOutsOf, suppressionsOf, writeSuppressions } from "./ContactStore.ts"

type Step = CustomerStore.Step

const contactsOf = (memory: Memory, workspaceId: Id.WorkspaceId, { keys }: CustomerRecords.Names) =>
  memory.contacts.all(workspaceId).filter(({ contact }) =>
    Contact.keysOf(contact.key, contact).some((name) => keys.includes(name))
  )

/** The customer in whose conversation a message is. */
const conversationOf = (memory: Memory, workspaceId: Id.WorkspaceId, messageId: unknown): string | undefined =>
  memory.conversations.of(workspaceId, messageId as Id.MessageId)?.customer

const isAbout = (memory: Memory, { names, workspaceId }: Step) => (event: Event.Event): boolean =>
  CustomerRecords.isOf(
    names,
    conversationOf(memory, workspaceId, event.data["message_id"]),
    CustomerRecords.partiesOf(event)
  )

const deliveriesOf = (memory: Memory, step: Step): ReadonlyArray<Consignment> => {
  const isTheirs = isAbout(memory, step)
  return memory.deliveries.all(step.workspaceId).filter(({ event }) => isTheirs(event))
}

const eventsOf = (memory: Memory, step: Step) =>
  (memory.events.get(step.workspaceId) ?? []).filter(isAbout(memory, step))

const messagesOf = (memory: Memory, { names, workspaceId }: Step) =>
  memory.messages.all(workspaceId).filter(({ content, id }) =>
    CustomerRecords.isOf(names, conversationOf(memory, workspaceId, id), [content.to])
  )

const saidOf = (memory: Memory, { names, workspaceId }: Step) =>
  memory.conversations.all(workspaceId).filter(({ customer }) => names.texts.includes(customer))

const rowsOf = (memory: Memory, { names, workspaceId }: Step) =>
  memory.campaigns.all(workspaceId).flatMap((campaign) =>
    [...campaign.rows].flatMap(([place, { messageId, row }]) =>
      CustomerRecords.isOf(names, conversationOf(memory, workspaceId, messageId), [Recipient.customerOf(row)])
        ? [{ campaign, place, row }]
        : []
    )
  )

const postsOf = (memory: Memory, { names, workspaceId }: Step): ReadonlyArray<PostRecord> => {
  const numbers = memory.phoneNumbers.all(workspaceId).map(({ providerNumberId }) => `"${providerNumberId}"`)
  const quoted = CustomerRecords.quoted(names)
  return [...memory.inboundPosts.values()].filter(({ body }) => {
    const text = new TextDecoder().decode(body)
    return quoted.some((name) => text.includes(name)) && numbers.some((name) => text.includes(name))
  })
}

const find = (memory: Memory, step: Step): ReadonlyArray<CustomerStore.Found> => {
  const { place } = step
  switch (place) {
    case "deliveries":
      return deliveriesOf(memory, step).map(({ id }) => ({ place, id }))
    case "events":
      return eventsOf(memory, step).map(({ data, id }) => ({ place, id, files: CustomerRecords.filesOf(data) }))
    case "messages":
      return messagesOf(memory, step).map(({ id }) => ({ place, id }))
    case "campaignRows":
      return rowsOf(memory, step).map(({ campaign, place: number, row }) => ({
        place,
        campaignId: campaign.id,
        number,
        row
      }))
    case "outbox":
    case "inboundMessages":
      return []
    case "conversations":
      return saidOf(memory, step).flatMap(({ received }) => received === undefined ? [] : { place, message: received })
    case "posts":
      return postsOf(memory, step).map(({ body, provider, receivedAt }) => ({
        place,
        provider,
        receivedAt,
        body: new TextDecoder().decode(body)
      }))
    case "contacts":
      return contactsOf(memory, step.workspaceId, step.names).map(({ contact }) => ({ place, contact }))
  }
}

const erased = (count: number): CustomerStore.Erased => ({ ...CustomerStore.nothing, erased: count })

const eraseDeliveries = (memory: Memory, step: Step, now: Time.Instant): CustomerStore.Erased => {
  const found = deliveriesOf(memory, step)
  for (const consignment of found) {
    const { delivery, outbox } = consignment
    outbox.endClaim(consignment)
    // an event of the message that no longer names the customer may wait for this one
    if (Delivery.isOpen(delivery)) {
      keepAll(memory, DeliveryStep.skip(loaded(memory, outbox), [delivery], now).deliveries)
    }
    memory.deliveries.delete(consignment)
  }
  if (found.length > 0) memory.hint.notify()
  return erased(found.length)
}

const eraseEvents = (memory: Memory, step: Step, now: Time.Instant): CustomerStore.Erased => {
  // deliveries that were recorded after the step over the deliveries
  eraseDeliveries(memory, step, now)
  const gone = Journal.remove(memory, step.workspaceId, isAbout(memory, step))
  return { ...erased(gone.length), files: gone.flatMap(({ data }) => CustomerRecords.filesOf(data)) }
}

const eraseMessages = (memory: Memory, step: Step): CustomerStore.Erased => {
  const theirs = new Set(messagesOf(memory, step))
  const sends = memory.messages.all(step.workspaceId)
    .filter((message) => theirs.has(message) || Message.isErased(message))
    .map(({ id }) => sendOf(memory, id)!)
  const { rekeyed, unnamed, writes, ...erasure } = MessageErasure.erase(sends)
  writeSends(memory, writes)
  for (const { providerMessageId } of unnamed) memory.messageByProviderId.delete(providerMessageId)
  for (const key of rekeyed) rekey(memory, key)
  return { ...CustomerStore.nothing, ...erasure }
}

const eraseRows = (memory: Memory, step: Step): CustomerStore.Erased => {
  const found = rowsOf(memory, step)
  for (const { campaign, place } of found) replaceRow(campaign, place)
  return erased(found.length)
}

const replaceRow = ({ rows }: CampaignRecord, place: number): void => {
  rows.set(place, { ...rows.get(place)!, row: CustomerRecords.erasedRow })
}

const eraseInbound = (memory: Memory, { names: { keys }, workspaceId }: Step): CustomerStore.Erased => {
  let count = 0
  for (const table of [memory.inbound, memory.inboundById]) {
    for (const remembered of table.values()) {
      if (remembered.number.workspaceId !== workspaceId || !keys.includes(remembered.customer)) continue
      Object.assign(remembered, { customer: "" })
      count++
    }
  }
  return erased(count)
}

const eraseSaid = (memory: Memory, step: Step): CustomerStore.Erased => {
  const found = saidOf(memory, step)
  for (const entry of found) memory.conversations.delete(entry)
  return { ...erased(found.length), files: found.flatMap(({ received }) => CustomerRecords.filesOf(received?.content)) }
}

const erasePosts = (memory: Memory, step: Step): CustomerStore.Erased => {
  const found = postsOf(memory, step)
  const waiting = found.filter((post) => memory.waitingPosts.has(post))
  for (const post of found) if (!memory.waitingPosts.has(post)) post.body = new Uint8Array()
  return { ...erased(found.length - waiting.length), busy: waiting.length }
}

const eraseContacts = (
  memory: Memory,
  { hashes, names, workspaceId }: CustomerStore.EraseStep
): CustomerStore.Erased => {
  for (const { id } of memory.phoneNumbers.all(workspaceId)) {
    for (const key of names.keys) {
      memory.buckets.delete(Limits.pairBucket(id, key))
      memory.marketingAt.delete(Limits.pairBucket(id, key))
      ;(memory.countedCustomers.get(id) ?? new CountedCustomers()).restore(key, null)
    }
  }
  const found = contactsOf(memory, workspaceId, names)
  const stored = Object.values(hashes).flatMap((hash) => suppressionsOf(memory, workspaceId, hash))
  const contacts = found.map(({ contact }) => contact)
  writeSuppressions(memory, Suppression.erased(workspaceId, hashes, contacts, stored))
  for (const row of found) forgetContact(memory, row)
  return erased(found.length)
}

const erase = (memory: Memory, step: CustomerStore.EraseStep, now: Time.Instant): CustomerStore.Erased => {
  switch (step.place) {
    case "deliveries":
      return eraseDeliveries(memory, step, now)
    case "events":
      return eraseEvents(memory, step, now)
    case "messages":
      return eraseMessages(memory, step)
    // hosts cannot add to the outbox of a storage in memory
    case "outbox":
      return CustomerStore.nothing
    case "campaignRows":
      return eraseRows(memory, step)
    case "inboundMessages":
      return eraseInbound(memory, step)
    case "conversations":
      return eraseSaid(memory, step)
    case "posts":
      return erasePosts(memory, step)
    case "contacts":
      return eraseContacts(memory, step)
  }
}

export const layer = Layer.effect(
  CustomerStore.CustomerStore,
  Effect.map(State, (memory) =>
    CustomerStore.CustomerStore.of({
      contacts: (workspaceId, names) =>
        Effect.sync(() => contactsOf(memory, workspaceId, names).map(({ contact }) => contact)),
      optOuts: (workspaceId, { keys }) =>
        Effect.sync(() => optOutsOf(memory, workspaceId).filter(({ name }) => keys.includes(name))),
      find: (step) => Effect.sync(() => ({ found: find(memory, step), next: null })),
      erase: (step) => Effect.sync(() => erase(memory, step, memory.now(step.now)))
    }))
)
