/**
 * What surrounds an item in one of Meta's posts: account, number, times. Also the items that stand for ignored parts.
 */
import type { InboundItem, Time } from "@wac/core"
import * as Payload from "./Payload.ts"

/** The account, the number and the times that a post has for its items. */
export interface PostSource {
  /** The WhatsApp Business Account. */
  readonly accountId: string | undefined
  /** Meta's id of our number that the item is about. */
  readonly numberId: string | undefined
  /** The time that Meta gives for the report; the time of arrival if it gives none. */
  readonly told: Time.Instant
  /** When the post arrived. */
  readonly receivedAt: Time.Instant
}

/** The time of an item: its own, but not after the post arrived; `told` if it has none. */
export const timeOf = (
  time: Time.Instant | undefined,
  { receivedAt, told }: Pick<PostSource, "receivedAt" | "told">
): Time.Instant => time === undefined ? told : Math.min(time, receivedAt)

/**
 * The item for an ignored part of a post. `detail` is one of Meta's words from a small set (an event, a status, a
 * code); anything that does not look like such a word becomes `other`.
 */
export const skipped = (what: string, detail?: string): InboundItem.InboundItem => ({
  _tag: "Skipped",
  kind: detail === undefined ? what : `${what}:${/^[A-Za-z0-9_]{1,64}$/.test(detail) ? detail.toLowerCase() : "other"}`
})

/** Reads one of Meta's words in lower case; undefined for `none`. */
export const lower: Payload.Read<string | undefined> = (json) => {
  const word = Payload.word(json)?.toLowerCase()
  return word === "none" ? undefined : word
}
