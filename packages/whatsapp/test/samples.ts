/**
 * Made-up values that tests send with.
 */
import { type Id, type Message, MessageReferences, PhoneNumber, type Provider, type Template } from "@wac/core"

export const messageId = "msg_01ARZ3NDEKTSV4RRFFQ69G5FAV" as Id.MessageId

const workspaceId = "ws_01ARZ3NDEKTSV4RRFFQ69G5FAV" as Id.WorkspaceId

export const sender: PhoneNumber.PhoneNumber = PhoneNumber.fresh({
  id: "pn_01ARZ3NDEKTSV4RRFFQ69G5FAV" as Id.PhoneNumberId,
  workspaceId,
  provider: "whatsapp",
  phoneNumber: "+16315551000",
  providerNumberId: "106540352242922",
  providerAccountId: "102290129340398",
  learned: PhoneNumber.unlearned,
  isDefault: true
})

export const template: Template.Template = {
  id: "tpl_01ARZ3NDEKTSV4RRFFQ69G5FAV" as Id.TemplateId,
  workspaceId,
  providerAccountId: sender.providerAccountId,
  providerTemplateId: "1192339204654487",
  name: "order_update",
  language: "en_US",
  category: "utility",
  status: "approved",
  parameterFormat: "positional",
  components: [{ type: "BODY", text: "Order {{1}} arrives on {{2}}." }],
  unfillable: null,
  variables: ["1", "2"],
  quality: null,
  rejectionReason: null,
  syncedAt: 0
}

export const to = "+16315551234"

export const text: Message.OutboundMessage = { to, type: "text", text: { body: "Thank you, José!" } }

export const templated = (...bodyParams: ReadonlyArray<string>): Message.OutboundMessage => ({
  to,
  type: "template",
  template: { name: "order_update", language: "en_US", bodyParams }
})

export const send = (
  message: Message.OutboundMessage,
  changes: Partial<Provider.ProviderSend> = {}
): Provider.ProviderSend => ({
  messageId,
  sender,
  message,
  template: message.type === "template" ? template : undefined,
  refers: MessageReferences.none,
  ...changes
})
