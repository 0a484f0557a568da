/**
 * The *abandon* transition: decides how to undo the *accept* of a send before the provider was called. The tokens and
 * the count against the messaging limit are given back. A message that this *accept* made is deleted, with its key and
 * quota; one that was there before (tried earlier, or queued) loses its claim and keeps its quota. What *accept* noted
 * for the frequency cap stays. Pure: it works on loaded data and returns what to write.
 */
import * as Contact from "../contacts/Contact.ts"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import * as Bucket from "../limits/Bucket.ts"
import * as Limits from "../limits/Limits.ts"
import * as RateLimit from "../limits/RateLimit.ts"
import * as PhoneNumber from "../numbers/PhoneNumber.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import type { OfPair } from "./AcceptStep.ts"
import * as KeyedMessage from "./KeyedMessage.ts"
import { isOfQueue } from "./Message.ts"
import type { AbandonSend } from "./MessageStore.ts"
import { SendBatch, type Writes as SendWrites } from "./SendBatch.ts"

/** A send, and what its last try changed. */
export interface Tried extends KeyedMessage.KeyedMessage {
  readonly lastTry: {
    /** When the message took its status before the last try; `null` if that try made the message. */
    readonly statusAtBefore: Instant | null
    /**
     * When the last try counted the customer against the messaging limit, and when the customer had been counted
     * before; `null` if it did not count them.
     */
    readonly counted: { readonly at: Instant; readonly before: Instant | null } | null
  }
}

/** What sends from the number to the customer have spent, as noted under one of the customer's keys. */
export type TriedPair = Pick<OfPair, "customer" | "fullAt" | "countedAt">

/** The stored state that an abandoned send affects. All of it is locked, but the contact that orders `pairs`. */
export interface Found {
  /** The send under the key. */
  readonly send: Tried | undefined
  readonly workspace: Pick<Workspace, "tier">
  /**
   * When the workspace's bucket is full; `undefined` if the full bucket was deleted. The same holds for the other
   * buckets.
   */
  readonly workspaceFullAt: Instant | undefined
  /** The send's number, unless it was removed. */
  readonly number: PhoneNumber.PhoneNumber | undefined
  readonly numberFullAt: Instant | undefined
  /**
   * What sends have spent under each of the customer's keys (`Contact.keysOf`), the present key first. The try spent
   * under the key that the customer had then.
   */
  readonly pairs: readonly [TriedPair, ...ReadonlyArray<TriedPair>]
}

/** What the step loads. */
export interface Loaded extends Known {
  readonly found: (command: AbandonSend) => Found | undefined
}

/** The changes to write: what is given back (each row at most once), and the sends that lost their claims. */
export interface Writes extends SendWrites {
  readonly workspaces: ReadonlyArray<{ readonly id: WorkspaceId; readonly fullAt: Instant }>
  readonly numbers: ReadonlyArray<{
    readonly id: PhoneNumberId
    readonly fullAt: Instant
    /** By how much to lower the number of counted customers. */
    readonly customers: number
  }>
  readonly pairs: ReadonlyArray<{
    readonly phoneNumberId: PhoneNumberId
    readonly customer: Contact.Contact["key"]
    readonly fullAt: Instant
    readonly countedAt: Instant | null
  }>
}

/** A bucket to which tokens are given back, unless it was deleted because it was full. */
class StoredBucket {
  readonly bucket: Bucket.Bucket
  private readonly isStored: boolean

  constructor(fullAt: Instant | undefined) {
    this.bucket = new Bucket.Bucket(fullAt)
    this.isStored = fullAt !== undefined
  }

  giveBack(policy: RateLimit.Policy): void {
    if (this.isStored) this.bucket.leave(RateLimit.giveBack(policy, this.bucket.fullAt))
  }
}

interface NumberState {
  readonly id: PhoneNumberId
  readonly tokens: StoredBucket
  customers: number
}

interface PairState {
  readonly phoneNumberId: PhoneNumberId
  readonly customer: Contact.Contact["key"]
  readonly tokens: StoredBucket
  readonly countedBefore: Instant | null
  countedAt: Instant | null
}

const known = <K, V>(all: Map<K, V>, key: K, make: () => V): V => {
  const found = all.get(key)
  if (found !== undefined) return found
  const made = make()
  all.set(key, made)
  return made
}

/** The pair whose bucket the try spent: the one that counted the customer at this time, if the try counted them. */
const spentBy = (pairs: Found["pairs"], at: Instant | undefined): Found["pairs"][number] =>
  pairs.find(({ countedAt }) => countedAt !== null && countedAt === at) ??
    pairs.find(({ fullAt }) => fullAt !== undefined) ??
    pairs[0]

/** Decides `MessageStore.abandon` for a batch. */
export const abandon: Decide<AbandonSend, Loaded, void, Writes> = (loaded, commands) => {
  const workspaces = new Map<WorkspaceId, StoredBucket>()
  const numbers = new Map<PhoneNumberId, NumberState>()
  const pairs = new Map<string, PairState>()
  const all = commands.map((command) => loaded.found(command))
  const stored = new Map(all.flatMap((found) => found?.send === undefined ? [] : [[found.send.message.id, found.send]]))
  const sends = new SendBatch({ send: (id) => stored.get(id) })

  commands.forEach(({ claimToken, limits, now: asked, request: { workspaceId } }, i) => {
    const found = all[i]
    const send = found?.send && sends.of(found.send.message.id)
    if (found?.send === undefined || send?.binding?.claim?.token !== claimToken) return
    const { counted, statusAtBefore } = found.send.lastTry
    if (!isOfQueue(send.message)) {
      known(workspaces, workspaceId, () => new StoredBucket(found.workspaceFullAt))
        .giveBack(Limits.workspace(limits, found.workspace.tier))
    }
    const { number } = found
    if (number !== undefined) {
      const { id: phoneNumberId } = number
      const { countedAt, customer, fullAt } = spentBy(found.pairs, counted?.at)
      const ofNumber = known(
        numbers,
        phoneNumberId,
        () => ({ id: phoneNumberId, tokens: new StoredBucket(found.numberFullAt), customers: 0 })
      )
      const ofPair = known(pairs, Contact.placeOf({ phoneNumberId, key: customer }), () => ({
        phoneNumberId,
        customer,
        tokens: new StoredBucket(fullAt),
        countedBefore: countedAt,
        countedAt
      }))
      ofNumber.tokens.giveBack(Limits.phoneNumber(limits, PhoneNumber.tierOf(number)))
      ofPair.tokens.giveBack(Limits.pair(limits))
      // uncount the customer, unless a later message counted them again
      if (counted !== null && ofPair.countedAt === counted.at) {
        ofPair.countedAt = counted.before
        if (counted.before === null) ofNumber.customers++
      }
    }
    const { message } = send
    const now = loaded.now(asked)
    if (message.status === "sending" && statusAtBefore === null) {
      return sends.remove(KeyedMessage.giveQuotaBack(KeyedMessage.unchanged(send)))
    }
    const restored = message.status === "sending" && statusAtBefore !== null
      ? { ...send, message: { ...message, statusAt: statusAtBefore } }
      : send
    sends.keep(KeyedMessage.unchanged(KeyedMessage.release(restored, now)), { events: [], deliveries: [] })
  })

  return {
    answers: commands.map(() => undefined),
    writes: {
      ...sends.writes(),
      workspaces: [...workspaces].flatMap(([id, { bucket: { fullAt, hasChanged } }]) =>
        hasChanged ? [{ id, fullAt }] : []
      ),
      numbers: [...numbers.values()].flatMap(({ customers, id, tokens: { bucket } }) =>
        bucket.hasChanged || customers > 0 ? [{ id, fullAt: bucket.fullAt, customers }] : []
      ),
      pairs: [...pairs.values()].flatMap(({ countedAt, countedBefore, customer, tokens: { bucket }, phoneNumberId }) =>
        bucket.hasChanged || countedAt !== countedBefore
          ? [{ phoneNumberId, customer, fullAt: bucket.fullAt, countedAt }]
          : []
      )
    }
  }
}
