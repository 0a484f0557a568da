/**
 * Simulates a customer's tap on the first choice that a message offers. Pure.
 */
import type { InboundMessage, Message, Template } from "@wac/core"
import { Predicate, type Schema } from "effect"

/** The type and content of the customer's message. */
type Reply = Pick<InboundMessage.InboundMessage, "type" | "content">

const reply = (type: string, content: Schema.JsonObject): Reply => ({
  type: "interactive",
  content: { type, [type]: content }
})

/** The text and the index of a template's first quick reply. */
const quickReplyOf = (
  template: Template.Template | undefined
): { readonly text: string; readonly index: number } | undefined => {
  for (const component of template?.components ?? []) {
    const buttons = Predicate.hasProperty(component, "buttons") ? component.buttons : undefined
    if (!Array.isArray(buttons)) continue
    for (const [index, button] of buttons.entries()) {
      if (button?.type === "QUICK_REPLY") return { text: String(button.text), index }
    }
  }
  return undefined
}

const ofInteractive = (interactive: Message.OutboundOf<"interactive">["interactive"]): Reply | undefined => {
  switch (interactive.type) {
    case "button":
      return reply("button_reply", { ...interactive.action.buttons[0]!.reply })
    case "list":
      return reply("list_reply", { ...interactive.action.sections[0]!.rows[0]! })
    case "carousel": {
      const [card] = interactive.action.cards
      const button = card?.type === "cta_url" ? card.action.buttons?.[0] : undefined
      return button && reply("button_reply", { ...button.quick_reply })
    }
    case "flow":
      return reply("nfm_reply", { name: "flow", body: "Sent", response: {} })
    default:
      return undefined
  }
}

/** The customer's reply that taps the first choice of a message; `undefined` if the message offers no choice. */
export const of = (message: Message.OutboundMessage, template: Template.Template | undefined): Reply | undefined => {
  if (message.type === "interactive") return ofInteractive(message.interactive)
  if (message.type !== "template") return undefined
  const found = quickReplyOf(template)
  if (found === undefined) return undefined
  const given = message.template.buttons?.find(({ index }) => index === found.index)?.payload
  return { type: "button", content: { text: found.text, payload: given ?? found.text } }
}
