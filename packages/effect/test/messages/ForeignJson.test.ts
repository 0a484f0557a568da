/**
 * Free JSON in messages that a host sends without HTTP: what no storage holds, or what is too deep to walk through, is
 * refused by the name of its field.
 */
import { assert, describe, it } from "vitest"
import type { NewMessage } from "../../src/promises.ts"
import { failure, fresh, hello, start } from "../instance.ts"

/** A message of a flow with free JSON. */
const flow = (data: unknown) =>
  ({
    to: "+15551234567",
    type: "interactive",
    interactive: {
      type: "flow",
      body: { text: "x" },
      action: {
        name: "flow",
        parameters: {
          flow_message_version: "3",
          flow_token: "t",
          flow_id: "1",
          flow_cta: "Go",
          flow_action: "navigate",
          flow_action_payload: { screen: "A", data }
        }
      }
    }
  }) as NewMessage

const nested = (levels: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value]
  return { a: value }
}

const field = "interactive.action.parameters.flow_action_payload.data"

describe("free JSON of a host's message", () => {
  it.each<readonly [what: string, data: unknown]>([
    ["33 levels", nested(32)],
    ["some thousand levels", nested(6500)],
    ["a hundred thousand levels", nested(100_000)],
    ["a NUL", { a: ["b\u0000"] }],
    ["a lone surrogate", { a: { b: "\ud800" } }],
    ["a NUL in a name", { a: { "b\u0000": 1 } }],
    ["a lone surrogate in a name", { "\udfff": 1 }]
  ])("%s: the message is refused with the field's name, and the next one is sent", async (_, data) => {
    const { wac } = await start()
    const error = await failure(wac.messages.send(flow(data), fresh()))
    assert.deepInclude(error, { code: "invalid_body", reason: "invalid_field" })
    assert.isTrue(error.param?.startsWith(field), error.param)
    await wac.messages.send(hello(), fresh())
  })

  it("32 levels are taken as far as any rule of messages", async () => {
    const { wac } = await start()
    assert.deepInclude(await failure(wac.messages.send(flow(nested(31)), fresh())), {
      reason: "outside_service_window"
    })
  })

  it("JSON that contains itself is refused", async () => {
    const { wac } = await start()
    const round: { self?: unknown } = {}
    round.self = round
    assert.deepInclude(await failure(wac.messages.send(flow(round), fresh())), { code: "invalid_body" })
  })
})
