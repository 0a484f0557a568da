/**
 * The *accept* transition: decides whether a send may be given to the provider (contract §3, *Order of checks*), and
 * what it spends. Pure: it works on loaded data and returns what to write.
 */
import { Result } from "effect"
import * as Contact from "../contacts/Contact.ts"
import type { Suppression } from "../contacts/Suppression.ts"
import type { MessageId, PhoneNumberId, WorkspaceId } from "../Id.ts"
import type * as Idempotency from "../Idempotency.ts"
import * as ApiKey from "../keys/ApiKey.ts"
import * as Bucket from "../limits/Bucket.ts"
import * as FrequencyCap from "../limits/FrequencyCap.ts"
import * as Limits from "../limits/Limits.ts"
import * as MessagingLimit from "../limits/MessagingLimit.ts"
import * as Quota from "../limits/Quota.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import * as SendTimes from "../queue/SendTimes.ts"
import type { Decide, Known } from "../Step.ts"
import * as StorageTime from "../StorageTime.ts"
import { isMarketing, type Template } from "../templates/Template.ts"
import type { Instant } from "../Time.ts"
import * as Workspace from "../workspaces/Workspace.ts"
import { type Message, unsent } from "./Message.ts"
import { type Accepted, type AcceptSend, claimedMessage, type KeyedRequest } from "./MessageStore.ts"
import * as Policy from "./Policy.ts"
import * as SendBinding from "./SendBinding.ts"

/** A workspace and its rate limit. */
export interface OfWorkspace {
  readonly workspace: Workspace.Workspace
  /** When its bucket is full. */
  readonly fullAt: Instant
}

/** A phone number and what its sends have spent. */
export interface OfNumber {
  readonly number: PhoneNumber.PhoneNumber
  /** When its bucket is full. */
  readonly fullAt: Instant
  /**
   * How many customers count against the messaging limit by messages from each number that shares it
   * (`MessagingLimit.poolOf`), the number itself included. A customer counts for one number: the last that counted
   * them.
   */
  readonly customers: ReadonlyMap<PhoneNumberId, number>
  /**
   * Whether `customers` is exact. If not, it may include customers whose 24 hours have passed
   * (`MessagingLimit.lapsed`).
   */
  readonly isExact: boolean
}

/** What sends from a number to a customer have spent, as noted under one of the customer's keys (`Contact.keysOf`). */
export interface OfPair {
  readonly phoneNumberId: PhoneNumberId
  readonly customer: Contact.Contact["key"]
  /** When the pair's bucket is full; `undefined` if there is no bucket. */
  readonly fullAt: Instant | undefined
  /** When the number last counted the customer against the messaging limit; `null` if the customer does not count. */
  readonly countedAt: Instant | null
  /** When the last marketing templates were sent, for the frequency cap. */
  readonly marketingAt: ReadonlyArray<Instant>
}

/** The message to which the key of a send is bound. */
export interface Bound {
  readonly binding: SendBinding.SendBinding
  readonly message: Message
  /** The month whose quota the message has spent; `null` if the quota was given back. */
  readonly quotaMonth: string | null
  /**
   * Whether another transaction holds the send's lock. Then the data may be slightly old, and the send must not be
   * claimed.
   */
  readonly isBusy: boolean
}

/** The stored state for a send. The workspace's lock covers all of it except the key, the template and the contact. */
export interface Found {
  readonly workspace: OfWorkspace | undefined
  /** The API key of the request; `undefined` if the request had none or the workspace does not have it. */
  readonly apiKey: Pick<ApiKey.ApiKey, "expiresAt" | "revokedAt" | "phoneNumberIds"> | undefined
  /** The number that the message names, or the workspace's default number at the provider. */
  readonly sender: OfNumber | undefined
  /** The template in the sender's account. */
  readonly template: Template | undefined
  /** The customer, as a contact of the sender. */
  readonly contact: Contact.Contact | undefined
  /** The workspace's opt-outs under the hash of the recipient's name; they may be a moment old. */
  readonly suppressions: ReadonlyArray<Suppression>
  /**
   * What was noted under every key of the customer: for the sender, and for each number that shares the messaging limit
   * and for which the customer counts. Usually there is none, or only the sender's.
   */
  readonly pairs: ReadonlyArray<OfPair>
  readonly bound: Bound | undefined
  /** Whether the workspace knows a customer by `to`. Only has to be correct if `to` is not a valid name by its form. */
  readonly isKnownName: boolean
  /**
   * The campaign's messages to the same customer under their other keys (`Contact.campaignKeysOf`); always empty
   * without a campaign.
   */
  readonly twins: ReadonlyArray<Message>
  /** How many messages the workspace has sent in a month. */
  readonly quotaUsed: (month: string) => number
  /** How many messages of the workspace's callers are queued. Only has to be correct for a request to send later. */
  readonly queued: number
}

/** What the step loads. */
export interface Loaded extends Known {
  /** The stored state for a command. */
  readonly found: (command: AcceptSend) => Found
}

/** Phone numbers for which exact counts are needed, without the customers whose 24 hours have passed. */
export interface Need {
  readonly phoneNumberIds: ReadonlyArray<PhoneNumberId>
  /** `MessagingLimit.lapsed` at the time of the count. */
  readonly lapsed: Instant
}

/** A claimed try of a send. */
export interface Claim {
  readonly request: KeyedRequest
  /** The message after this try was claimed. */
  readonly message: Message
  /** The key of the customer to whose conversation the message belongs. */
  readonly customer: Contact.Contact["key"]
  /** The message as it was, after an earlier try or in the queue; `undefined` if this try makes it. */
  readonly before: Message | undefined
  readonly claim: NonNullable<SendBinding.SendBinding["claim"]>
  /** The month whose quota the message has spent. */
  readonly quotaMonth: string
  /**
   * When the customer had been counted before, if this try counts them against the messaging limit; `null` if it does
   * not.
   */
  readonly counted: { readonly before: Instant | null } | null
}

/** A message that is queued. */
export interface Queued {
  readonly request: KeyedRequest
  readonly message: Message
  readonly sendUntil: Instant
  readonly answer: SendBinding.Queued
}

/** The changes to write: what was spent (each row at most once), the claimed sends, and the queued messages. */
export interface Writes {
  readonly workspaces: ReadonlyArray<{ readonly id: WorkspaceId; readonly fullAt: Instant }>
  readonly numbers: ReadonlyArray<{
    readonly id: PhoneNumberId
    readonly fullAt: Instant
    /** How many customers to add to the number's count. */
    readonly customers: number
  }>
  readonly pairs: ReadonlyArray<{
    readonly phoneNumberId: PhoneNumberId
    readonly customer: Contact.Contact["key"]
    readonly fullAt: Instant
    /** When this try counted the customer; `null` if it did not. */
    readonly countedAt: Instant | null
    /** The last marketing templates, and when none of them counts any more; `null` if there was none. */
    readonly marketing: { readonly at: ReadonlyArray<Instant>; readonly until: Instant } | null
  }>
  /**
   * Customers who no longer count for a number, because another number that shares the messaging limit counted them.
   */
  readonly moved: ReadonlyArray<{
    readonly phoneNumberId: PhoneNumberId
    readonly customer: Contact.Contact["key"]
  }>
  readonly quotas: ReadonlyArray<{
    readonly workspaceId: WorkspaceId
    readonly month: string
    /** How many messages to add. */
    readonly messages: number
  }>
  /** Messages whose keys expired and now belong to other messages. */
  readonly unbound: ReadonlyArray<MessageId>
  readonly claims: ReadonlyArray<Claim>
  readonly queued: ReadonlyArray<Queued>
}

interface NumberState {
  readonly bucket: Bucket.Bucket
  readonly id: PhoneNumberId
}

/** The numbers that share a messaging limit. */
interface PoolState {
  readonly loaded: OfNumber
  /** The number of customers who count. */
  customers: number
}

interface PairState {
  readonly bucket: Bucket.Bucket
  readonly phoneNumberId: PhoneNumberId
  readonly customer: Contact.Contact["key"]
  /** Other keys of the customer whose buckets were added to this one. */
  readonly emptied: ReadonlyArray<Contact.Contact["key"]>
  marketingAt: ReadonlyArray<Instant>
  marketingUntil: Instant | null
}

/** A customer, as counted against the messaging limit of some numbers. */
interface CustomerState {
  readonly customer: Contact.Contact["key"]
  readonly loaded: ReadonlyArray<OfPair>
  countedAt: Instant | null
  /** The number that last counted the customer in this batch. */
  countedBy: PhoneNumberId | null
}

interface QuotaState {
  readonly workspaceId: WorkspaceId
  readonly month: string
  readonly used: number
  messages: number
}

type Refusal = Extract<Accepted, { readonly _tag: "Refused" }>["error"]

const refused = (readings: ReadonlyArray<RateLimit.Reading>, error: Refusal): Accepted => ({
  _tag: "Refused",
  readings,
  error
})

/** The refusal of a message that waits for its time. If a block of its number is the cause, it says when that ends. */
const refusedForNow = (
  readings: ReadonlyArray<RateLimit.Reading>,
  error: Refusal,
  facts: Policy.KnownCircumstances
): Accepted => {
  const blockedUntil = Policy.blockedUntil(facts, error)
  return { _tag: "Refused", readings, error, ...blockedUntil === undefined ? {} : { blockedUntil } }
}

const known = <K, V>(all: Map<K, V>, key: K, make: () => V): V => {
  const found = all.get(key)
  if (found !== undefined) return found
  const made = make()
  all.set(key, made)
  return made
}

const nameOf = ({ key, route, workspaceId }: KeyedRequest): string => `${workspaceId}\n${route}\n${key}`

/** The state after the commands of the batch that were already decided. */
class Batch {
  private readonly workspaces = new Map<WorkspaceId, Bucket.Bucket>()
  private readonly numbers = new Map<PhoneNumberId, NumberState>()
  private readonly pools = new Map<string, PoolState>()
  private readonly pairs = new Map<string, PairState>()
  private readonly customers = new Map<string, CustomerState>()
  private readonly quotas = new Map<string, QuotaState>()
  private readonly bounds = new Map<string, Bound>()
  private readonly unbound: Array<MessageId> = []
  private readonly claims: Array<Claim> = []
  private readonly queued: Array<Queued> = []
  private readonly needed = new Map<string, Need>()

  accept(command: AcceptSend, found: Found): Accepted {
    const { later, limits, message: content, now, queue, request } = command
    const { apiKey, contact, template, workspace: own } = found
    if (own === undefined || (command.apiKeyId !== null && apiKey === undefined)) return refused([], ApiKey.invalid())
    const barred = (apiKey && ApiKey.refusal(apiKey, now)) ?? Workspace.suspension(own.workspace)
    if (barred !== undefined) return refused([], barred)

    // a send of the queue is not a request, and the tokens of a batch's items were spent for the whole batch
    const ofRequest = Bucket.check(
      queue !== null || later?.isInBatch === true ? [] : [{
        bucket: known(this.workspaces, own.workspace.id, () => new Bucket.Bucket(own.fullAt)),
        policy: Limits.workspace(limits, own.workspace.tier)
      }],
      now
    )
    const tooFast = RateLimit.refusal(ofRequest.readings)
    if (tooFast !== undefined) return refused(ofRequest.readings, tooFast)

    const name = nameOf(request)
    const bound = this.bounds.get(name) ?? found.bound
    const verdict = judge(bound, command, now)
    if (verdict._tag !== "Unbound" && verdict._tag !== "Released") {
      ofRequest.spend()
      return { ...verdict, readings: ofRequest.readings }
    }
    const again = verdict._tag === "Released" ? bound : undefined
    if (queue !== null && again === undefined) {
      return { _tag: "Unknown", reason: "outcome_unknown", readings: ofRequest.readings }
    }
    // after a failover, the storage's clock may show an earlier time than when the message was taken
    if (queue !== null && (again!.message.sendAt ?? now) > now) return { _tag: "Running", readings: [] }

    const facts: Policy.KnownCircumstances = {
      now,
      message: content,
      provider: command.provider,
      capabilities: command.capabilities,
      sender: found.sender?.number,
      boundTo: apiKey?.phoneNumberIds ?? null,
      template,
      contact,
      suppressions: found.suppressions,
      isKnownName: found.isKnownName
    }
    if (later !== null && again === undefined) {
      const queued = this.enqueue(command, found, facts)
      if (Result.isFailure(queued)) return refusedForNow(ofRequest.readings, queued.failure, facts)
      ofRequest.spend()
      if (bound !== undefined) this.unbound.push(bound.message.id)
      return { _tag: "Queued", answer: queued.success, readings: ofRequest.readings }
    }

    const keys = Contact.keysOf(content.to, contact)
    const [customer] = keys
    const pool = found.sender && MessagingLimit.poolOf(found.sender.number)
    const shared = found.sender && this.pool(pool!, found.sender)
    const counted = pool === undefined ? undefined : this.customer(pool, customer, found.pairs)
    const month = Quota.monthOf(now)
    const quota = this.quota(request.workspaceId, month, found)
    const refusal = Policy.refusal({
      ...facts,
      // a message that has already spent its quota needs no more
      quota: again !== undefined && again.quotaMonth !== null
        ? null
        : own.workspace.monthlyQuota ?? limits.defaults.monthlyQuota,
      quotaUsed: quota.used + quota.messages,
      // the policy refuses a missing sender first
      messagingLimit: found.sender === undefined
        ? null
        : PhoneNumber.messagingLimitOf(found.sender.number, limits.defaults.messagingLimit),
      customersCounted: shared?.customers ?? 0,
      customerCounted: counted !== undefined && counted.countedAt !== null &&
        MessagingLimit.counts(counted.countedAt, now)
    })
    if (refusal !== undefined) {
      if (refusal.reason === "messaging_limit_reached") this.need(pool!, shared!, now)
      return queue === null
        ? refused(ofRequest.readings, refusal)
        : refusedForNow(ofRequest.readings, refusal, facts)
    }
    // the policy refuses a missing sender first, so there is one here
    const sender = found.sender!.number

    const number = this.number(found.sender!)
    const pair = this.pair(sender.id, customer, found.pairs, now)
    // a try that sent nothing is repeated without being counted again
    const isNew = again === undefined || again.quotaMonth === null
    const isOfCampaign = queue !== null && queue.campaignId !== null
    if (
      isOfCampaign && this.isWrittenTo(request, Contact.campaignKeysOf(content.to, contact), found.twins)
    ) {
      return { _tag: "Duplicate", readings: ofRequest.readings }
    }
    const cap = template !== undefined && isMarketing(template) && isNew ? limits.frequencyCap ?? null : null
    if (cap !== null && isOfCampaign && !FrequencyCap.allows(cap, pair.marketingAt, now)) {
      return { _tag: "Capped", readings: ofRequest.readings }
    }
    const ofCall = Bucket.check([
      { bucket: number.bucket, policy: Limits.phoneNumber(limits, PhoneNumber.tierOf(sender), precedenceOf(command)) },
      { bucket: pair.bucket, policy: Limits.pair(limits) }
    ], now)
    const readings = [...ofRequest.readings, ...ofCall.readings]
    const stillTooFast = RateLimit.refusal(readings)
    if (stillTooFast !== undefined) return refused(readings, stillTooFast)

    ofRequest.spend()
    ofCall.spend()
    if (again === undefined && bound !== undefined) this.unbound.push(bound.message.id)
    const message = claimedMessage(command, sender, again?.message)
    const claim = { token: command.claimToken, leaseUntil: command.leaseUntil }
    const quotaMonth = again?.quotaMonth ?? month
    if (isNew) quota.messages++
    if (cap !== null) {
      pair.marketingAt = FrequencyCap.note(cap, pair.marketingAt, now)
      pair.marketingUntil = FrequencyCap.endOf(cap, now)
    }
    const isCounted = Policy.countsAgainstMessagingLimit(facts)
    const countedBefore = counted!.countedAt
    if (isCounted) {
      if (countedBefore === null) shared!.customers++
      counted!.countedAt = now
      counted!.countedBy = sender.id
    }
    this.claims.push({
      request,
      message,
      customer,
      before: again?.message,
      claim,
      quotaMonth,
      counted: isCounted ? { before: countedBefore } : null
    })
    this.bounds.set(name, {
      binding: again === undefined
        ? {
          fingerprint: request.fingerprint,
          messageId: message.id,
          claim,
          answer: null,
          lastFailure: null,
          expiresAt: null
        }
        : { ...again.binding, claim },
      message,
      quotaMonth,
      isBusy: false
    })
    return { _tag: "Claimed", readings, message, sender, template, contact }
  }

  /** Queues a message, unless something refuses it that is known before its time. */
  private enqueue(
    { apiKeyId, later, limits, message: content, messageId: id, now, referenceRefusal, request }: AcceptSend,
    { queued: waiting }: Found,
    facts: Policy.KnownCircumstances
  ): Result.Result<SendBinding.Queued, Refusal> {
    if (later!.refusal !== undefined) return Result.fail(later!.refusal)
    const times = SendTimes.of(later!, now)
    if (Result.isFailure(times)) return Result.fail(times.failure)
    const refusal = Policy.knownRefusal(facts) ?? referenceRefusal ?? Policy.queueRefusal(
      Limits.queuedMessages(limits),
      waiting + this.queued.filter(({ message: { workspaceId } }) => workspaceId === request.workspaceId).length
    )
    if (refusal !== undefined) return Result.fail(refusal)
    const { workspaceId } = request
    const { sendAt, sendUntil } = times.success
    // the policy refuses a missing sender first, so there is one here
    const { id: phoneNumberId, phoneNumber: from } = facts.sender!
    const message = unsent({
      id,
      workspaceId,
      apiKeyId,
      campaignId: null,
      variant: null,
      phoneNumberId,
      from,
      // sent from the number that was checked here, even if another number becomes the default
      content: { ...content, from },
      status: "queued",
      createdAt: Math.min(later!.createdAt ?? now, now),
      statusAt: now,
      sendAt
    })
    const answer = { _tag: "Queued", messageId: id, workspaceId, apiKeyId, sendAt } as const
    this.queued.push({ request, message, sendUntil, answer })
    this.bounds.set(nameOf(request), {
      binding: {
        fingerprint: request.fingerprint,
        messageId: id,
        claim: null,
        answer,
        lastFailure: null,
        expiresAt: null
      },
      message,
      quotaMonth: null,
      isBusy: false
    })
    return Result.succeed(answer)
  }

  get needs(): ReadonlyArray<Need> {
    return [...this.needed.values()]
  }

  writes(): Writes {
    const added = new Map<PhoneNumberId, number>()
    const countedAt = new Map<string, Instant>()
    const moved: Array<Writes["moved"][number]> = []
    for (const { countedAt: at, countedBy, customer, loaded } of this.customers.values()) {
      if (countedBy === null) continue
      const place = Contact.placeOf({ phoneNumberId: countedBy, key: customer })
      countedAt.set(place, at!)
      const others = loaded.filter(({ customer: key, phoneNumberId }) =>
        Contact.placeOf({ phoneNumberId, key }) !== place
      )
      if (others.length === loaded.length) added.set(countedBy, (added.get(countedBy) ?? 0) + 1)
      moved.push(...others)
    }
    // whatever counted a customer has also spent the buckets of its number and pair
    return {
      workspaces: [...this.workspaces].flatMap(([id, { fullAt, hasChanged }]) => hasChanged ? [{ id, fullAt }] : []),
      numbers: [...this.numbers.values()].flatMap(({ bucket: { fullAt, hasChanged }, id }) =>
        hasChanged ? [{ id, fullAt, customers: added.get(id) ?? 0 }] : []
      ),
      pairs: [...this.pairs].flatMap(([name, state]) => {
        const { bucket: { fullAt, hasChanged }, customer, emptied, marketingAt: at, marketingUntil, phoneNumberId } =
          state
        const marketing = marketingUntil === null ? null : { at, until: marketingUntil }
        return hasChanged
          ? [
            { phoneNumberId, customer, fullAt, countedAt: countedAt.get(name) ?? null, marketing },
            ...emptied.map((customer) => ({ phoneNumberId, customer, fullAt: 0, countedAt: null, marketing: null }))
          ]
          : []
      }),
      moved,
      quotas: [...this.quotas.values()].flatMap(({ messages, month, workspaceId }) =>
        messages > 0 ? [{ workspaceId, month, messages }] : []
      ),
      unbound: this.unbound,
      claims: this.claims,
      queued: this.queued
    }
  }

  private need(pool: string, { loaded: { customers, isExact } }: PoolState, now: Instant): void {
    if (isExact || this.needed.has(pool)) return
    this.needed.set(pool, { phoneNumberIds: [...customers.keys()], lapsed: MessagingLimit.lapsed(now) })
  }

  private number({ fullAt, number: { id } }: OfNumber): NumberState {
    return known(this.numbers, id, () => ({ id, bucket: new Bucket.Bucket(fullAt) }))
  }

  private pool(name: string, loaded: OfNumber): PoolState {
    return known(this.pools, name, () => {
      let customers = 0
      for (const counted of loaded.customers.values()) customers += counted
      return { loaded, customers }
    })
  }

  private customer(pool: string, customer: Contact.Contact["key"], pairs: ReadonlyArray<OfPair>): CustomerState {
    return known(this.customers, `${pool} ${customer}`, () => {
      const loaded = pairs.filter(({ countedAt }) => countedAt !== null)
      return {
        customer,
        loaded,
        countedAt: loaded.length === 0 ? null : Math.max(...loaded.map(({ countedAt }) => countedAt!)),
        countedBy: null
      }
    })
  }

  private pair(
    phoneNumberId: PhoneNumberId,
    customer: Contact.Contact["key"],
    pairs: ReadonlyArray<OfPair>,
    now: Instant
  ): PairState {
    return known(this.pairs, Contact.placeOf({ phoneNumberId, key: customer }), () => {
      const noted = pairs.filter((pair) => pair.phoneNumberId === phoneNumberId)
      const own = noted.find((pair) => pair.customer === customer)?.fullAt
      const others = noted.filter((pair) =>
        pair.customer !== customer && pair.fullAt !== undefined && pair.fullAt > now
      )
      // the time until a bucket is full measures what was spent of it
      const spent = others.reduce((sum, { fullAt }) => sum + fullAt! - now, 0)
      return {
        bucket: new Bucket.Bucket(spent === 0 ? own : Math.max(own ?? now, now) + spent),
        phoneNumberId,
        customer,
        emptied: others.map((pair) => pair.customer),
        marketingAt: marketingOf(customer, noted),
        marketingUntil: null
      }
    })
  }

  /** Whether the campaign has begun to write to the customer under another key. */
  private isWrittenTo(
    request: KeyedRequest,
    keys: ReadonlyArray<Contact.Contact["key"]>,
    loaded: ReadonlyArray<Message>
  ): boolean {
    const decided = keys.flatMap((key) => {
      const bound = this.bounds.get(nameOf({ ...request, key: key as Idempotency.IdempotencyKey }))
      return bound === undefined || key === request.key ? [] : [bound.message]
    })
    return [...decided, ...loaded].some(({ status }) => status !== "queued" && status !== "skipped")
  }

  private quota(workspaceId: WorkspaceId, month: string, { quotaUsed }: Found): QuotaState {
    return known(this.quotas, `${workspaceId} ${month}`, () => ({
      workspaceId,
      month,
      used: quotaUsed(month),
      messages: 0
    }))
  }
}

/** The times of marketing templates under every key, without those that were already taken over from another key. */
const marketingOf = (customer: Contact.Contact["key"], noted: ReadonlyArray<OfPair>): ReadonlyArray<Instant> => {
  const own = noted.find((pair) => pair.customer === customer)?.marketingAt ?? []
  const others = noted.filter((pair) => pair.customer !== customer).flatMap(({ marketingAt }) => marketingAt)
  return others.length === 0 ? own : [...own, ...others.filter((at) => !own.includes(at))].sort((a, b) => a - b)
}

/**
 * Calls `SendBinding.judge`. A send that could be claimed counts as running while another transaction holds its lock.
 */
const judge = (
  bound: Bound | undefined,
  { queue, request: { fingerprint } }: AcceptSend,
  now: Instant
): SendBinding.Verdict => {
  const verdict = SendBinding.judge(bound?.binding, bound?.message, fingerprint, now, queue !== null)
  return bound?.isBusy === true && (verdict._tag === "Unbound" || verdict._tag === "Released")
    ? { _tag: "Running" }
    : verdict
}

const precedenceOf = ({ queue }: AcceptSend): Limits.Precedence =>
  queue === null ? "request" : queue.campaignId === null ? "queue" : "campaign"

/**
 * Decides `MessageStore.accept` for a batch. Each command is decided completely before anything is written; a refusal
 * writes nothing.
 */
export const accept: Decide<AcceptSend, Loaded, Accepted, Writes, Need> = (loaded, commands) => {
  const batch = new Batch()
  const answers = commands.map((asked) =>
    batch.accept(StorageTime.judgedAt(asked, loaded.now(asked.now), "leaseUntil"), loaded.found(asked))
  )
  const { needs } = batch
  return needs.length > 0 ? { needs } : { answers, writes: batch.writes() }
}
