/**
 * The source of an item of a post, and the names of ignored items.
 */
import type { InboundItem, Time } from "@wac/core"
import * as Payload from "./Payload.ts"

/** The fields around an item. */
export interface PostSource {
  /** The WhatsApp Business Account. */
  readonly accountId: string | undefined
  /** Meta's name of the number of ours that is spoken of. */
  readonly numberId: string | undefined
  /** When it was told, as far as Meta says. */
  readonly told: Time.Instant
  /** When the post came. */
  readonly receivedAt: Time.Instant
}

/** When something happened: not after the post that tells of it came, and when it was told where there is no time. */
export const happened = (
  time: Time.Instant | undefined,
  { receivedAt, told }: Pick<PostSource, "receivedAt" | "told">
): Time.Instant => time === undefined ? told : Math.min(time, receivedAt)

/**
 * Passed over. `detail` is a word of Meta's out of a small set (an event, a status, a code); anything that does not
 * look like one is not repeated.
 */
export const skipped = (what: string, detail?: string): InboundItem.InboundItem => ({
  _tag: "Skipped",
  kind: detail === undefined ? what : `${what}:${/^[A-Za-z0-9_]{1,64}$/.test(detail) ? detail.toLowerCase() : "other"}`
})

/** Meta's words in the form in which we keep them: lower case; one that says "none" is nothing. */
export const lower: Payload.Read<string | undefined> = (json) => {
  const word = Payload.word(json)?.toLowerCase()
  return word === "none" ? undefined : word
}
