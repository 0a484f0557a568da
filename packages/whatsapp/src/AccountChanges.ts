/**
 * Reads Meta's webhooks about an account and its numbers: limits, quality, restrictions. A change of an account applies
 * to all its numbers.
 */
import { type E164, type InboundItem, type PhoneNumber, SenderBlock, type Time } from "@wac/core"
import { DateTime, Option } from "effect"
import * as Customers from "./Customers.ts"
import * as Payload from "./Payload.ts"
import { lower, type PostSource, skipped } from "./PostSource.ts"

/**
 * Reads a messaging limit, such as `TIER_2K` or a number of customers; `null` is unlimited. Undefined if there is none,
 * or a number with more than seven digits: Meta's highest limit is 100,000.
 */
export const messagingLimit: Payload.Read<number | null | undefined> = (json) => {
  const word = Payload.word(json)?.toUpperCase()
  if (word === "TIER_UNLIMITED" || word === "-1") return null
  const [, thousands, ones] = /^(?:TIER_)?(?:([1-9][0-9]{0,3})K|([1-9][0-9]{0,6}))$/.exec(word ?? "") ?? []
  return thousands !== undefined ? Number(thousands) * 1000 : ones !== undefined ? Number(ones) : undefined
}

/** Reads the time at which a restriction ends: most posts have a number, some a date. */
const expiry: Payload.Read<Time.Instant | undefined> = (json) =>
  Payload.instant(json) ?? Payload.instant(
    Option.getOrUndefined(Option.map(DateTime.make(Payload.text(json) ?? ""), DateTime.toEpochMillis))
  )

type Item = InboundItem.InboundItem

/** The item for a change of numbers; undefined if nothing changed, or if the number is unknown. */
const changed = (
  number: PhoneNumber.NumberName | undefined,
  change: PhoneNumber.NumberChange,
  { told }: PostSource
): Item | undefined =>
  number === undefined || Object.keys(change).length === 0 ? undefined : { _tag: "Number", number, at: told, change }

/** Names all numbers of the post's account, or its one number `phoneNumber`. */
const accountOf = ({ accountId }: PostSource, phoneNumber?: E164.E164): PhoneNumber.NumberName | undefined =>
  accountId === undefined
    ? undefined
    : { providerAccountId: accountId, ...(phoneNumber === undefined ? {} : { phoneNumber }) }

const limited = (limit: number | null | undefined): PhoneNumber.NumberChange =>
  limit === undefined ? {} : { messagingLimit: limit }

const Quality = Payload.shape({
  display_phone_number: Customers.phone,
  event: lower,
  quality_rating: lower,
  current_limit: messagingLimit,
  max_daily_conversations_per_business: messagingLimit
})

/** The quality that an event implies, because only some posts contain it. */
const qualities: ReadonlyMap<string, string> = new Map([["flagged", "red"], ["unflagged", "unknown"]])

const quality: ReadChange = (value, source) => {
  const { current_limit, display_phone_number, event = "", max_daily_conversations_per_business, quality_rating } =
    Quality(value)
  const isFaster = event === "throughput_upgrade"
  // in this event, `current_limit` is a level of throughput
  const limit = isFaster ? undefined : current_limit
  const quality = quality_rating ?? qualities.get(event)
  return changed(
    accountOf(source, display_phone_number),
    {
      ...(isFaster ? { tier: "high" } : {}),
      ...(quality === undefined ? {} : { quality }),
      ...(event === "unflagged" ? { lifts: "quality" as const } : {}),
      ...limited(max_daily_conversations_per_business === undefined ? limit : max_daily_conversations_per_business)
    },
    source
  ) ?? skipped("phone_number_quality_update", event)
}

const Capability = Payload.shape({
  max_daily_conversations_per_business: messagingLimit,
  max_daily_conversation_per_phone: messagingLimit
})

/** The limit applies to the whole business, also in the older field, whose name ends in `per_phone`. */
const capability: ReadChange = (value, source) => {
  const { max_daily_conversation_per_phone, max_daily_conversations_per_business } = Capability(value)
  const limit = max_daily_conversations_per_business === undefined
    ? max_daily_conversation_per_phone
    : max_daily_conversations_per_business
  return changed(accountOf(source), limited(limit), source) ?? skipped("business_capability_update")
}

const Update = Payload.shape({
  event: lower,
  ban_info: Payload.shape({ waba_ban_state: lower }),
  restriction_info: Payload.list
})

const Restriction = Payload.shape({ restriction_type: Payload.word, expiration: expiry })

/** The restrictions of sending messages; others concern calls, adding numbers and the like. */
const ofMessaging = new Set(["RESTRICTED_BIZ_INITIATED_MESSAGING", "RESTRICTED_CUSTOMER_INITIATED_MESSAGING"])

const blocked = (
  reason: SenderBlock.SenderBlockReason,
  source: PostSource,
  code: string,
  words = ""
): Item | undefined =>
  changed(accountOf(source), { block: SenderBlock.of(reason, source.told, { code, message: words }) }, source)

/** The restrictions that allow messages to customers within a service window. */
const ofBeginning = new Set(["RESTRICTED_BIZ_INITIATED_MESSAGING"])

/** Of several restrictions the last to end counts. If one has no end, a send is tried again as after any block. */
const restricted = (restrictions: ReadonlyArray<Payload.Json>, source: PostSource): Item | undefined => {
  const ours = restrictions.map(Restriction).filter(({ restriction_type }) => ofMessaging.has(restriction_type ?? ""))
  if (ours.length === 0) return undefined
  const block: SenderBlock.SenderBlock = {
    ...SenderBlock.of("restricted", source.told, {
      code: "ACCOUNT_RESTRICTION",
      message: [...new Set(ours.map(({ restriction_type }) => restriction_type))].join(", ")
    }),
    scope: ours.every(({ restriction_type }) => ofBeginning.has(restriction_type ?? "")) ? "outside_window" : "all"
  }
  const until = ours.reduce<Time.Instant | undefined>(
    (latest, { expiration }) =>
      latest === undefined || expiration === undefined ? undefined : Math.max(latest, expiration),
    0
  )
  return changed(accountOf(source), { block: until === undefined ? block : { ...block, until, basis: "term" } }, source)
}

const account: ReadChange = (value, source) => {
  const { ban_info, event = "", restriction_info } = Update(value)
  const item = (): Item | undefined => {
    switch (event) {
      case "account_restriction":
        return restricted(restriction_info, source)
      case "disabled_update":
        switch (ban_info.waba_ban_state) {
          case "disable":
            return blocked("restricted", source, "DISABLED_UPDATE", "DISABLE")
          case "reinstate":
            return changed(accountOf(source), { lifts: "restricted" }, source)
          default:
            return undefined
        }
      case "account_deleted":
        return blocked("registration", source, "ACCOUNT_DELETED")
      case "account_offboarded":
        return blocked("registration", source, "ACCOUNT_OFFBOARDED")
      case "account_reconnected":
        return changed(accountOf(source), { lifts: "registration" }, source)
      default:
        return undefined
    }
  }
  return item() ?? skipped("account_update", event)
}

const Review = Payload.shape({ decision: lower })

/** A rejected account cannot send at all. If a review is pending, the first send shows whether it can. */
const review: ReadChange = (value, source) => {
  const { decision = "" } = Review(value)
  const item = decision === "rejected"
    ? blocked("restricted", source, "ACCOUNT_REVIEW", "REJECTED")
    : decision === "approved"
    ? changed(accountOf(source), { lifts: "restricted" }, source)
    : undefined
  return item ?? skipped("account_review_update", decision)
}

/** Changes that concern only people, such as alerts: no send depends on them, so they are skipped. */
const forPeople = (field: string, words: (value: Payload.Json) => string | undefined): ReadChange => (value) =>
  skipped(field, words(value))

const Alert = Payload.shape({ alert_info: Payload.shape({ alert_type: Payload.word }) })

type ReadChange = (value: Payload.Json, source: PostSource) => Item

/** The readers of changes, by the webhook's field. */
export const byField: ReadonlyMap<string, ReadChange> = new Map([
  ["phone_number_quality_update", quality],
  ["business_capability_update", capability],
  ["account_update", account],
  ["account_review_update", review],
  ["account_alerts", forPeople("account_alerts", (value) => Alert(value).alert_info.alert_type)],
  // a number whose new name is refused keeps the old one; if it has none, the first send fails
  ["phone_number_name_update", forPeople("phone_number_name_update", (value) => Review(value).decision)],
  ["security", forPeople("security", (value) => Update(value).event)]
])
