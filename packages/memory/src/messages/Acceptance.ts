/**
 * Accepting a send, and taking that back (contract §3, *Order of checks*).
 */
import {
  AcceptStep,
  Contact,
  Limits,
  type Message,
  type MessageStore,
  PhoneNumber,
  type Template,
  type Time,
  type TokenStep,
  type Workspace
} from "@wac/core"
import { contactOf } from "../contacts/ContactStore.ts"
import * as Buckets from "../limits/Buckets.ts"
import { WrittenTo } from "../limits/WrittenTo.ts"
import { type Memory, type Send, templateName } from "../State.ts"
import { bind, forget, giveQuotaBack, messageOf, nameOf, quotaCounter, unclaim } from "./Sends.ts"

/** What is found for a send. */
const found = (memory: Memory, command: MessageStore.AcceptSend): AcceptStep.Found => {
  const { message: content, request } = command
  const now = memory.now(command.now)
  const customer = Contact.keyOf(content.to)
  const workspace = memory.workspaces.get(request.workspaceId)
  const number = senderOf(memory, request.workspaceId, command.provider, content.from)
  const writtenTo = number && memory.writtenTo.get(number.id)
  const send = memory.sends.get(nameOf(request))
  return {
    workspace: workspace && { workspace, fullAt: fullAt(memory, Limits.workspaceBucket(workspace.id)) ?? 0 },
    apiKey: memory.apiKeys.of(request.workspaceId, command.apiKeyId),
    sender: number && {
      number,
      fullAt: fullAt(memory, Limits.phoneNumberBucket(number.id)) ?? 0,
      customers: writtenTo?.count(now) ?? 0,
      isExact: true
    },
    template: templateOf(memory, number, content),
    contact: number && contactOf(memory, number.id, customer),
    pair: {
      fullAt: number && fullAt(memory, Limits.pairBucket(number.id, customer)),
      countedAt: writtenTo?.lastAt(customer) ?? null
    },
    bound: send &&
      { binding: send.binding, message: messageOf(memory, send), quotaMonth: send.quotaMonth, isBusy: false },
    quotaUsed: (month) => memory.quotaUsed.get(quotaCounter(request.workspaceId, month)) ?? 0
  }
}

const write = (memory: Memory, writes: AcceptStep.Writes, now: Time.Instant): void => {
  const fill = (bucket: string, fullAt: Time.Instant) => memory.buckets.set(bucket, fullAt, now)
  for (const { fullAt, id } of writes.workspaces) fill(Limits.workspaceBucket(id), fullAt)
  for (const { fullAt, id } of writes.numbers) fill(Limits.phoneNumberBucket(id), fullAt)
  for (const { countedAt, customer, fullAt, phoneNumberId } of writes.pairs) {
    fill(Limits.pairBucket(phoneNumberId, customer), fullAt)
    if (countedAt !== null) customersOf(memory, phoneNumberId).note(customer, countedAt)
  }
  for (const { messages, month, workspaceId } of writes.quotas) {
    const counter = quotaCounter(workspaceId, month)
    memory.quotaUsed.set(counter, (memory.quotaUsed.get(counter) ?? 0) + messages)
  }
  for (const id of writes.unbound) forget(memory, memory.sendOf.get(id)!)
  for (const { before, claim, counted, message, quotaMonth, request } of writes.claims) {
    memory.messages.set(message)
    const lastTry: Send["lastTry"] = {
      at: message.statusAt,
      statusAtBefore: before?.statusAt ?? null,
      writtenTo: counted
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
    bind(memory, send, { claim })
  }
}

/** `MessageStore.accept`. */
export const accept = (memory: Memory, command: MessageStore.AcceptSend): MessageStore.Accepted => {
  const decided = AcceptStep.accept({ now: memory.now, found: (command) => found(memory, command) }, [command])
  if ("needs" in decided) throw new Error("what is known of a number here is exact")
  write(memory, decided.writes, memory.now(command.now))
  return decided.answers[0]!
}

/** `MessageStore.abandon`: what *accept* wrote is taken back. */
export const abandon = (
  memory: Memory,
  command: Parameters<MessageStore.MessageStore["Service"]["abandon"]>[0]
): void => {
  const { limits, now, request: { workspaceId } } = command
  const send = memory.sends.get(nameOf(command.request))
  if (send === undefined || send.binding.claim?.token !== command.claimToken) return
  const { lastTry } = send
  const message = messageOf(memory, send)
  // undefined once the number was removed
  const sender = memory.phoneNumbers.get(message.phoneNumberId)
  const customer = Contact.keyOf(message.content.to)
  Buckets.giveBack(
    memory.buckets,
    [
      workspaceBucket(limits, memory.workspaces.get(workspaceId)!),
      ...(sender === undefined ? [] : callBuckets(limits, sender, customer))
    ],
    now
  )
  if (lastTry.writtenTo !== null && sender !== undefined) {
    customersOf(memory, sender.id).takeBack(customer, lastTry.at, lastTry.writtenTo.before)
  }
  if (message.status !== "sending") return unclaim(memory, send, now)
  if (lastTry.statusAtBefore !== null) {
    memory.messages.set({ ...message, statusAt: lastTry.statusAtBefore })
    return unclaim(memory, send, now)
  }
  giveQuotaBack(memory, send)
  forget(memory, send)
  memory.messages.delete(message)
}

/** Keeps a new send under its key. */
const keep = (memory: Memory, send: Send): Send => {
  memory.sends.set(send.name, send)
  memory.sendOf.set(send.binding.messageId, send)
  return send
}

const senderOf = (
  memory: Memory,
  workspaceId: Workspace.Workspace["id"],
  provider: string,
  from: string | undefined
): PhoneNumber.PhoneNumber | undefined =>
  memory.phoneNumbers.all(workspaceId).find((number) =>
    from === undefined
      ? number.isDefault && number.provider === provider
      : number.id === from || number.phoneNumber === from
  )

const templateOf = (
  memory: Memory,
  sender: PhoneNumber.PhoneNumber | undefined,
  content: Message.OutboundMessage
): Template.Template | undefined => {
  if (sender === undefined || content.type !== "template") return undefined
  const { providerAccountId, workspaceId } = sender
  const id = memory.templateByName.get(templateName({ ...content.template, workspaceId, providerAccountId }))
  return id && memory.templates.get(id)
}

const customersOf = (memory: Memory, number: PhoneNumber.PhoneNumber["id"]): WrittenTo => {
  const known = memory.writtenTo.get(number) ?? new WrittenTo()
  memory.writtenTo.set(number, known)
  return known
}

const fullAt = (memory: Memory, bucket: string): Time.Instant | undefined => memory.buckets.get(bucket)

const workspaceBucket = (limits: Limits.Limits, workspace: Workspace.Workspace): TokenStep.Named => ({
  key: Limits.workspaceBucket(workspace.id),
  policy: Limits.workspace(limits, workspace.tier)
})

/** What one call of the provider spends. */
const callBuckets = (
  limits: Limits.Limits,
  sender: PhoneNumber.PhoneNumber,
  customer: Contact.Contact["key"]
): ReadonlyArray<TokenStep.Named> => [
  { key: Limits.phoneNumberBucket(sender.id), policy: Limits.phoneNumber(limits, PhoneNumber.tierOf(sender)) },
  { key: Limits.pairBucket(sender.id, customer), policy: Limits.pair(limits) }
]
