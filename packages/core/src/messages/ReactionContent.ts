/**
 * The content of a reaction (contract §9). Defines schemas only.
 */
import { Schema } from "effect"
import { MessageId } from "../Id.ts"

/** One emoji, including characters that are text by default and become an emoji through a variation selector. */
const emoji = new RegExp("^(?:\\p{RGI_Emoji}|\\p{Extended_Pictographic}\\uFE0F?)$", "v")

/** A reaction to a message of the same conversation, by our id. */
export const ReactionContent = Schema.Struct({
  message_id: MessageId.annotateKey({ description: "`msg_…`: the message to react to, sent by either side" }),
  emoji: Schema.String.check(
    Schema.makeFilter((text: string) => text === "" || emoji.test(text) || "must be one emoji, or empty", {
      toJsonSchema: () => ({ maxLength: 64 })
    })
  ).annotateKey({ description: "One emoji; an empty text removes the previous reaction" })
}).annotate({
  identifier: "ReactionContent",
  description: "A reaction to a message of the same conversation, sent by either side."
})
export type ReactionContent = typeof ReactionContent.Type
