/**
 * A reaction to a message (contract §9).
 */
import { Schema } from "effect"
import { MessageId } from "../Id.ts"

/** One emoji as people type it; also one that is text until its variation is chosen. */
const emoji = new RegExp("^(?:\\p{RGI_Emoji}|\\p{Extended_Pictographic}\\uFE0F?)$", "v")

export const ReactionContent = Schema.Struct({
  /** Our name of the message that is reacted to, ours or the customer's. */
  message_id: MessageId,
  /** Empty: the reaction before it is taken back. */
  emoji: Schema.String.check(
    Schema.makeFilter((text: string) => text === "" || emoji.test(text) || "must be one emoji, or empty", {
      toJsonSchema: () => ({ maxLength: 64 })
    })
  )
})
export type ReactionContent = typeof ReactionContent.Type
