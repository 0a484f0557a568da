/**
 * The decisions for a campaign's work in the background (contract §11): checking rows, handing out recipients at the
 * campaign's pace, skipping, pausing and completing. Pure.
 */
import { Duration } from "effect"
import type * as Contact from "../contacts/Contact.ts"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import * as Suppression from "../contacts/Suppression.ts"
import type * as Event from "../events/Event.ts"
import type { MessageId } from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import * as Limits from "../limits/Limits.ts"
import * as KeyedMessage from "../messages/KeyedMessage.ts"
import { type Message, type MessageError, type OutboundMessage, unsent } from "../messages/Message.ts"
import type { EventIds } from "../messages/MessageStore.ts"
import { SendBatch, type Writes as SendWrites } from "../messages/SendBatch.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import * as SenderBlock from "../numbers/SenderBlock.ts"
import * as Pace from "../queue/Pace.ts"
import type { Decide, Known } from "../Step.ts"
import { isMarketing, type Template } from "../templates/Template.ts"
import type { Instant } from "../Time.ts"
import * as PriceTally from "../usage/PriceTally.ts"
import type { RateCard } from "../usage/RateCard.ts"
import * as Campaign from "./Campaign.ts"
import * as CampaignEvent from "./CampaignEvent.ts"
import type { Job } from "./CampaignStep.ts"
import * as CampaignTally from "./CampaignTally.ts"
import * as FailureRate from "./FailureRate.ts"
import * as Forecast from "./Forecast.ts"
import type { Problem } from "./Problem.ts"
import * as ProblemKind from "./ProblemKind.ts"
import * as QuietHours from "./QuietHours.ts"
import * as Recipient from "./Recipient.ts"
import * as Split from "./Split.ts"
import * as Variant from "./Variant.ts"

/** How long a process has to send to the recipients that it took, before another one takes them again. */
export const lease = Duration.minutes(1)

/** How soon a campaign that has more to do is looked at again. */
const busyDelay = Duration.millis(200)

/** How soon a campaign is looked at again while all of its recipients wait for something. */
const idleDelay = Duration.seconds(1)

/** Lets the campaign whose turn it is do some work. */
export interface Work {
  readonly now: Instant
  /** The maximum number of recipients to hand out or to skip. */
  readonly limit: number
  readonly limits: Limits.Limits
  /** The prices for the forecast. */
  readonly rateCard: RateCard
  /** The name of the running provider. */
  readonly provider: string
  /** New identifiers for messages. As many rows are checked at most. */
  readonly messageIds: ReadonlyArray<MessageId>
  /** Hashes of the names for which an earlier piece of work asked ({@link Worked.unhashed}); empty in the first. */
  readonly hashes: Suppression.Hashes
  /** New identifiers for one event. */
  readonly ids: EventIds
}

/** A recipient that waits in the queue, with its message. */
export interface Queued {
  readonly send: KeyedMessage.KeyedMessage
  /** The key of the message, as it was when it was queued. */
  readonly key: IdempotencyKey
  /** How often it was tried. */
  readonly tries: number
  /** The time zone that its row gives. */
  readonly timeZone: string | null
}

/** An uploaded row, and its place in the upload, from 1. */
export interface Placed {
  readonly place: number
  readonly row: Recipient.Row
  /** The contact of the row's customer with the campaign's sender. */
  readonly contact: Contact.Contact | undefined
  /** The opt-outs under the hash of the customer's name ({@link Work.hashes}); none if there is no hash. */
  readonly suppressions: ReadonlyArray<Suppression.Suppression>
  /** Whether the campaign already has a message to the customer, under any key (`Contact.keysOf`). */
  readonly isKnown: boolean
}

/** What a piece of work loads: the campaign, locked with what it needs. Templates and sender may be a moment old. */
export interface LoadedWork extends Known {
  readonly job: Job
  /** The number that the campaign names, or the workspace's default number at the provider. */
  readonly sender: PhoneNumber.PhoneNumber | undefined
  /** The campaign's templates (`Variant.templatesOf`) in the sender's account. */
  readonly templates: ReadonlyArray<Template | undefined>
  /** Whether the workspace has an opt-out of a name, so that names of rows have to be looked up. */
  readonly isSuppressing: boolean
  /** Whether no recipient is left in the queue. */
  readonly isDone: boolean
  /** Rows after those that were checked, if they were needed. */
  readonly rows: ReadonlyArray<Placed> | null
  /** Recipients, those that are due first first, if they were needed. */
  readonly queue: ReadonlyArray<Queued> | null
}

/** What the work needs beyond the campaign. */
export type Need =
  | { readonly _tag: "Rows"; readonly limit: number }
  /** Recipients of the queue: those that are due, or all. */
  | { readonly _tag: "Queue"; readonly limit: number; readonly isDue: boolean }

/** A recipient that a process took to send to. */
export interface Claimed {
  readonly message: Message
  /** {@link Queued.key}. */
  readonly key: IdempotencyKey
  readonly tries: number
  /** When it is to be sent, by the storage's clock. */
  readonly slot: Instant
}

/** A checked row. */
export interface Checked {
  readonly place: number
  /** The queued message; `null` for a row with a problem. */
  readonly message: Message | null
  readonly customer: Contact.Contact["key"] | null
  /** The time zone that the row gives. */
  readonly timeZone: string | null
  readonly problem: Problem | null
}

/** What a piece of work writes. */
export interface WorkWrites {
  readonly job: Job
  readonly checked: ReadonlyArray<Checked>
  /** Recipients that were taken, each with the end of its lease. */
  readonly leased: ReadonlyArray<{ readonly messageId: MessageId; readonly dueAt: Instant }>
  /** Recipients that leave the queue, besides those of {@link sends}. */
  readonly dequeued: ReadonlyArray<MessageId>
  readonly sends: SendWrites | null
  /** How the campaign's counts change beyond {@link sends}. */
  readonly tallies: ReadonlyArray<CampaignTally.Tally>
  readonly events: ReadonlyArray<Event.Recorded>
}

/** The work that was done: recipients to send to now, or something else. */
export interface Worked {
  readonly campaign: Campaign.Campaign
  /** The storage's time. */
  readonly at: Instant
  readonly claimed: ReadonlyArray<Claimed>
  /**
   * The names of rows that cannot be checked without their hashes ({@link Work.hashes}), if there are any: then nothing
   * was done, and the work has to be asked for again with them.
   */
  readonly unhashed: ReadonlyArray<Contact.Contact["key"]>
}

const nothing = { checked: [], leased: [], dequeued: [], sends: null, tallies: [], events: [] }

const cancelled: MessageError = {
  code: "forbidden",
  reason: "cancelled",
  message: "the campaign was cancelled before this message was sent"
}

const heldOut: MessageError = {
  code: "forbidden",
  reason: "holdout",
  message: "the recipient belongs to the campaign's holdout"
}

const tooLate: MessageError = {
  code: "forbidden",
  reason: "not_after",
  message: "the campaign's end time (notAfter) had passed"
}

/** The categories of approved templates. */
const categoriesOf = (templates: LoadedWork["templates"]): ReadonlyArray<string> =>
  templates.map((template) => template!.category)

/** Why a campaign cannot go on. */
const obstacle = (
  { provider }: Work,
  { sender, templates }: LoadedWork,
  now: Instant
): Campaign.PauseReason | undefined => {
  if (sender === undefined || !sender.available || sender.provider !== provider) return "sender_not_available"
  if (sender.block !== null && SenderBlock.stops(sender.block, false, now)) return "sender_not_available"
  return templates.every((template) => template?.status === "approved") ? undefined : "template_not_approved"
}

/** Another category may cost more, and excludes other customers. */
const changedCategory = (
  { job: { campaign: { categories } }, templates }: LoadedWork
): Campaign.PauseReason | undefined =>
  categories !== null && categoriesOf(templates).some((category, i) => category !== categories[i])
    ? "template_category"
    : undefined

/** Whether a customer gets nothing, to compare the others with. */
const isHeldOut = ({ holdout, id }: Campaign.Campaign, customer: Contact.Contact["key"]): boolean =>
  Split.isIn(holdout, "holdout", id, customer)

/** The customers whose opt-outs have to be known, and whose hashes are not. */
const unhashedIn = (
  { hashes }: Work,
  { isSuppressing, rows, templates }: LoadedWork
): ReadonlyArray<Contact.Contact["key"]> => {
  if (!isSuppressing || !templates.some((template) => isMarketing(template!))) return []
  const customers = new Set(rows!.map(({ row }) => Recipient.customerOf(row)).filter((customer) => customer !== null))
  return [...customers].filter((customer) => hashes[customer] === undefined)
}

/** Checks rows, and queues a message to each without a problem. */
const checkRows = (
  { limits, messageIds, rateCard }: Work,
  { job: { campaign }, rows, sender, templates }: LoadedWork,
  now: Instant
): WorkWrites => {
  const contents = Variant.templatesOf(campaign)
  // by contact, as two rows may name a customer differently
  const seen = new Set<string>()
  const checked = rows!.map(({ contact, isKnown, place, row, suppressions }, i): Checked => {
    const customer = Recipient.customerOf(row)
    const key = contact?.key ?? customer
    const variant = customer === null ? null : Variant.of(campaign, customer)
    const at = Variant.placeOf(variant)
    const judged = Recipient.check({ from: campaign.from, template: contents[at]! }, row, {
      template: templates[at]!,
      contact,
      isOptedOut: Suppression.isOptedOut(contact, suppressions, sender!.id),
      isKnown: isKnown || (key !== null && seen.has(key))
    })
    if ("problem" in judged) return { place, message: null, customer: null, timeZone: null, problem: judged.problem }
    seen.add(key!)
    const message = queued(campaign, { id: messageIds[i]!, variant }, judged.message, sender!, now)
    return { place, message, customer, timeZone: Recipient.timeZoneOf(row), problem: null }
  })
  const tallies = CampaignTally.ofNew(checked.flatMap(({ message }) => message === null ? [] : [message]))
  const problems = checked.filter(({ problem }) => problem !== null).length
  const isReady = checked.length < messageIds.length
  const reached = checked.flatMap(({ customer, message }, i) =>
    message === null || customer === null || isHeldOut(campaign, customer)
      ? []
      : [{ message, isLimited: Forecast.isLimited(rows![i]!.contact, now) }]
  )
  const limitedCustomers = campaign.limitedCustomers + reached.filter(({ isLimited }) => isLimited).length
  const expected = Forecast.withExpected(
    campaign.expected,
    reached.map(({ isLimited, message: { content, variant } }) =>
      PriceTally.expected(content.to, templates[Variant.placeOf(variant)]!.category, !isLimited)
    )
  )
  const { share, startAt } = campaign
  const after: Campaign.Campaign = {
    ...campaign,
    checked: campaign.checked + checked.length,
    problems: campaign.problems + problems,
    problemKinds: ProblemKind.add(ProblemKind.countedIn(campaign), checked),
    categories: categoriesOf(templates),
    limitedCustomers,
    expected,
    forecast: isReady
      ? Forecast.of({ expected, limitedCustomers, share, at: startAt ?? now }, sender!, limits, rateCard)
      : null,
    ...Campaign.counted(CampaignTally.add(campaign.tallies, tallies)),
    status: isReady ? "ready" : "checking"
  }
  return { ...nothing, job: { campaign: after, workAt: after.status === "checking" ? now : null }, checked, tallies }
}

const queued = (
  { id, workspaceId }: Campaign.Campaign,
  own: Pick<Message, "id" | "variant">,
  content: OutboundMessage,
  sender: PhoneNumber.PhoneNumber,
  now: Instant
): Message =>
  unsent({
    ...own,
    workspaceId,
    apiKeyId: null,
    campaignId: id,
    phoneNumberId: sender.id,
    from: sender.phoneNumber,
    content,
    status: "queued",
    createdAt: now
  })

/** Ends recipients. Those that are being sent keep their place. */
const skip = (queue: ReadonlyArray<Queued>, reason: MessageError, now: Instant) => {
  const stored = new Map(queue.map(({ send }) => [send.message.id, send]))
  const sends = new SendBatch({ send: (id) => stored.get(id) })
  const dequeued: Array<MessageId> = []
  const leased: Array<WorkWrites["leased"][number]> = []
  for (const { send } of queue) {
    const { id } = send.message
    const claim = send.binding?.claim
    const skipped = KeyedMessage.skip(send, reason, now)
    if (claim) leased.push({ messageId: id, dueAt: Math.max(claim.leaseUntil, now + Duration.toMillis(idleDelay)) })
    else if (skipped.send !== send) sends.keep(skipped, { events: [], deliveries: [] })
    else dequeued.push(id)
  }
  return { dequeued, leased, sends: sends.writes() }
}

/** Ends all recipients that wait, because the campaign no longer sends. */
const skipAll = (loaded: LoadedWork, reason: MessageError, now: Instant): WorkWrites => {
  const { job: { campaign }, queue } = loaded
  const skipped = skip(queue!, reason, now)
  // those that are being sent get their outcomes meanwhile
  const rest = skipped.leased.length === queue!.length ? idleDelay : Duration.zero
  return { ...nothing, ...skipped, job: { campaign, workAt: now + Duration.toMillis(rest) } }
}

/** Separates recipients who may get a message now from those whose quiet hours have to end, and those who get none. */
const byRules = (campaign: Campaign.Campaign, queue: ReadonlyArray<Queued>, now: Instant) => {
  const { quietHours } = campaign
  const ends = new Map<string, Instant | null>()
  const awake: Array<Queued> = []
  const left: Array<Queued> = []
  const waiting: Array<WorkWrites["leased"][number]> = []
  for (const queued of queue) {
    const { content: { to }, id } = queued.send.message
    if (isHeldOut(campaign, CustomerNames.keyOf(to))) {
      left.push(queued)
      continue
    }
    const zones = quietHours === null ? [] : QuietHours.zonesOf(to, queued.timeZone)
    const name = zones.join()
    const known = ends.get(name)
    const quietUntil = quietHours === null
      ? now
      : known === undefined
      ? QuietHours.end(quietHours, zones, now)
      : known
    ends.set(name, quietUntil)
    if (quietUntil === now) awake.push(queued)
    else waiting.push({ messageId: id, dueAt: quietUntil ?? Campaign.endsAt(campaign, now) })
  }
  return { awake, left, waiting }
}

/** Ends a campaign without recipients in its queue. */
const complete = ({ ids }: Work, campaign: Campaign.Campaign, now: Instant): WorkWrites => {
  const after: Campaign.Campaign = {
    ...campaign,
    status: campaign.status === "cancelled" ? "cancelled" : "completed",
    completedAt: now
  }
  const event = CampaignEvent.ofCompleted(after, { id: ids.events[0]!, createdAt: now })
  return { ...nothing, job: { campaign: after, workAt: null }, events: [{ event, deliveryId: ids.deliveries[0]! }] }
}

/**
 * Decides one piece of a campaign's work: it checks rows, begins a scheduled campaign, hands out recipients at the
 * campaign's pace, ends recipients of a campaign that was cancelled or ran out of time, pauses a campaign that cannot
 * go on, and completes it. The answer is `undefined` while more has to be loaded.
 */
export const work: Decide<Work, LoadedWork, Worked, WorkWrites, Need> = (loaded, [command]) => {
  const { job } = loaded
  const now = loaded.now(command!.now)
  const end = (
    writes: WorkWrites,
    { claimed = [], unhashed = [] }: Partial<Pick<Worked, "claimed" | "unhashed">> = {}
  ) => ({
    answers: [{ campaign: writes.job.campaign, at: now, claimed, unhashed }],
    writes
  })
  const keep = (campaign: Campaign.Campaign, workAt: Instant | null) => end({ ...nothing, job: { campaign, workAt } })
  const { campaign } = job
  const { limit, limits } = command!

  switch (campaign.status) {
    case "checking": {
      const reason = obstacle(command!, loaded, now)
      // it stays a draft, so that a person can mend it and check again
      if (reason !== undefined) return keep({ ...campaign, status: "draft", pausedFor: reason }, null)
      if (loaded.rows === null) return { needs: [{ _tag: "Rows", limit: command!.messageIds.length }] }
      const unhashed = unhashedIn(command!, loaded)
      return unhashed.length > 0 ? end({ ...nothing, job }, { unhashed }) : end(checkRows(command!, loaded, now))
    }
    case "cancelled":
      if (loaded.isDone) return end(complete(command!, campaign, now))
      if (loaded.queue === null) return { needs: [{ _tag: "Queue", limit, isDue: false }] }
      return end(skipAll(loaded, cancelled, now))
    case "scheduled": {
      const { startAt } = campaign
      if (startAt !== null && startAt > now) return keep(campaign, startAt)
      return keep({ ...campaign, status: "running", startedAt: campaign.startedAt ?? now }, now)
    }
    case "running": {
      if (loaded.isDone) return end(complete(command!, campaign, now))
      if (Campaign.endsAt(campaign, now) <= now) {
        if (loaded.queue === null) return { needs: [{ _tag: "Queue", limit, isDue: false }] }
        return end(skipAll(loaded, tooLate, now))
      }
      const snapshots = FailureRate.observe(campaign.snapshots, campaign.counts)
      const rate = FailureRate.rateOf(campaign.snapshots, campaign.counts)
      const reason = rate !== undefined && rate > campaign.maxFailureRate
        ? "failure_rate"
        : obstacle(command!, loaded, now) ?? changedCategory(loaded)
      if (reason !== undefined) return keep(Campaign.pauseFor({ ...campaign, snapshots }, reason), null)
      const observed = { ...campaign, snapshots, categories: categoriesOf(loaded.templates) }

      const { perSecond } = Limits.phoneNumberTier(limits, PhoneNumber.tierOf(loaded.sender!))
      const slots = Pace.slots({ next: campaign.nextSlot, rate: perSecond, share: campaign.share }, now)
      const room = Math.min(slots.count, limit)
      if (room === 0) return keep(observed, slots.from)
      // recipients who wait for their morning or get nothing take no slot, so more have to be looked at
      const lookedAt = campaign.quietHours === null && campaign.holdout === 0 ? room : limit
      if (loaded.queue === null) return { needs: [{ _tag: "Queue", limit: lookedAt, isDue: true }] }
      const { awake, left, waiting } = byRules(campaign, loaded.queue, now)
      const skipped = skip(left, heldOut, now)
      const until = now + Duration.toMillis(lease)
      const claimed = awake.slice(0, room).map(({ key, send: { message }, tries }, i) => ({
        message,
        key,
        tries,
        slot: Pace.slotAt(slots, i)
      }))
      const after = claimed.length === 0 ? observed : { ...observed, nextSlot: Pace.slotAt(slots, claimed.length) }
      const rest = claimed.length === room ? busyDelay : loaded.queue.length < lookedAt ? idleDelay : Duration.zero
      return end({
        ...nothing,
        ...skipped,
        job: { campaign: after, workAt: now + Duration.toMillis(rest) },
        leased: [
          ...waiting,
          ...skipped.leased,
          ...claimed.map(({ message: { id } }) => ({ messageId: id, dueAt: until }))
        ]
      }, { claimed })
    }
    case "draft":
    case "ready":
    case "paused":
    case "completed":
      return keep(campaign, null)
  }
}
