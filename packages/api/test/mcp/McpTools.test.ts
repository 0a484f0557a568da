import { assert, describe, it } from "@effect/vitest"
import { Capabilities } from "@wac/core"
import { Record, Result } from "effect"
import { OpenApi } from "effect/http-api"
import { Api } from "../../src/Api.ts"
import * as McpTools from "../../src/mcp/McpTools.ts"
import * as OpenApiChannel from "../../src/OpenApiChannel.ts"

const tools = McpTools.make(OpenApi.fromApi(Api))

const named = (name: string) => tools.find(({ description }) => description.name === name)!

const call = (name: string, args: McpTools.Arguments) => Result.getOrThrow(named(name).callOf(args))

const refusal = (name: string, args: McpTools.Arguments) => {
  const result = named(name).callOf(args)
  assert.isTrue(Result.isFailure(result))
  const { param, reason } = Result.isFailure(result) ? result.failure : assert.fail()
  return { param, reason }
}

const text = { to: "+15551234567", type: "text", text: { body: "Hi" } }

describe("the tools", () => {
  it("each tool has the scope of its endpoint", () => {
    assert.deepStrictEqual(Object.fromEntries(tools.map(({ description: { name }, scope }) => [name, scope])), {
      send_template: "messages:send",
      send_message: "messages:send",
      list_templates: "messages:send",
      get_message: "messages:read",
      list_messages: "messages:read",
      read_conversation: "messages:read",
      list_events: "messages:read",
      opt_out_contact: "contacts:write"
    })
  })

  it("a channel lists only the tools whose operations and kinds of message it has, and no others are mentioned", () => {
    const none = Record.map(Capabilities.all, () => false)
    const ofChannel = (capabilities: Capabilities.Capabilities) =>
      McpTools.make(OpenApiChannel.of(OpenApi.fromApi(Api), capabilities), capabilities)
    const onlyTexts = ofChannel(none).map(({ description }) => description)
    assert.deepStrictEqual(onlyTexts.map(({ name }) => name), [
      "send_message",
      "get_message",
      "list_messages",
      "read_conversation",
      "list_events",
      "opt_out_contact"
    ])
    for (const word of ["template", "WhatsApp", "outside_service_window", "SendImage", "media_id"]) {
      assert.notInclude(JSON.stringify(onlyTexts.map(({ description }) => description)), word)
    }
    assert.notMatch(JSON.stringify(onlyTexts[0]!.inputSchema), /"(template|image|location|reaction|context)"/)
    assert.deepStrictEqual(
      ofChannel(Capabilities.all).map(({ description }) => description),
      tools.map(({ description }) => description)
    )
  })

  it("the parameters are an object whose references are all in it", () => {
    for (const { description: { inputSchema, name } } of tools) {
      assert.strictEqual(inputSchema["type"], "object")
      const all = JSON.stringify(inputSchema)
      assert.notInclude(all, "#/components", name)
      for (const [, def] of all.matchAll(/"#\/\$defs\/([^"]+)"/g)) {
        assert.property(inputSchema["$defs"], def!, name)
      }
    }
  })

  it("all tools together take less than 32 KB of a model's context", () => {
    assert.isBelow(JSON.stringify(tools.map(({ description }) => description)).length, 32_768)
  })

  it("the tools that send, and no others, state how often a message is sent and for how long", () => {
    for (const { description: { description, name }, sends } of tools) {
      assert.strictEqual(description.includes("sent at most once, until 24 hours after it was sent"), sends, name)
    }
  })

  it("a send is a request whose key depends on the intent and the recipient alone", () => {
    const one = call("send_message", { intent: "greeting", message: text })
    assert.deepInclude(one, { method: "POST", target: "/v1/messages", body: text })
    const same = call("send_message", { intent: "Greeting!", message: { ...text, text: { body: "Hello" } } })
    assert.strictEqual(same.keyText, one.keyText)
    for (
      const other of [
        { intent: "greeting-2", message: text },
        { intent: "greeting", message: { ...text, to: "+15551234568" } }
      ]
    ) assert.notStrictEqual(call("send_message", other).keyText, one.keyText)
  })

  it("a send without an intent, without a message, or with another argument is refused", () => {
    assert.deepStrictEqual(refusal("send_message", { message: text }), { reason: "missing_field", param: "intent" })
    assert.deepStrictEqual(refusal("send_message", { intent: "…", message: text }), {
      reason: "invalid_field",
      param: "intent"
    })
    assert.deepStrictEqual(refusal("send_message", { intent: "a" }), { reason: "missing_field", param: "message" })
    assert.deepStrictEqual(refusal("send_message", { intent: "a", message: text, to: "+1" }), {
      reason: "unknown_field",
      param: "to"
    })
  })

  it("a tool takes no argument and no kind of message that it does not describe", () => {
    assert.deepStrictEqual(refusal("list_messages", { contact: "+15551234567" }), {
      reason: "unknown_field",
      param: "contact"
    })
    assert.deepStrictEqual(refusal("read_conversation", { contact: "+15551234567", status: "failed" }), {
      reason: "unknown_field",
      param: "status"
    })
    assert.deepStrictEqual(refusal("get_message", { id: "msg_1", __proto__: null, constructor: 1 }), {
      reason: "unknown_field",
      param: "constructor"
    })
    for (
      const [name, type] of [["send_template", "text"], ["send_message", "template"], ["send_message", "contacts"]]
    ) {
      assert.deepStrictEqual(refusal(name!, { intent: "a", message: { ...text, type } }), {
        reason: "invalid_field",
        param: "type"
      })
    }
  })

  it("a message with a time for sending it later is refused, since no tool lists one", () => {
    const template = { to: text.to, type: "template", template: { name: "order", language: "en" } }
    for (const [name, message] of [["send_message", text], ["send_template", template]] as const) {
      assert.deepInclude(call(name, { intent: "a", message }), { body: message })
      for (const field of ["send_at", "send_until"]) {
        for (const value of ["2026-12-24T09:00:00Z", null]) {
          assert.deepStrictEqual(refusal(name, { intent: "a", message: { ...message, [field]: value } }), {
            reason: "unknown_field",
            param: field
          })
        }
      }
    }
  })

  it("other arguments become the path, the query or the body", () => {
    assert.deepStrictEqual(call("read_conversation", { contact: "+15551234567", limit: 5 }), {
      method: "GET",
      target: "/v1/messages?contact=%2B15551234567&limit=5",
      body: undefined,
      keyText: undefined
    })
    assert.strictEqual(call("get_message", { id: "../events?x=/" }).target, "/v1/messages/..%2Fevents%3Fx%3D%2F")
    assert.strictEqual(call("list_templates", {}).target, "/v1/templates")
    assert.deepStrictEqual(call("opt_out_contact", { name: "+15551234567", phone_number_id: "pn_1" }), {
      method: "PUT",
      target: "/v1/contacts/%2B15551234567/opt-out",
      body: { phone_number_id: "pn_1" },
      keyText: undefined
    })
    assert.deepStrictEqual(refusal("read_conversation", {}), { reason: "missing_field", param: "contact" })
    assert.deepStrictEqual(refusal("get_message", { id: null }), { reason: "missing_field", param: "id" })
  })
})
