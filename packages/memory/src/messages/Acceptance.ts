/**
 * Accepting a send, and taking that back (contract §3, *Order of checks*).
 */
import {
  ApiKey,
  Contact,
  Limits,
  type Message,
  MessageStore,
  PhoneNumber,
  Policy,
  Quota,
  RateLimit,
  type Template,
  Workspace
} from "@wac/core"
import { contactOf } from "../contacts/ContactStore.ts"
import * as Buckets from "../limits/Buckets.ts"
import { WrittenTo } from "../limits/WrittenTo.ts"
import { type Memory, type Send, templateName } from "../State.ts"
import { bind, forget, giveQuotaBack, judge, messageOf, nameOf, quotaCounter, spendQuota, unclaim } from "./Sends.ts"

/** `MessageStore.accept`: everything is worked out first, and written only once nothing can refuse any more. */
export const accept = (memory: Memory, command: MessageStore.AcceptSend): MessageStore.Accepted => {
  const { limits, message: content, now, request } = command
  const customer = Contact.keyOf(content.to)
  const refused = (
    readings: ReadonlyArray<RateLimit.Reading>,
    error: Extract<MessageStore.Accepted, { readonly _tag: "Refused" }>["error"]
  ): MessageStore.Accepted => ({ _tag: "Refused", readings, error })

  const workspace = memory.workspaces.get(request.workspaceId)
  const key = memory.apiKeys.of(request.workspaceId, command.apiKeyId)
  if (workspace === undefined || key === undefined) {
    return refused([], ApiKey.invalid())
  }
  const barred = ApiKey.refusal(key, now) ?? Workspace.suspension(workspace)
  if (barred !== undefined) return refused([], barred)

  const own = [workspaceBucket(limits, workspace)]
  const asked = Buckets.decide(memory.buckets, own, now)
  const tooFast = RateLimit.refusal(asked.readings)
  if (tooFast !== undefined) return refused(asked.readings, tooFast)

  const verdict = judge(memory, request, now)
  if (verdict._tag !== "Unbound" && verdict._tag !== "Released") {
    asked.spend()
    return { ...verdict, readings: asked.readings }
  }
  const known = memory.sends.get(nameOf(request))
  const again = verdict._tag === "Released" ? known : undefined

  const sender = senderOf(memory, workspace.id, command.provider, content.from)
  const template = templateOf(memory, sender, content)
  const contact = sender && contactOf(memory, sender.id, customer)
  const writtenTo = sender && memory.writtenTo.get(sender.id)
  const month = Quota.monthOf(now)
  const refusal = Policy.refusal({
    now,
    message: content,
    provider: command.provider,
    sender,
    template,
    contact,
    // a message that has spent its quota already needs no more of it
    quota: again !== undefined && again.quotaMonth !== null
      ? null
      : workspace.monthlyQuota ?? limits.defaults.monthlyQuota,
    quotaUsed: memory.quotaUsed.get(quotaCounter(workspace.id, month)) ?? 0,
    messagingLimit: (sender && PhoneNumber.messagingLimitOf(sender)) ?? limits.defaults.messagingLimit,
    customersCounted: writtenTo?.count(now) ?? 0,
    customerCounted: writtenTo?.has(customer, now) ?? false
  })
  if (refusal !== undefined) return refused(asked.readings, refusal)
  // a missing sender is the first thing that the policy refuses
  const from = sender!

  const spent = Buckets.decide(memory.buckets, [...own, ...callBuckets(limits, from, customer)], now)
  const stillTooFast = RateLimit.refusal(spent.readings)
  if (stillTooFast !== undefined) return refused(spent.readings, stillTooFast)

  spent.spend()
  const before = again && messageOf(memory, again)
  const message = MessageStore.claimedMessage(command, from, before)
  memory.messages.set(message)
  const claim = { token: command.claimToken, leaseUntil: command.leaseUntil }
  const lastTry: Send["lastTry"] = {
    at: now,
    statusAtBefore: before?.statusAt ?? null,
    writtenTo: Policy.countsAgainstMessagingLimit({ contact, now })
      ? { before: customersOf(memory, from).note(customer, now) }
      : null
  }
  const send = again ?? keep(memory, known, {
    name: nameOf(request),
    binding: {
      fingerprint: request.fingerprint,
      messageId: message.id,
      claim,
      answer: null,
      lastFailure: null,
      expiresAt: null
    },
    quotaMonth: null,
    lastTry
  })
  send.lastTry = lastTry
  bind(memory, send, { claim })
  spendQuota(memory, send, month)
  return { _tag: "Claimed", readings: spent.readings, message, sender: from, template, contact }
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
    customersOf(memory, sender).takeBack(customer, lastTry.at, lastTry.writtenTo.before)
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

/** Keeps a new send under its key; one whose key had expired makes room. */
const keep = (memory: Memory, expired: Send | undefined, send: Send): Send => {
  if (expired !== undefined) forget(memory, expired)
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

const customersOf = (memory: Memory, sender: PhoneNumber.PhoneNumber): WrittenTo => {
  const known = memory.writtenTo.get(sender.id) ?? new WrittenTo()
  memory.writtenTo.set(sender.id, known)
  return known
}

const workspaceBucket = (limits: Limits.Limits, workspace: Workspace.Workspace): Buckets.Bucket => ({
  key: Limits.workspaceBucket(workspace.id),
  policy: Limits.workspace(limits, workspace.tier)
})

/** What one call of the provider spends. */
const callBuckets = (
  limits: Limits.Limits,
  sender: PhoneNumber.PhoneNumber,
  customer: Contact.Contact["key"]
): ReadonlyArray<Buckets.Bucket> => [
  { key: Limits.phoneNumberBucket(sender.id), policy: Limits.phoneNumber(limits, PhoneNumber.tierOf(sender)) },
  { key: Limits.pairBucket(sender.id, customer), policy: Limits.pair(limits) }
]
