import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as BatchItem from "../../src/messages/BatchItem.ts"
import * as Turns from "../bodies/Turns.ts"

const text = (body: string) => ({ idempotency_key: "k", to: "+491701234567", type: "text", text: { body } })

const flow = (data: object) => ({
  idempotency_key: "k",
  to: "+491701234567",
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
})

/** A message that counts when it is read, by its bytes. */
const counted = (message: object, step: (size: number) => void) => {
  const size = Buffer.byteLength(JSON.stringify(message))
  return Object.defineProperty({ ...message }, "to", {
    enumerable: true,
    // it is measured, copied, and decoded as the copy
    get: () => {
      step(size)
      return "+491701234567"
    }
  }) as { readonly [name: string]: unknown }
}

describe("the messages of a batch", () => {
  const lists = Array.from({ length: 4000 }, () => [])

  it.live.each<readonly [what: string, messages: ReadonlyArray<object>]>([
    ["one large message after the other", Array.from({ length: 40 }, () => flow({ lists }))],
    ["very many small messages", Array.from({ length: 500 }, () => text("x".repeat(2000)))]
  ])("%s: as many bytes as one may have are read in one turn", ([, messages]) =>
    Effect.gen(function*() {
      const most = yield* Turns.mostSteps((step) =>
        BatchItem.readAll(messages.map((message) => counted(message, step)))
      )
      // each is counted when it is measured, and when it is read; one more was measured before the turn
      assert.isAtMost(most, 3 * BatchItem.maxBytes)
    }))

  it.effect("a message that is larger than the body of a send is refused alone", () =>
    Effect.gen(function*() {
      const large = flow({ text: "ü".repeat(BatchItem.maxBytes / 2) })
      const items = yield* BatchItem.readAll([text("a"), large, flow({ text: "x".repeat(60_000) })])
      assert.deepStrictEqual(items.map(Result.isSuccess), [true, false, true])
      assert.deepStrictEqual(Result.isFailure(items[1]!) ? items[1].failure.reason : "", "too_large")
    }))
})
