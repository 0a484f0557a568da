import { assert, describe, it } from "@effect/vitest"
import type { Provider } from "@wac/core"
import { Duration, type Schema } from "effect"
import * as SendResponse from "../src/SendResponse.ts"

const outcomeOf = (
  status: number,
  json: Schema.Json | undefined,
  regainAfter?: Duration.Duration
): Provider.ProviderOutcome =>
  SendResponse.outcomeOf({ _tag: "Answered", status, json, regainAfter }, SendResponse.errorOf(json, []))

const unknown: Provider.ProviderOutcome = { _tag: "Unknown" }

describe("the outcome that an answer tells", () => {
  it("a response with a message id is accepted", () => {
    const accepted: Provider.ProviderOutcome = { _tag: "Accepted", providerMessageId: "wamid.HBgLMTY1" }
    const messages = [{ id: "wamid.HBgLMTY1" }]
    for (
      const [contacts, recipient] of [
        [[{ input: "+16315551234", wa_id: "16315551234" }], { phone: "+16315551234", userId: null }],
        [[{ user_id: "US.1" }], { phone: null, userId: "US.1" }],
        [[{ wa_id: "16315551234", user_id: "US.1", parent_user_id: "US.ENT.1" }], {
          phone: "+16315551234",
          userId: "US.1",
          aliases: ["US.ENT.1"]
        }]
      ] as const
    ) assert.deepStrictEqual(outcomeOf(200, { contacts, messages }), { ...accepted, recipient })
    for (
      const body of [
        { messages },
        { messages: [{ id: "wamid.HBgLMTY1", message_status: "accepted" }] },
        { contacts: [{ input: "?" }], messages: [{ id: "wamid.HBgLMTY1", message_status: 7 }] },
        { contacts: "?", messages },
        // of several, nobody knows which it is
        { contacts: [{ user_id: "US.1" }, { user_id: "US.2" }], messages },
        // what has a name was taken, whatever else is said
        { messages, error: { code: 131016 } }
      ]
    ) assert.deepStrictEqual(outcomeOf(200, body), accepted)
  })

  it("a message is accepted but held while the provider assesses the template's quality", () => {
    const messages = [{ id: "wamid.1", message_status: "held_for_quality_assessment" }]
    assert.deepStrictEqual(outcomeOf(200, { messages }), {
      _tag: "Accepted",
      providerMessageId: "wamid.1",
      isHeld: true
    })
  })

  it("a response without a message id has an unknown outcome", () => {
    for (
      const body of [
        undefined,
        null,
        "wamid.1",
        {},
        { messages: [] },
        { messages: {} },
        { messages: [{}] },
        { messages: [{ id: "" }] },
        { messages: [{ id: 7 }] },
        { messages: [{ id: "x".repeat(513) }] },
        { messages: [{ id: "wamid\u0000" }] },
        { success: true },
        { error: "none" },
        { error: { message: "no code" } }
      ]
    ) {
      for (const status of [200, 201, 302, 400, 401, 404, 429, 500, 503]) {
        assert.deepStrictEqual(outcomeOf(status, body), unknown)
      }
    }
  })

  it("a message id under a status other than success has an unknown outcome", () => {
    for (const status of [302, 400, 500]) {
      assert.deepStrictEqual(outcomeOf(status, { messages: [{ id: "wamid.1" }] }), unknown)
    }
  })

  it("an error in either of its places decides the outcome", () => {
    const error = { code: 131026, message: "Message undeliverable" }
    for (const body of [{ error }, { errors: [error] }]) {
      const outcome = outcomeOf(400, body)
      assert.strictEqual(outcome._tag, "Refused")
      assert.propertyVal("error" in outcome ? outcome.error : {}, "reason", "undeliverable")
    }
  })

  it("an outcome has how long the provider refuses calls", () => {
    const outcome = outcomeOf(400, { error: { code: 80007 } }, Duration.minutes(9))
    assert.deepStrictEqual(
      "error" in outcome && "retryAfter" in outcome.error ? outcome.error.retryAfter : undefined,
      Duration.minutes(9)
    )
  })
})
