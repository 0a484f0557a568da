/**
 * The frequency cap (contract §11): how many marketing templates a contact gets within some days, from campaigns and all
 * other sends, before campaigns leave the contact out. Pure.
 */
import { Schema } from "effect"
import type { Instant } from "../Time.ts"

/** At most `messages` marketing templates within `days`. */
export const FrequencyCap = Schema.Struct({
  messages: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  days: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 90 }))
})
export type FrequencyCap = typeof FrequencyCap.Type

const day = 86_400_000

/** When a message sent at an instant no longer counts. */
export const endOf = ({ days }: FrequencyCap, at: Instant): Instant => at + days * day

const counting = (cap: FrequencyCap, sent: ReadonlyArray<Instant>, now: Instant): ReadonlyArray<Instant> =>
  sent.filter((at) => endOf(cap, at) > now)

/** Whether a contact who got marketing templates at these times may get one more from a campaign. */
export const allows = (cap: FrequencyCap, sent: ReadonlyArray<Instant>, now: Instant): boolean =>
  counting(cap, sent, now).length < cap.messages

/** The times after one more message. Only as many of the latest times are kept as the cap needs. */
export const note = (cap: FrequencyCap, sent: ReadonlyArray<Instant>, now: Instant): ReadonlyArray<Instant> =>
  [...counting(cap, sent, now), now].slice(-cap.messages)
