/**
 * The decisions for a campaign's work in the background (contract §11): checking rows, handing out recipients at the
 * campaign's pace, skipping, pausing and completing. Pure.
 */
import { Duration } from "effect"
import type * as Contact from "../contacts/Contact.ts"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import * as Suppression from "../contacts/Suppression.ts"
import type * as Event from "../events/Event.ts"
import type { MessageId, PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { IdempotencyKey } from "../Idempotency.ts"
import * as Limits from "../limits/Limits.ts"
import * as KeyedMessage from "../messages/KeyedMessage.ts"
import { type Message, type MessageError, type OutboundMessage, unsent } from "../messages/Message.ts"
import type { EventIds } from "../messages/MessageStore.ts"
import * as Policy from "../messages/Policy.ts"
import { SendBatch, type Writes as SendWrites } from "../messages/SendBatch.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import * as SenderBlock from "../numbers/SenderBlock.ts"
import type { Capabilities } from "../provider/Capabilities.ts"
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

/** How long a process has to send to the recipients that it claimed, before another process may claim them. */
export const lease = Duration.minutes(1)

/** How soon a campaign that has more recipients to hand out is due again. */
const busyDelay = Duration.millis(200)

/** How soon a campaign is due again while all of its recipients wait. */
const idleDelay = Duration.seconds(1)

/** Asks for one piece of work on the campaign whose turn it is. */
export interface Work {
  readonly now: Instant
  /** The maximum number of recipients to hand out or to skip. */
  readonly limit: number
  /** How many more messages of a number the process may take; no fewer than {@link limit} if omitted. */
  readonly roomOf?: ((phoneNumberId: PhoneNumberId) => number) | undefined
  readonly limits: Limits.Limits
  /** The prices for the forecast. */
  readonly rateCard: RateCard
  /** The name of the running provider. */
  readonly provider: string
  /** The capabilities of the running provider, which decide what the forecast counts. */
  readonly capabilities: Capabilities
  /** New identifiers for messages. At most as many rows are checked. */
  readonly messageIds: ReadonlyArray<MessageId>
  /** Hashes of the names that an earlier piece of work asked for ({@link Worked.unhashed}); empty in the first. */
  readonly hashes: Suppression.Hashes
  /** The workspace whose names these are: the next piece of work may be on a campaign of another. */
  readonly hashedFor: WorkspaceId | null
  /** New identifiers for one event. */
  readonly ids: EventIds
}

/** A recipient that waits in the queue, with its message. */
export interface Queued {
  readonly send: KeyedMessage.KeyedMessage
  /** The idempotency key of the message, as it was queued. */
  readonly key: IdempotencyKey
  /** How often the message was tried. */
  readonly tries: number
  /** The time zone in the recipient's row. */
  readonly timeZone: string | null
}

/** An uploaded row, and its place in the upload, from 1. */
export interface Placed {
  readonly place: number
  readonly row: Recipient.Row
  /** The contact of the row's customer with the campaign's sender. */
  readonly contact: Contact.Contact | undefined
  /** The opt-outs under the hash of the customer's name ({@link Work.hashes}); empty if there is no hash. */
  readonly suppressions: ReadonlyArray<Suppression.Suppression>
  /** Whether the campaign already has a message to the customer, under any key (`Contact.keysOf`). */
  readonly isKnown: boolean
}

/**
 * What a piece of work loads: the campaign and its rows or recipients, locked. Templates and sender may be a moment
 * old.
 */
export interface LoadedWork extends Known {
  readonly job: Job
  /** The number of the campaign (`Campaign.senderOf`), or the workspace's default number at the provider. */
  readonly sender: PhoneNumber.PhoneNumber | undefined
  /** The campaign's templates (`Variant.templatesOf`) in the sender's account. */
  readonly templates: ReadonlyArray<Template | undefined>
  /** Whether any name is opted out in the workspace, so that the names in rows must be looked up. */
  readonly isSuppressing: boolean
  /** Whether no recipient is left in the queue. */
  readonly isDone: boolean
  /** The rows after those that were checked; `null` unless a {@link Need} asked for them. */
  readonly rows: ReadonlyArray<Placed> | null
  /**
   * Recipients, in the order that the {@link Need} names, or else by due time; `null` unless a {@link Need} asked for
   * them.
   */
  readonly queue: ReadonlyArray<Queued> | null
}

/** More records that a piece of work needs. */
export type Need =
  | { readonly _tag: "Rows"; readonly limit: number }
  /**
   * Recipients of the queue: those that are due, all, or those that no process has tried or claimed and that are due
   * after `waitingAfter`. Of the latter, those who are due last come first: those who wait for another try are due
   * within the hour, and a storage that reads the queue in this order does not read them for every piece of work.
   */
  | { readonly _tag: "Queue"; readonly limit: number; readonly of: "due" | "all" | { readonly waitingAfter: Instant } }

/** A recipient that the calling process has claimed, to send the message. */
export interface Claimed {
  readonly message: Message
  /** {@link Queued.key}. */
  readonly key: IdempotencyKey
  readonly tries: number
  /** When the message is to be sent, by the storage's clock. */
  readonly slot: Instant
}

/** A checked row. */
export interface Checked {
  readonly place: number
  /** The queued message; `null` for a row with a problem. */
  readonly message: Message | null
  readonly customer: Contact.Contact["key"] | null
  /** The time zone in the row. */
  readonly timeZone: string | null
  readonly problem: Problem | null
}

/** What a piece of work writes. */
export interface WorkWrites {
  readonly job: Job
  readonly checked: ReadonlyArray<Checked>
  /** Recipients that stay in the queue, each with the time at which they are due again. */
  readonly leased: ReadonlyArray<{ readonly messageId: MessageId; readonly dueAt: Instant }>
  /** Those among {@link leased} who were tried, and who from now on count as if they had not been. */
  readonly untried: ReadonlyArray<MessageId>
  /** Recipients that leave the queue, besides the recipients of {@link sends}. */
  readonly dequeued: ReadonlyArray<MessageId>
  readonly sends: SendWrites | null
  /** How the campaign's counts change beyond {@link sends}. */
  readonly tallies: ReadonlyArray<CampaignTally.Tally>
  readonly events: ReadonlyArray<Event.Recorded>
}

/** The result of a piece of work: claimed recipients to send to now, or something else that was done. */
export interface Worked {
  readonly campaign: Campaign.Campaign
  /** The storage's time. */
  readonly at: Instant
  readonly claimed: ReadonlyArray<Claimed>
  /**
   * The names in rows that cannot be checked without their hashes ({@link Work.hashes}). If there are any, nothing was
   * done, and the caller must ask again with the hashes.
   */
  readonly unhashed: ReadonlyArray<Contact.Contact["key"]>
}

const nothing = { checked: [], leased: [], untried: [], dequeued: [], sends: null, tallies: [], events: [] }

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

const alwaysQuiet: MessageError = {
  code: "forbidden",
  reason: "quiet_hours",
  message: "no minute is outside of quietHours in all time zones of the recipient's country: give the row a timeZone"
}

/** The categories of approved templates. */
const categoriesOf = (templates: LoadedWork["templates"]): ReadonlyArray<string> =>
  templates.map((template) => template!.category)

/** The reason why a campaign cannot check or send; `undefined` if it can. */
const obstacle = (
  { provider }: Work,
  { sender, templates }: LoadedWork,
  now: Instant
): Campaign.PauseReason | undefined => {
  if (sender === undefined || !sender.available || sender.provider !== provider) return "sender_not_available"
  if (sender.block !== null && SenderBlock.stops(sender.block, false, now)) return "sender_not_available"
  return templates.every((template) => template?.status === "approved") ? undefined : "template_not_approved"
}

/** Whether the category of a template has changed: a message may then cost more, and other customers are left out. */
const changedCategory = (
  { job: { campaign: { categories } }, templates }: LoadedWork
): Campaign.PauseReason | undefined =>
  categories !== null && categoriesOf(templates).some((category, i) => category !== categories[i])
    ? "template_category"
    : undefined

/** Whether a customer is in the holdout: gets nothing, for comparison with the others. */
const isHeldOut = ({ holdout, id }: Campaign.Campaign, customer: Contact.Contact["key"]): boolean =>
  Split.isIn(holdout, "holdout", id, customer)

/** The customers in rows whose opt-outs must be looked up, but whose hashes are missing. */
const unhashedIn = (
  { hashedFor, hashes }: Work,
  { isSuppressing, job: { campaign }, rows, templates }: LoadedWork
): ReadonlyArray<Contact.Contact["key"]> => {
  if (!isSuppressing || !templates.some((template) => isMarketing(template!))) return []
  const customers = new Set(rows!.map(({ row }) => Recipient.customerOf(row)).filter((customer) => customer !== null))
  return [...customers].filter((customer) => hashedFor !== campaign.workspaceId || hashes[customer] === undefined)
}

/** Checks rows, and queues a message to each without a problem. */
const checkRows = (
  { capabilities, limits, messageIds, rateCard }: Work,
  { job: { campaign }, rows, sender, templates }: LoadedWork,
  now: Instant
): WorkWrites => {
  const contents = Variant.templatesOf(campaign)
  // sent from the number that is checked here, even if another number becomes the default
  const from = campaign.from ?? sender!.phoneNumber
  // by contact, as two rows may name one customer differently
  const seen = new Set<string>()
  const checked = rows!.map(({ contact, isKnown, place, row, suppressions }, i): Checked => {
    const customer = Recipient.customerOf(row)
    const key = contact?.key ?? customer
    const variant = customer === null ? null : Variant.of(campaign, customer)
    const at = Variant.placeOf(variant)
    const judged = Recipient.check({ from, template: contents[at]! }, row, {
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
      : [{ message, isLimited: Policy.countsAgainstMessagingLimit({ capabilities, contact: rows![i]!.contact, now }) }]
  )
  const limitedCustomers = campaign.limitedCustomers + reached.filter(({ isLimited }) => isLimited).length
  const expected = Forecast.withExpected(
    campaign.expected,
    reached.map(({ isLimited, message: { content, variant } }) =>
      PriceTally.expected(
        content.to,
        templates[Variant.placeOf(variant)]!.category,
        capabilities.serviceWindow && !isLimited
      )
    )
  )
  const zoneless = Forecast.withZoneless(
    campaign.zoneless,
    checked.flatMap(({ customer, message, timeZone }) => {
      if (message === null || customer === null || isHeldOut(campaign, customer)) return []
      const countries = QuietHours.countriesWithout(message.content.to, timeZone)
      return countries === null ? [] : [countries]
    })
  )
  const { quietHours, share, startAt } = campaign
  const after: Campaign.Campaign = {
    ...campaign,
    checked: campaign.checked + checked.length,
    problems: campaign.problems + problems,
    problemKinds: ProblemKind.add(ProblemKind.countedIn(campaign), checked),
    checkedFrom: campaign.from === null ? sender!.phoneNumber : null,
    // rows that an earlier check has judged keep it from hiding a change
    categories: campaign.categories ?? categoriesOf(templates),
    limitedCustomers,
    expected,
    zoneless,
    forecast: isReady
      ? Forecast.of(
        { expected, limitedCustomers, zoneless, quietHours, share, at: startAt ?? now },
        { sender: sender!, capabilities },
        limits,
        rateCard
      )
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

/** A recipient to skip, and why. */
interface Skipped {
  readonly queued: Queued
  readonly reason: MessageError
}

/** Skips recipients. A recipient whose message is being sent stays in the queue until the claim has ended. */
const skip = (left: ReadonlyArray<Skipped>, now: Instant) => {
  const stored = new Map(left.map(({ queued: { send } }) => [send.message.id, send]))
  const sends = new SendBatch({ send: (id) => stored.get(id) })
  const dequeued: Array<MessageId> = []
  const leased: Array<WorkWrites["leased"][number]> = []
  for (const { queued: { send }, reason } of left) {
    const { id } = send.message
    const claim = send.binding?.claim
    const skipped = KeyedMessage.skip(send, reason, now)
    if (claim) leased.push({ messageId: id, dueAt: Math.max(claim.leaseUntil, now + Duration.toMillis(idleDelay)) })
    else if (skipped.send !== send) sends.keep(skipped, { events: [], deliveries: [] })
    else dequeued.push(id)
  }
  return { dequeued, leased, sends: sends.writes() }
}

/** Judges recipients by their time zones, all in the same zones at once. */
const byZones = <A>(judge: (zones: ReadonlyArray<string>) => A): (queued: Queued) => A => {
  const judged = new Map<string, A>()
  return ({ send, timeZone }) => {
    const zones = QuietHours.zonesOf(send.message.content.to, timeZone)
    const name = zones.join()
    if (!judged.has(name)) judged.set(name, judge(zones))
    return judged.get(name)!
  }
}

/** When a recipient's quiet hours end: `now` if it is not quiet; `null` if they never end. */
const quietUntilOf = ({ quietHours }: Campaign.Campaign, now: Instant): (queued: Queued) => Instant | null =>
  quietHours === null ? () => now : byZones((zones) => QuietHours.end(quietHours, zones, now))

/** Why a recipient is skipped at the campaign's end. */
const reasonAtEndOf = ({ quietHours }: Campaign.Campaign, now: Instant): (queued: Queued) => MessageError =>
  quietHours === null
    ? () => tooLate
    : byZones((zones) => QuietHours.areEndless(quietHours, zones, now) ? alwaysQuiet : tooLate)

/** Skips the recipients in the queue, because the campaign no longer sends. */
const skipAll = (
  { job: { campaign }, queue }: LoadedWork,
  reasonOf: (queued: Queued) => MessageError,
  now: Instant
): WorkWrites => {
  const skipped = skip(queue!.map((queued) => ({ queued, reason: reasonOf(queued) })), now)
  // those that are being sent get their outcomes meanwhile
  const rest = skipped.leased.length === queue!.length ? idleDelay : Duration.zero
  return { ...nothing, ...skipped, job: { campaign, workAt: now + Duration.toMillis(rest) } }
}

/**
 * Divides recipients into those who may get a message now (`awake`), those whose quiet hours must end first
 * (`waiting`), and the holdout, who get none (`left`). Those whose quiet hours never end wait until the campaign ends:
 * a person may correct the hours until then.
 */
const byRules = (campaign: Campaign.Campaign, queue: ReadonlyArray<Queued>, now: Instant) => {
  const quietUntilFor = quietUntilOf(campaign, now)
  const awake: Array<Queued> = []
  const left: Array<Skipped> = []
  const waiting: Array<WorkWrites["leased"][number]> = []
  const untried: Array<MessageId> = []
  for (const queued of queue) {
    const { content: { to }, id } = queued.send.message
    if (isHeldOut(campaign, CustomerNames.keyOf(to))) {
      left.push({ queued, reason: heldOut })
      continue
    }
    const quietUntil = quietUntilFor(queued)
    if (quietUntil === now) awake.push(queued)
    else {
      waiting.push({ messageId: id, dueAt: quietUntil ?? Campaign.endsAt(campaign, now) })
      // a change of the quiet hours reaches only those who do not wait for another try
      if (queued.tries > 0) untried.push(id)
    }
  }
  return { awake, left, waiting, untried }
}

/** Completes a campaign that has no recipients left in its queue. */
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
 * Decides one piece of a campaign's work. It checks rows, starts a scheduled campaign, hands out recipients at the
 * campaign's pace, skips the recipients of a campaign that was cancelled or ran out of time, pauses a campaign that
 * cannot continue, and completes a campaign. If it needs rows or recipients that are not loaded, it returns a
 * {@link Need} instead.
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
  const { limit, limits, roomOf } = command!

  switch (campaign.status) {
    case "checking": {
      const reason = obstacle(command!, loaded, now)
      // it becomes a draft again, so that a person can correct it and repeat the check
      if (reason !== undefined) return keep({ ...campaign, status: "draft", pausedFor: reason }, null)
      if (loaded.rows === null) return { needs: [{ _tag: "Rows", limit: command!.messageIds.length }] }
      const unhashed = unhashedIn(command!, loaded)
      return unhashed.length > 0 ? end({ ...nothing, job }, { unhashed }) : end(checkRows(command!, loaded, now))
    }
    case "cancelled":
      if (loaded.isDone) return end(complete(command!, campaign, now))
      if (loaded.queue === null) return { needs: [{ _tag: "Queue", limit, of: "all" }] }
      return end(skipAll(loaded, () => cancelled, now))
    case "scheduled": {
      const { startAt } = campaign
      if (startAt !== null && startAt > now) return keep(campaign, startAt)
      return keep({ ...campaign, status: "running", startedAt: campaign.startedAt ?? now }, now)
    }
    case "running": {
      if (loaded.isDone) return end(complete(command!, campaign, now))
      if (Campaign.endsAt(campaign, now) <= now) {
        if (loaded.queue === null) return { needs: [{ _tag: "Queue", limit, of: "all" }] }
        return end(skipAll(loaded, reasonAtEndOf(campaign, now), now))
      }
      const snapshots = FailureRate.observe(campaign.snapshots, campaign.counts)
      const rate = FailureRate.rateOf(campaign.snapshots, campaign.counts)
      const reason = rate !== undefined && rate > campaign.maxFailureRate
        ? "failure_rate"
        : obstacle(command!, loaded, now) ?? changedCategory(loaded)
      if (reason !== undefined) return keep(Campaign.pauseFor({ ...campaign, snapshots }, reason), null)
      const observed = { ...campaign, snapshots, categories: categoriesOf(loaded.templates) }

      if (campaign.judgesAgain) {
        // the end of a claim is due earlier: its process may be sending the message
        const waitingAfter = now + Duration.toMillis(lease)
        if (loaded.queue === null) return { needs: [{ _tag: "Queue", limit, of: { waitingAfter } }] }
        return end({
          ...nothing,
          // fewer than the limit may mean that others are locked
          job: { campaign: { ...observed, judgesAgain: loaded.queue.length > 0 }, workAt: now },
          leased: loaded.queue.map(({ send: { message: { id } } }) => ({ messageId: id, dueAt: now }))
        })
      }

      const { perSecond } = Limits.phoneNumberTier(limits, PhoneNumber.tierOf(loaded.sender!))
      const slots = Pace.slots({ next: campaign.nextSlot, rate: perSecond, share: campaign.share }, now)
      const most = roomOf === undefined ? limit : Math.min(limit, roomOf(loaded.sender!.id))
      // messages of this number fill the process, and another process may have room for more
      if (most === 0) return keep(observed, Math.max(slots.from, now + Duration.toMillis(busyDelay)))
      const room = Math.min(slots.count, most)
      if (room === 0) return keep(observed, slots.from)
      // recipients in quiet hours or in the holdout take no slot, so more recipients are loaded
      const lookedAt = campaign.quietHours === null && campaign.holdout === 0 ? room : limit
      if (loaded.queue === null) return { needs: [{ _tag: "Queue", limit: lookedAt, of: "due" }] }
      const { awake, left, untried, waiting } = byRules(campaign, loaded.queue, now)
      const skipped = skip(left, now)
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
        untried,
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
