/**
 * Counts messages by hour and by the facts of their price: market, category, type and whether they are charged
 * (contract §9). Pure.
 */
import { Duration } from "effect"
import { parsePhoneNumberFromString } from "libphonenumber-js/min"
import { type Addressee, countryOf } from "../contacts/Addressee.ts"
import type { WorkspaceId } from "../Id.ts"
import { isErased, type Message } from "../messages/Message.ts"
import type { Instant } from "../Time.ts"

/** The facts on which a message's price depends. */
export interface Price {
  /** The country of the customer, ISO 3166-1 alpha-2; {@link noMarket} if it is not known. */
  readonly market: string
  /** The provider's category, such as `marketing`. */
  readonly category: string
  /** The provider's type, such as `regular` or `free_customer_service`. */
  readonly type: string
  /** Whether such messages are charged; `null` if that is not known. */
  readonly billable: boolean | null
}

/** How many messages of a workspace and an hour have this price. */
export interface Count extends Price {
  readonly workspaceId: WorkspaceId
  /** The start of the hour in which the messages were sent; while that is not known, in which they were created. */
  readonly hour: Instant
  readonly messages: number
}

/** The market of a customer whose country is not known, such as the user of a satellite telephone. */
export const noMarket = "ZZ"

/** The market of a customer: their country, or {@link noMarket}. */
export const marketOf = (to: Addressee): string => countryOf(to) ?? parsePhoneNumberFromString(to)?.country ?? noMarket

/** The category of templates that are free in an open service window, as replies are. */
const freeInWindow = "utility"

/** The price that a message of a template of this category is expected to have for this customer. */
export const expected = (
  to: Addressee,
  category: string,
  isInWindow: boolean
): Price => {
  const isFree = isInWindow && category === freeInWindow
  return { market: marketOf(to), category, type: isFree ? "free_customer_service" : "regular", billable: !isFree }
}

const hourLength = Duration.toMillis(Duration.hours(1))

/** A message may wait for months after its creation: a price is that of the day on which it is sent. */
const hourOf = ({ createdAt, sentAt }: Pick<Message, "createdAt" | "sentAt">): Instant => {
  const at = sentAt ?? createdAt
  return at - at % hourLength
}

const countOf = ({ content, pricing, workspaceId, ...message }: Message): Omit<Count, "messages"> | undefined =>
  pricing === null ? undefined : {
    workspaceId,
    hour: hourOf(message),
    market: marketOf(content.to),
    category: pricing.category,
    type: pricing.type,
    billable: pricing.billable
  }

const nameOf = ({ billable, category, hour, market, type, workspaceId }: Omit<Count, "messages">): string =>
  JSON.stringify([workspaceId, hour, market, category, type, billable])

/**
 * How the counts change when messages change. A message counts once, however often its price is reported, and under the
 * price that was reported last.
 */
export const changes = (
  messages: Iterable<{ readonly before: Message; readonly after: Message }>
): ReadonlyArray<Count> => {
  const counts = new Map<string, { -readonly [Field in keyof Count]: Count[Field] }>()
  const add = (count: Omit<Count, "messages"> | undefined, messages: number) => {
    if (count === undefined) return
    const name = nameOf(count)
    const known = counts.get(name)
    if (known === undefined) counts.set(name, { ...count, messages })
    else known.messages += messages
  }
  for (const { after, before } of messages) {
    // the market of an erased customer is no longer known, so the message's earlier count stays
    if (before.pricing !== null && isErased(before)) continue
    if (after.pricing === before.pricing && hourOf(after) === hourOf(before)) continue
    add(countOf(before), -1)
    add(countOf(after), 1)
  }
  return [...counts.values()].filter(({ messages }) => messages !== 0)
}
