import { assert, describe, it } from "@effect/vitest"
import { refusal } from "../../src/contacts/CustomerNames.ts"
import { reasonOf } from "../../src/Errors.ts"
import { errorOf } from "../../src/messages/Message.ts"
import * as Policy from "../../src/messages/Policy.ts"
import * as OutboxEntry from "../../src/outbox/OutboxEntry.ts"
import { id } from "../samples.ts"

const content = { to: "+15551234567", type: "text", text: { body: "Hello" } } as const

const entry = { tries: 0, enqueuedAt: 0, sendAt: null, sendUntil: null }

describe("an enqueued message that is refused", () => {
  it("an enqueued message is tried again while the queue is full, and fails for other reasons", () => {
    const full = Policy.queueRefusal(1, 1)!
    assert.strictEqual(OutboxEntry.refused(entry, { error: full }, content)._tag, "Again")
    assert.strictEqual(OutboxEntry.refused(entry, { error: refusal("+4407911123456", false)! }, content)._tag, "Failed")
  })

  it("a refused message is in the log without its customer's number", () => {
    const error = refusal("+4407911123456", false)!
    assert.include(error.message, "+447911123456")
    const messageId = id("msg")
    assert.strictEqual(
      OutboxEntry.lineOf(messageId, errorOf(error)),
      `the enqueued message ${messageId} is refused: ${reasonOf(error)}`
    )
  })
})

describe("an enqueued message that cannot be read", () => {
  it("an unreadable message is listed as a text if its type is not the name of a kind of message", () => {
    const types: ReadonlyArray<unknown> = [
      { toString: null },
      { toString: { valueOf: null } },
      ["image"],
      "__proto__",
      7,
      null
    ]
    for (const type of types) {
      assert.deepStrictEqual(
        OutboxEntry.unreadable(JSON.parse(JSON.stringify({ to: "+12025550123", type }))),
        { to: "+12025550123", type: "text", text: {} } as never
      )
    }
  })
})
