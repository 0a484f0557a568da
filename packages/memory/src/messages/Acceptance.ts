/**
 * Accepts and abandons sends (contract §3, *Order of checks*): loads from `State`, has `AcceptStep` or `AbandonStep`
 * decide, and writes the result.
 */
import {
  AbandonStep,
  AcceptStep,
  Contact,
  CustomerNames,
  type Idempotency,
  Limits,
  type Message,
  type MessageStore,
  MessagingLimit,
  PhoneNumber,
  type Template,
  type Time,
  type Workspace
} from "@wac/core"
import { contactNamed, isKnownName, suppressionsOf } from "../contacts/ContactStore.ts"
import { CountedCustomers } from "../limits/CountedCustomers.ts"
import { enqueue } from "../queue/Queue.ts"
import { type Memory, type Send, templateName } from "../State.ts"
import { awaitDeadline, forget, nameOf, quotaCounter, sendOf, write as writeSends } from "./Sends.ts"

/** Loads what `AcceptStep` needs to decide on a send. */
const found = (memory: Memory, command: MessageStore.AcceptSend): AcceptStep.Found => {
  const { message: content, request } = command
  const now = memory.now(command.now)
  const workspace = memory.workspaces.get(request.workspaceId)
  const number = senderOf(memory, request.workspaceId, command.provider, content.from)
  const contact = number && contactNamed(memory, number.id, CustomerNames.keyOf(content.to))
  const keys = Contact.keysOf(content.to, contact)
  const countedCustomers = number === undefined ?
    [] :
    poolOf(memory, number).map((id) => [id, memory.countedCustomers.get(id)] as const)
  const send = memory.sends.get(nameOf(request))
  return {
    workspace: workspace && { workspace, fullAt: fullAt(memory, Limits.workspaceBucket(workspace.id)) ?? 0 },
    apiKey: command.apiKeyId === null ? undefined : memory.apiKeys.of(request.workspaceId, command.apiKeyId),
    sender: number && {
      number,
      fullAt: fullAt(memory, Limits.phoneNumberBucket(number.id)) ?? 0,
      customers: new Map(countedCustomers.map(([id, customers]) => [id, customers?.count(now) ?? 0])),
      isExact: true
    },
    template: templateOf(memory, number, content),
    contact,
    suppressions: suppressionsOf(memory, request.workspaceId, command.hash),
    isKnownName: isKnownName(memory, request.workspaceId, content.to),
    pairs: countedCustomers.flatMap(([phoneNumberId, customers]) =>
      keys.map((customer) => {
        const bucket = Limits.pairBucket(phoneNumberId, customer)
        return {
          phoneNumberId,
          customer,
          fullAt: fullAt(memory, bucket),
          countedAt: customers?.lastAt(customer) ?? null,
          marketingAt: memory.marketingAt.get(bucket)?.at ?? []
        }
      })
    ),
    bound: send &&
      {
        binding: send.binding,
        message: memory.messages.get(send.binding.messageId)!,
        quotaMonth: send.quotaMonth,
        isBusy: false
      },
    twins: (command.queue?.campaignId ?? null) === null
      ? []
      : twinsOf(memory, request, Contact.campaignKeysOf(content.to, contact)),
    quotaUsed: (month) => memory.quotaUsed.get(quotaCounter(request.workspaceId, month)) ?? 0,
    queued: memory.queued.get(request.workspaceId) ?? 0
  }
}

/** The messages under the other keys of a campaign's customer. */
const twinsOf = (
  memory: Memory,
  request: MessageStore.KeyedRequest,
  keys: ReadonlyArray<Contact.Contact["key"]>
): ReadonlyArray<Message.Message> =>
  keys.filter((key) => key !== request.key).flatMap((key) => {
    const send = memory.sends.get(nameOf({ ...request, key: key as Idempotency.IdempotencyKey }))
    return send === undefined ? [] : memory.messages.get(send.binding.messageId) ?? []
  })

const write = (memory: Memory, writes: AcceptStep.Writes, now: Time.Instant): void => {
  const fill = (bucket: string, fullAt: Time.Instant) => memory.buckets.set(bucket, fullAt, now)
  for (const { fullAt, id } of writes.workspaces) fill(Limits.workspaceBucket(id), fullAt)
  for (const { fullAt, id } of writes.numbers) fill(Limits.phoneNumberBucket(id), fullAt)
  for (const { countedAt, customer, fullAt, marketing, phoneNumberId } of writes.pairs) {
    fill(Limits.pairBucket(phoneNumberId, customer), fullAt)
    if (marketing !== null) memory.marketingAt.set(Limits.pairBucket(phoneNumberId, customer), marketing, now)
    if (countedAt !== null) customersOf(memory, phoneNumberId).note(customer, countedAt)
  }
  for (const { customer, phoneNumberId } of writes.moved) customersOf(memory, phoneNumberId).restore(customer, null)
  for (const { messages, month, workspaceId } of writes.quotas) {
    const counter = quotaCounter(workspaceId, month)
    memory.quotaUsed.set(counter, (memory.quotaUsed.get(counter) ?? 0) + messages)
  }
  for (const id of writes.unbound) forget(memory, memory.sendOf.get(id)!)
  for (const queued of writes.queued) {
    const { answer, message, request } = queued
    memory.messages.set(message)
    keep(memory, {
      name: nameOf(request),
      binding: {
        fingerprint: request.fingerprint,
        messageId: message.id,
        claim: null,
        answer,
        lastFailure: null,
        expiresAt: null
      },
      quotaMonth: null,
      lastTry: { statusAtBefore: null, counted: null }
    })
    enqueue(memory, queued)
  }
  for (const { before, claim, counted, customer, message, quotaMonth, request } of writes.claims) {
    memory.messages.set(message)
    const { id, phoneNumberId, workspaceId } = message
    const entry = memory.conversations.get(id) ?? { id, workspaceId, customer, received: undefined }
    memory.conversations.set({ ...entry, phoneNumberId })
    const lastTry: Send["lastTry"] = {
      statusAtBefore: before?.statusAt ?? null,
      counted: counted && { at: message.statusAt, before: counted.before }
    }
    const send = memory.sendOf.get(message.id) ?? keep(memory, {
      name: nameOf(request),
      binding: {
        fingerprint: request.fingerprint,
        messageId: message.id,
        claim,
        answer: null,
        lastFailure: null,
        expiresAt: null
      },
      quotaMonth,
      lastTry
    })
    send.quotaMonth = quotaMonth
    send.lastTry = lastTry
    send.binding = { ...send.binding, claim }
    awaitDeadline(memory, send, { message, binding: send.binding })
  }
}

/** `MessageStore.accept`. */
export const accept = (memory: Memory, command: MessageStore.AcceptSend): MessageStore.Accepted => {
  const decided = AcceptStep.accept({ now: memory.now, found: (command) => found(memory, command) }, [command])
  if ("needs" in decided) throw new Error("what is known of a number here is exact")
  write(memory, decided.writes, memory.now(command.now))
  return decided.answers[0]!
}

/** Loads what `AbandonStep` needs to decide on a send; `undefined` if there is nothing to abandon. */
const foundTried = (memory: Memory, command: MessageStore.AbandonSend): AbandonStep.Found | undefined => {
  const kept = memory.sends.get(nameOf(command.request))
  const workspace = memory.workspaces.get(command.request.workspaceId)
  if (kept === undefined || workspace === undefined) return undefined
  const send = sendOf(memory, kept.binding.messageId)!
  const { to } = command.message
  const number = memory.phoneNumbers.get(send.message.phoneNumberId)
  const contact = number && contactNamed(memory, number.id, CustomerNames.keyOf(to))
  const pairOf = (customer: Contact.Contact["key"]): AbandonStep.TriedPair => ({
    customer,
    fullAt: number && fullAt(memory, Limits.pairBucket(number.id, customer)),
    countedAt: number === undefined ? null : customersOf(memory, number.id).lastAt(customer)
  })
  const [first, ...others] = Contact.keysOf(to, contact)
  return {
    send: { ...send, lastTry: kept.lastTry },
    workspace,
    workspaceFullAt: fullAt(memory, Limits.workspaceBucket(workspace.id)),
    number,
    numberFullAt: number && fullAt(memory, Limits.phoneNumberBucket(number.id)),
    pairs: [pairOf(first), ...others.map(pairOf)]
  }
}

/** `MessageStore.abandon`. */
export const abandon = (memory: Memory, command: MessageStore.AbandonSend): void => {
  const now = memory.now(command.now)
  const { writes } = AbandonStep.abandon({ now: memory.now, found: (command) => foundTried(memory, command) }, [
    command
  ])
  const fill = (bucket: string, fullAt: Time.Instant) => memory.buckets.set(bucket, fullAt, now)
  for (const { fullAt, id } of writes.workspaces) fill(Limits.workspaceBucket(id), fullAt)
  for (const { fullAt, id } of writes.numbers) fill(Limits.phoneNumberBucket(id), fullAt)
  for (const { countedAt, customer, fullAt, phoneNumberId } of writes.pairs) {
    fill(Limits.pairBucket(phoneNumberId, customer), fullAt)
    customersOf(memory, phoneNumberId).restore(customer, countedAt)
  }
  writeSends(memory, writes)
}

/** Stores a new send under its key. */
export const keep = (memory: Memory, send: Send): Send => {
  memory.sends.set(send.name, send)
  memory.sendOf.set(send.binding.messageId, send)
  return send
}

/** The number that a message names, or the workspace's default number at the provider. */
export const senderOf = (
  memory: Memory,
  workspaceId: Workspace.Workspace["id"],
  provider: string,
  from: string | undefined
): PhoneNumber.PhoneNumber | undefined => PhoneNumber.senderOf(memory.phoneNumbers.all(workspaceId), provider, from)

/** The template that a message names, in the sender's account. */
export const templateOf = (
  memory: Memory,
  sender: PhoneNumber.PhoneNumber | undefined,
  content: Message.OutboundMessage | Pick<Message.OutboundOf<"template">, "type" | "template">
): Template.Template | undefined => {
  if (sender === undefined || content.type !== "template") return undefined
  const { providerAccountId, workspaceId } = sender
  const id = memory.templateByName.get(templateName({ ...content.template, workspaceId, providerAccountId }))
  return id && memory.templates.get(id)
}

/** The numbers that share a messaging limit with a number, itself included. */
const poolOf = (memory: Memory, number: PhoneNumber.PhoneNumber): ReadonlyArray<PhoneNumber.PhoneNumber["id"]> => {
  const pool = MessagingLimit.poolOf(number)
  const others = number.portfolioId === null
    ? memory.phoneNumbers.all(number.workspaceId)
    : memory.phoneNumbers.values()
  return [...others].flatMap((other) => MessagingLimit.poolOf(other) === pool ? [other.id] : [])
}

const customersOf = (memory: Memory, number: PhoneNumber.PhoneNumber["id"]): CountedCustomers => {
  const known = memory.countedCustomers.get(number) ?? new CountedCustomers()
  memory.countedCustomers.set(number, known)
  return known
}

const fullAt = (memory: Memory, bucket: string): Time.Instant | undefined => memory.buckets.get(bucket)
