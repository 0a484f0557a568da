/**
 * The content of a reaction (contract §9). Defines schemas only.
 */
import { Schema } from "effect"
import { MessageId } from "../Id.ts"

/** One emoji, including characters that are text by default and become an emoji through a variation selector. */
const emoji = new RegExp("^(?:\\p{RGI_Emoji}|\\p{Extended_Pictographic}\\uFE0F?)$", "v")

export const ReactionContent = Schema.Struct({
  /** Our id of the message to react to, sent by either side. */
  message_id: MessageId,
  /** Empty to remove the previous reaction. */
  emoji: Schema.String.check(
    Schema.makeFilter((text: string) => text === "" || emoji.test(text) || "must be one emoji, or empty", {
      toJsonSchema: () => ({ maxLength: 64 })
    })
  )
})
export type ReactionContent = typeof ReactionContent.Type
