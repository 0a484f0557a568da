import { assert, describe, it } from "@effect/vitest"
import { E164, Message } from "@wac/core"
import { Duration, Schema } from "effect"
import * as Behaviour from "../src/Behaviour.ts"
import { firstNumber } from "../src/SandboxProvider.ts"
import { messageId, sender } from "./sandbox.ts"

const { numbers } = Behaviour

/** A message after the sandbox's response. */
const answered = (to: E164.E164): Message.Message => ({
  id: messageId,
  workspaceId: sender.workspaceId,
  apiKeyId: "key_01ARZ3NDEKTSV4RRFFQ69G5FAV" as Message.Message["apiKeyId"],
  campaignId: null,
  variant: null,
  phoneNumberId: sender.id,
  from: sender.phoneNumber,
  content: { type: "text", to, text: { body: "hello" } },
  status: Behaviour.of(to).outcome._tag === "Accepted" ? "sent" : "unknown",
  statusAt: 0,
  providerMessageId: null,
  createdAt: 0,
  sendAt: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  error: null,
  pricing: null,
  playedAt: null,
  isHeld: false,
  sequence: 0
})

/** The final status of a message to the number, and the steps on the way. */
const life = (to: E164.E164) => {
  let message = answered(to)
  const steps: Array<string> = []
  for (const { after, items } of Behaviour.of(to).reports) {
    const at = Duration.toMillis(after)
    for (const told of items) {
      if (told._tag === "Reply" || told._tag === "Press" || told._tag === "Picture") continue
      const moved = Message.apply(
        message,
        told._tag === "Failure"
          ? { status: "failed", at, providerMessageId: "wamid.1", error: told.error }
          : { status: told.status, at, providerMessageId: "wamid.1", error: null },
        at
      )
      message = moved.message
      steps.push(...moved.transitions.map(({ to }) => to))
    }
  }
  return { status: message.status, steps }
}

describe("the numbers", () => {
  it("the twelve numbers are consecutive, and work as sender and as recipient", () => {
    assert.deepStrictEqual(
      Object.values(numbers),
      Array.from({ length: 12 }, (_, i) => `+150055500${String(i + 1).padStart(2, "0")}`)
    )
    const isE164 = Schema.is(E164.E164)
    for (const number of [...Object.values(numbers), firstNumber.phoneNumber]) assert.isTrue(isE164(number), number)
    assert.notInclude(Object.values<string>(numbers), firstNumber.phoneNumber)
  })

  it("every other number receives and reads", () => {
    const ordinary = Behaviour.of("+15551234567")
    for (const to of ["+15005550000", "+15005550013", "+1500555000", "+150055500010", "+4915112345678", "__proto__"]) {
      assert.deepStrictEqual(Behaviour.of(to), ordinary, to)
    }
  })
})

describe("the life of a message", () => {
  const ends: ReadonlyArray<[string, E164.E164, ReturnType<typeof life>]> = [
    ["ordinary", "+15551234567", { status: "read", steps: ["delivered", "read"] }],
    ["failing", numbers.failing, { status: "failed", steps: ["failed"] }],
    ["silent", numbers.silent, { status: "sent", steps: [] }],
    ["outcome unknown", numbers.outcomeUnknown, { status: "delivered", steps: ["sent", "delivered"] }],
    ["disorderly", numbers.disorderly, { status: "read", steps: ["delivered", "read"] }],
    ["replying", numbers.replying, { status: "read", steps: ["delivered", "read"] }],
    ["stopping", numbers.stopping, { status: "read", steps: ["delivered", "read"] }],
    ["slow", numbers.slow, { status: "read", steps: ["delivered", "read"] }]
  ]
  for (const [name, to, expected] of ends) {
    it(`${name}: ends ${expected.status}, each step once`, () => assert.deepStrictEqual(life(to), expected))
  }
})

it("the disorder number reports duplicates and steps back, and ends within a second", () => {
  const { reports } = Behaviour.of(numbers.disorderly)
  const statuses = reports.flatMap(({ items }) => items.map((told) => told._tag === "Status" ? told.status : told._tag))
  for (const status of ["sent", "delivered", "read"]) {
    assert.isAbove(statuses.filter((each) => each === status).length, 1, status)
  }
  assert.strictEqual(statuses[0], "read")
  assert.isTrue(reports.every(({ after }) => Duration.isLessThanOrEqualTo(after, Duration.seconds(1))))
})
