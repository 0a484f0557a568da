import { assert, describe, it } from "@effect/vitest"
import { Template } from "@wac/core"
import { Schema } from "effect"
import * as SendRequest from "../src/SendRequest.ts"
import { messageId, send, template, templated, text, to } from "./samples.ts"

const common = {
  messaging_product: "whatsapp",
  recipient_type: "individual",
  to: "+16315551234",
  biz_opaque_callback_data: messageId
}

describe("what is posted", () => {
  it("a text is posted with its body and whether links have a preview", () => {
    assert.deepStrictEqual(SendRequest.bodyOf(send(text)), {
      ...common,
      type: "text",
      text: { body: "Thank you, José!", preview_url: false }
    })
    const preview = send({ to, type: "text", text: { body: "https://example.org", previewUrl: true } })
    assert.deepStrictEqual(SendRequest.bodyOf(preview).text, { body: "https://example.org", preview_url: true })
  })

  it("a message to a user id is posted without a number", () => {
    const userId = "US.13491208655302741918"
    const { to: _, ...others } = SendRequest.bodyOf(send(text))
    assert.deepStrictEqual(SendRequest.bodyOf(send({ ...text, to: userId })), { ...others, recipient: userId })
    assert.deepStrictEqual(SendRequest.textsOf(send({ ...text, to: userId })), [userId, "Thank you, José!"])
  })

  it("a template with positional placeholders is posted with its values in order", () => {
    assert.deepStrictEqual(SendRequest.bodyOf(send(templated("A-1001", "Tuesday"))), {
      ...common,
      type: "template",
      template: {
        name: "order_update",
        language: { code: "en_US" },
        components: [{
          type: "body",
          parameters: [{ type: "text", text: "A-1001" }, { type: "text", text: "Tuesday" }]
        }]
      }
    })
  })

  it("a template with named placeholders is posted in the order of its values", () => {
    const named: Template.Template = { ...template, parameterFormat: "named", variables: ["order", "day"] }
    assert.deepStrictEqual(SendRequest.bodyOf(send(templated("A-1001", "Tuesday"), { template: named })).template, {
      name: "order_update",
      language: { code: "en_US" },
      components: [{
        type: "body",
        parameters: [
          { type: "text", parameter_name: "order", text: "A-1001" },
          { type: "text", parameter_name: "day", text: "Tuesday" }
        ]
      }]
    })
  })

  it("a template with a button for its code is posted with the code twice", () => {
    const buttons = [{ type: "QUICK_REPLY", text: "Not me" }, { type: "URL", url: "https://a.example/?code=otp{{1}}" }]
    const components = [{ type: "BODY", text: "{{1}} is your code." }, { type: "BUTTONS", buttons }]
    const login: Template.Template = { ...template, category: "authentication", components, variables: ["1"] }
    const parameters = [{ type: "text", text: "4711" }]
    assert.deepStrictEqual(SendRequest.bodyOf(send(templated("4711"), { template: login })).template, {
      name: "order_update",
      language: { code: "en_US" },
      components: [{ type: "body", parameters }, { type: "button", sub_type: "url", index: "1", parameters }]
    })
  })

  it("a template without placeholders is posted without components", () => {
    const expected = { name: "order_update", language: { code: "en" } }
    for (const bodyParams of [undefined, []]) {
      const message = {
        to,
        type: "template",
        template: { name: "order_update", language: "en", ...(bodyParams === undefined ? {} : { bodyParams }) }
      } as const
      assert.deepStrictEqual(SendRequest.bodyOf(send(message)).template, expected)
    }
  })

  it.prop("each value of a named template is posted at its own name, and nothing else of the caller is posted", {
    values: Schema.NonEmptyArray(Schema.NonEmptyString),
    clientReference: Schema.String
  }, ({ clientReference, values }) => {
    const text = values.map((_, i) => `{{name_${i}}}`).join(" and ")
    const components = [{ type: "BODY", text }]
    const named: Template.Template = {
      ...template,
      parameterFormat: "named",
      components,
      variables: Template.variablesOf(components)
    }
    const body = SendRequest.bodyOf(
      send({ ...templated(...values), clientReference, from: "+16315551000" }, { template: named })
    )
    assert.sameMembers(Object.keys(body), [...Object.keys(common), "type", "template"])
    assert.deepStrictEqual(body.template, {
      name: "order_update",
      language: { code: "en_US" },
      components: [{
        type: "body",
        parameters: values.map((text, i) => ({ type: "text", parameter_name: `name_${i}`, text }))
      }]
    })
  })

  it("the texts to hide in an error's words are the recipient and the values", () => {
    assert.deepStrictEqual(SendRequest.textsOf(send(text)), ["+16315551234", "16315551234", "Thank you, José!"])
    assert.deepStrictEqual(SendRequest.textsOf(send(templated("A", "B"))), ["+16315551234", "16315551234", "A", "B"])
  })
})
