/**
 * Rate-limit tiers, quotas and their defaults (contract §7), and the keys of the buckets. The operator sets them with
 * `WAC_LIMITS`; a workspace's or a number's own tier, quota and messaging limit are stored in their rows. Pure.
 */
import { Context, Schema } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import type { PhoneNumberId, WorkspaceId } from "../Id.ts"
import type { PhoneNumber } from "../numbers/PhoneNumber.ts"
import type { Workspace } from "../workspaces/Workspace.ts"
import { FrequencyCap } from "./FrequencyCap.ts"
import * as RateLimit from "./RateLimit.ts"

/**
 * A rate outside these bounds is a mistake: a lower one is no service, a higher one no limit, and neither can be
 * counted exactly.
 */
const Rate = Schema.Finite.check(Schema.isBetween({ minimum: 0.001, maximum: 1_000_000 }))
const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** The same bounds as for rates: from one token in a millisecond to one in a day. */
const Pair = Schema.Struct({
  everySeconds: Schema.Finite.check(Schema.isBetween({ minimum: 0.001, maximum: 86_400 })),
  burst: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
})

/** Rates are in messages or requests per second; `null` means no limit. */
export const Limits = Schema.Struct({
  workspaceTiers: Schema.Record(Schema.String, Rate),
  phoneNumberTiers: Schema.Record(Schema.String, Rate),
  /** Per phone number and recipient: one token every `everySeconds`, with at most `burst` saved up. */
  pair: Pair,
  /** Marketing templates per contact before campaigns leave the contact out; no cap if omitted. */
  frequencyCap: Schema.optionalKey(Schema.NullOr(FrequencyCap)),
  defaults: Schema.Struct({
    workspaceTier: Schema.String,
    phoneNumberTier: Schema.String,
    /** Messages per workspace and calendar month (UTC). */
    monthlyQuota: Schema.NullOr(Count),
    /**
     * Messages of a workspace that may wait in the queue (contract §15); defaults to {@link standardQueuedMessages}.
     */
    queuedMessages: Schema.optionalKey(Schema.NullOr(Count)),
    /** Unique customers who get messages outside a window, per portfolio in rolling 24 hours. */
    messagingLimit: Schema.NullOr(Count),
    /** The maximum size of all files of a workspace together, in bytes; defaults to {@link standardMediaQuota}. */
    mediaQuota: Schema.optionalKey(Schema.NullOr(Count))
  })
}).check(
  Schema.makeFilter(({ defaults, phoneNumberTiers, workspaceTiers }) =>
    !Object.hasOwn(workspaceTiers, defaults.workspaceTier)
      ? { path: ["defaults", "workspaceTier"], issue: "one of workspaceTiers" }
      : !Object.hasOwn(phoneNumberTiers, defaults.phoneNumberTier)
      ? { path: ["defaults", "phoneNumberTier"], issue: "one of phoneNumberTiers" }
      : true
  )
)
export type Limits = typeof Limits.Type

/** The values of contract §7. The pair limit is the provider's own. */
export const standard: Limits = {
  workspaceTiers: { free: 10, standard: 100, scale: 1000 },
  phoneNumberTiers: { coexistence: 20, standard: 80, high: 1000 },
  pair: { everySeconds: 6, burst: 45 },
  defaults: { workspaceTier: "standard", phoneNumberTier: "standard", monthlyQuota: null, messagingLimit: null }
}

/** The default quota of a workspace's files: 5 GiB, in bytes. */
export const standardMediaQuota = 5 * 1024 ** 3

/** The default number of messages of a workspace that may wait in the queue. */
export const standardQueuedMessages = 1_000_000

/** How many messages of a workspace may wait in the queue; `null` for no limit. */
export const queuedMessages = ({ defaults }: Limits): number | null =>
  defaults.queuedMessages === undefined ? standardQueuedMessages : defaults.queuedMessages

/** The maximum size of all files of a workspace together, in bytes; `null` for no limit. */
export const mediaQuota = ({ defaults }: Limits): number | null =>
  defaults.mediaQuota === undefined ? standardMediaQuota : defaults.mediaQuota

/** The limits of this process. */
export const CurrentLimits = Context.Reference<Limits>("@wac/core/Limits/CurrentLimits", {
  defaultValue: () => standard
})

/** The effective tier: an unknown tier counts as the default. */
const inForce = (tiers: Limits["workspaceTiers"], tier: string | null, fallback: string): string =>
  tier !== null && Object.hasOwn(tiers, tier) ? tier : fallback

/** The policy of a workspace's bucket: one token for each public request. An unknown tier counts as the default. */
export const workspace = (limits: Limits, tier: Workspace["tier"]): RateLimit.Policy =>
  RateLimit.perSecond("workspace", workspaceTier(limits, tier).perSecond)

/** The effective tier of a workspace and its rate in requests per second. */
export const workspaceTier = (
  { defaults, workspaceTiers }: Limits,
  tier: Workspace["tier"]
): { readonly tier: string; readonly perSecond: number } => {
  const name = inForce(workspaceTiers, tier, defaults.workspaceTier)
  return { tier: name, perSecond: workspaceTiers[name]! }
}

/** What a number's tokens are for, highest precedence first (contract §15). */
export type Precedence = "request" | "queue" | "campaign"

/**
 * How far ahead of its rate a number may send queued messages and campaigns, which leave the rest of the burst to
 * requests; in seconds. More than what the messages that leave together and a process's delays use up at once. Less for
 * campaigns, so that campaigns wait first when tokens run short.
 */
const leads: { readonly [precedence in Exclude<Precedence, "request">]: number } = { queue: 0.25, campaign: 0.125 }

/**
 * The policy of a phone number's bucket: one token for each message sent to the provider. Queued messages and campaigns
 * leave a reserve in the bucket.
 */
export const phoneNumber = (
  limits: Limits,
  tier: PhoneNumber["tier"],
  precedence: Precedence = "request"
): RateLimit.Policy => {
  const { perSecond } = phoneNumberTier(limits, tier)
  const policy = RateLimit.perSecond("phone_number", perSecond)
  return precedence === "request"
    ? policy
    : { ...policy, reserve: policy.capacity - Math.max(1, perSecond * leads[precedence]) }
}

/** The effective tier of a phone number and its rate in messages per second. */
export const phoneNumberTier = (
  { defaults, phoneNumberTiers }: Limits,
  tier: PhoneNumber["tier"]
): { readonly tier: string; readonly perSecond: number } => {
  const name = inForce(phoneNumberTiers, tier, defaults.phoneNumberTier)
  return { tier: name, perSecond: phoneNumberTiers[name]! }
}

/** The policy of the bucket of one phone number and one recipient. */
export const pair = (limits: Limits): RateLimit.Policy => ({
  name: "pair",
  interval: RateLimit.intervalOf(limits.pair.everySeconds * 1000),
  capacity: limits.pair.burst
})

/** The key of a workspace's bucket in storage. */
export const workspaceBucket = (id: WorkspaceId): string => `workspace:${id}`

/** The key of a phone number's bucket in storage. */
export const phoneNumberBucket = (id: PhoneNumberId): string => `phone_number:${id}`

/** The key in storage of the bucket of a phone number and one of its customers. */
export const pairBucket = (id: PhoneNumberId, customer: Contact["key"]): string => `pair:${id}:${customer}`

/** The workspace or phone number whose bucket has this key; `undefined` for any other bucket. */
export const ownerOf = (
  bucket: string
): { readonly workspace: WorkspaceId } | { readonly phoneNumber: PhoneNumberId } | undefined => {
  const [, kind, id] = /^(workspace|phone_number):(.*)$/s.exec(bucket) ?? []
  if (kind === undefined) return undefined
  return kind === "workspace" ? { workspace: id as WorkspaceId } : { phoneNumber: id as PhoneNumberId }
}

/** Whether *accept* spends from the bucket with this key. */
export const isSpentBySends = (bucket: string): boolean => /^(workspace|phone_number|pair):/.test(bucket)
