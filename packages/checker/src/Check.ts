/**
 * Judges a history by all promises. What a history leaves open is decided for the service: if two entries overlap in
 * time, they happened in whichever order the contract allows.
 */
import { type Blame, type Broken, grouped } from "./Broken.ts"
import { checkCampaigns } from "./Campaigns.ts"
import { checkCustomers } from "./Customers.ts"
import { checkDeliveries, checkListed } from "./Deliveries.ts"
import type { Entry, History } from "./History.ts"
import { answered, checkKeys, keyOf } from "./Keys.ts"
import { checkMessage, type Message, sequenceOf } from "./Messages.ts"
import { checkAtLeastOnce } from "./Passage.ts"
import { promises } from "./Promises.ts"
import { checkQuotas } from "./Quotas.ts"
import { checkReceipts } from "./Receipts.ts"
import { checkHandled } from "./Subscriptions.ts"

/** Whether every promise was kept, and the broken ones. */
export interface Verdict {
  readonly ok: boolean
  readonly broken: ReadonlyArray<Broken>
}

/**
 * Judges a history. Apart from sorting, time and memory grow in proportion to the number of entries. Reads no clock.
 *
 * A missing event or delivery counts only in a history that has `settled_at` and that lists events.
 */
export const check = ({ entries, header }: History): Verdict => {
  const broken: Array<Broken> = []
  const blame: Blame = (promise, found, ...evidence) => {
    const sorted = evidence.flat().sort((a, b) => a.begun - b.begun)
    broken.push({ promise, section: promises[promise].section, found, evidence: sorted })
  }
  const clockError = header.clock_error ?? 0
  const settledAt = header.settled_at ?? Infinity
  const isSettled = settledAt < Infinity
  const sorted = [...entries].sort((a, b) => a.begun - b.begun)
  const of = <K extends Entry["kind"]>(kind: K) =>
    sorted.filter((entry): entry is Extract<Entry, { readonly kind: K }> => entry.kind === kind)

  const sends = of("send").map(answered)
  checkKeys(sends, clockError, blame)

  const attempts = of("attempt")
  const listed = checkListed(of("event"), attempts, isSettled, blame)
  const webhookOf = ({ webhook }: { readonly webhook: string }) => webhook
  const byWebhook = {
    set: grouped(of("webhook"), webhookOf),
    attempts: grouped(attempts, webhookOf),
    ends: grouped(of("delivery_end"), webhookOf)
  }
  for (const webhook of new Set(Object.values(byWebhook).flatMap((groups) => [...groups.keys()]))) {
    const [own, ends] = [byWebhook.attempts.get(webhook) ?? [], byWebhook.ends.get(webhook) ?? []]
    const deliveries = checkDeliveries(own, ends, listed, clockError, blame)
    const [set] = byWebhook.set.get(webhook) ?? []
    if (isSettled && set !== undefined) {
      checkAtLeastOnce(set, deliveries, listed, "delivered-at-least-once", clockError, blame)
    }
  }

  const subscriptionOf = ({ subscription }: { readonly subscription: string }) => subscription
  const bySubscription = {
    opened: grouped(of("subscription"), subscriptionOf),
    handled: grouped(of("handled"), subscriptionOf),
    setAside: grouped(of("set_aside"), subscriptionOf)
  }
  for (const subscription of new Set(Object.values(bySubscription).flatMap((groups) => [...groups.keys()]))) {
    const [opened] = bySubscription.opened.get(subscription) ?? []
    const handled = checkHandled(
      bySubscription.handled.get(subscription) ?? [],
      bySubscription.setAside.get(subscription) ?? [],
      listed,
      clockError,
      blame
    )
    if (isSettled && opened !== undefined) {
      checkAtLeastOnce(opened, handled, listed, "handled-at-least-once", clockError, blame)
    }
  }

  const calls = of("provider_call")
  const byKey = grouped(sends, keyOf)
  const firstOf = new Map(sends.flatMap((each) => {
    const [first] = byKey.get(keyOf(each)) ?? []
    return each.messageId === undefined || first === undefined ? [] : [[each.messageId, first.send.begun] as const]
  }))
  const askedAt = (message: string) => firstOf.get(message)
  const ofCustomers = {
    calls,
    customerNames: of("customer"),
    received: of("received"),
    preferences: of("preference"),
    askedAt
  }
  checkCustomers(ofCustomers, clockError, blame)
  checkReceipts(ofCustomers.received, listed, isSettled && listed.size > 0, clockError, blame)
  const failed = new Set(
    [...listed.values()].flatMap(({ event: { data, type } }) =>
      type === "message.failed" ? [String(data["message_id"])] : []
    )
  )
  if (isSettled && listed.size > 0) {
    checkQuotas(calls, of("quota"), (message) => failed.has(message), askedAt, clockError, blame)
  }

  const reports = grouped(of("report"), (entry) => entry.message_id)
  const ofCampaigns = {
    changes: of("campaign_change"),
    reads: of("campaign"),
    uploads: of("recipients"),
    customerNames: ofCustomers.customerNames,
    choices: [...ofCustomers.preferences, ...ofCustomers.received],
    calls,
    reports,
    listed
  }
  const openCampaigns = checkCampaigns(ofCampaigns, settledAt, clockError, blame)
  const namesCampaigns = calls.some(({ campaign }) => campaign !== undefined)
  const mayWait = (message: Message) =>
    openCampaigns.size > 0 && (!namesCampaigns || message.calls.length === 0 ||
      message.calls.some(({ campaign }) => campaign !== undefined && openCampaigns.has(campaign)))

  const byMessage = {
    sends: grouped(sends.filter(({ messageId }) => messageId !== undefined), ({ messageId }) => messageId!),
    calls: grouped(calls, (entry) => entry.message_id),
    reports,
    cancels: grouped(of("cancel"), (entry) => entry.message_id),
    reads: grouped(of("read"), (entry) => entry.message_id),
    events: grouped(
      [...listed.values()].filter(({ event }) => typeof event.data["message_id"] === "string"),
      ({ event }) => String(event.data["message_id"])
    )
  }
  for (const id of new Set(Object.values(byMessage).flatMap((groups) => [...groups.keys()]))) {
    const message: Message = {
      sends: byMessage.sends.get(id) ?? [],
      calls: byMessage.calls.get(id) ?? [],
      reports: byMessage.reports.get(id) ?? [],
      cancels: byMessage.cancels.get(id) ?? [],
      reads: byMessage.reads.get(id) ?? [],
      events: [...byMessage.events.get(id) ?? []].sort((a, b) => sequenceOf(a) - sequenceOf(b))
    }
    checkMessage(message, { clockError, settledAt, hasEvents: listed.size > 0, mayWait: mayWait(message) }, blame)
  }
  return { ok: broken.length === 0, broken }
}
