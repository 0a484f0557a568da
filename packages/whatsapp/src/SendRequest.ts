/**
 * The body of a send as the Cloud API documents it.
 */
import { type Provider, Template } from "@wac/core"
import type { Schema } from "effect"

type Json = { readonly [field: string]: Schema.Json }

/** What stands in the place of one placeholder. Named ones are told apart by name, others by their order. */
const parameter = (template: Template.Template | undefined) => (text: string, i: number): Json => {
  const name = template?.parameterFormat === "named" ? template.variables[i] : undefined
  return name === undefined ? { type: "text", text } : { type: "text", parameter_name: name, text }
}

const contentOf = ({ message, template }: Provider.ProviderSend): Json => {
  if (message.type === "text") {
    return { text: { body: message.text.body, preview_url: message.text.previewUrl ?? false } }
  }
  const { bodyParams = [], language, name } = message.template
  const components = bodyParams.length === 0
    ? {}
    : {
      components: [
        { type: "body", parameters: bodyParams.map(parameter(template)) },
        ...codeButton(bodyParams, template)
      ]
    }
  return { template: { name, language: { code: language }, ...components } }
}

/** The button that hands over a code takes it too: the value of the body, in Meta's words "twice in the payload". */
const codeButton = (
  [text]: ReadonlyArray<string>,
  template: Template.Template | undefined
): ReadonlyArray<Json> => {
  const place = template && Template.codeButtonOf(template)
  return place === undefined || text === undefined
    ? []
    : [{ type: "button", sub_type: "url", index: `${place}`, parameters: [{ type: "text", text }] }]
}

/**
 * What is posted. `to` keeps its plus: without it Meta may take the number for one of the sender's country. Our
 * message id comes back with every status of the message.
 */
export const bodyOf = (send: Provider.ProviderSend): Json => ({
  messaging_product: "whatsapp",
  recipient_type: "individual",
  to: send.message.to,
  type: send.message.type,
  ...contentOf(send),
  biz_opaque_callback_data: send.messageId
})

/** What the message says and to whom: Meta's errors may repeat it, and ours must not. */
export const textsOf = ({ message }: Provider.ProviderSend): ReadonlyArray<string> => [
  message.to,
  message.to.slice(1),
  ...(message.type === "text" ? [message.text.body] : message.template.bodyParams ?? [])
]
