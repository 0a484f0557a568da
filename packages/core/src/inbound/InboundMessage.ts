/**
 * What a customer writes to one of our numbers.
 */
import { Duration, Predicate, type Schema } from "effect"
import { type Customer, type Preference, preferenceOf, preferenceOfChoice } from "../contacts/Contact.ts"
import type { Instant } from "../Time.ts"

/** A customer's message, as the provider handed it over. */
export interface InboundMessage {
  /** The provider's name of the number that was written to. */
  readonly providerNumberId: string
  readonly providerMessageId: string
  readonly customer: Customer
  /** The message's own time, as the provider gives it. */
  readonly at: Instant
  /** `text`, `button`, … as the event's `data.type`. */
  readonly type: string
  /** What the event's `data` holds under the name of the type: `{body}` of a `text`. */
  readonly content: Schema.Json
  /** What it quotes or answers: `{message_id, from?, forwarded?}`. */
  readonly context: Schema.Json | null
  /** What the customer's words say of being written to. */
  readonly preference: Preference | undefined
}

const textIn = (fields: unknown, name: string): string | undefined => {
  const text = Predicate.hasProperty(fields, name) ? fields[name] : undefined
  return typeof text === "string" ? text : undefined
}

/** What a content of this type says of being written to: a text by its words, a button by its label or its value. */
export const preferenceIn = (type: string, content: Schema.Json): Preference | undefined => {
  if (type === "text") return preferenceOf(textIn(content, "body") ?? "")
  const reply = Predicate.hasProperty(content, "button_reply") ? content["button_reply"] : undefined
  const labels = type === "button"
    ? [textIn(content, "text"), textIn(content, "payload")]
    : type === "interactive"
    ? [textIn(reply, "title"), textIn(reply, "id")]
    : []
  return labels.map((label) => label === undefined ? undefined : preferenceOfChoice(label))
    .find(Predicate.isNotUndefined)
}

/** A text of a customer who is known by number alone. */
export const ofText = (
  { body, phone, ...message }: Pick<InboundMessage, "providerNumberId" | "providerMessageId" | "at"> & {
    readonly phone: string
    readonly body: string
  }
): InboundMessage => ({
  ...message,
  customer: { phone, userId: null },
  type: "text",
  content: { body },
  context: null,
  preference: preferenceOf(body)
})

/**
 * A message that is older than this when we come to it is marked as late, so that a bot need not answer yesterday's
 * questions: upstream tells for days what was not taken, and we may have been down ourselves.
 */
export const lateAfter = Duration.minutes(15)

/** Whether it comes so late that a receiver should know. */
export const isLate = ({ at }: Pick<InboundMessage, "at">, now: Instant): boolean =>
  now - at > Duration.toMillis(lateAfter)

/**
 * What is older is passed over. Upstream tells what was not taken for 7 days; this leaves room, and is less than what
 * we remember, so that nothing that is told again can ever count twice.
 */
export const maxAge = Duration.days(30)

/** Whether it is too old to count. */
export const isTooOld = ({ at }: Pick<InboundMessage, "at">, now: Instant): boolean =>
  at <= now - Duration.toMillis(maxAge)

/** How long a message is remembered, for duplicates to be known: a day longer than it counts, since clocks differ. */
export const rememberedUntil = ({ at }: Pick<InboundMessage, "at">, now: Instant): Instant =>
  Math.max(at, now) + Duration.toMillis(Duration.sum(maxAge, Duration.days(1)))
