/**
 * What the dashboard says of things, where a function decides it.
 */
import { assert, it } from "vitest"
import { customerOf, numberOf, soughtMessages } from "../src/ui/Sought.ts"
import { asRate, withinSentence } from "../src/ui/Words.ts"
import {
  begunWords,
  earlierOf,
  isOfRemoved,
  isRepeatable,
  isTriedAgain,
  meaningOf,
  meanings,
  waitsItsTurn
} from "../src/webhooks/RoundWords.ts"

const pending = {
  eventType: "message.sent",
  status: "pending",
  attemptCount: 0,
  nextAttemptAt: "2026-01-02T03:04:05.700Z"
} as const

it("what is delivered again while the webhook is paused is said to be held, and not to be on its way", () => {
  assert.strictEqual(begunWords(["pending"]), "It is on its way.")
  assert.strictEqual(begunWords(["pending", "pending"]), "Every one of them is on its way.")
  assert.strictEqual(begunWords(["held"]), "It is held until the webhook is resumed.")
  assert.strictEqual(
    begunWords(["held", "held", "held"]),
    "None of them is on its way: all are held until the webhook is resumed."
  )
  assert.strictEqual(
    begunWords(["pending", "held", "held"]),
    "1 is on the way, 2 are held until the webhook is resumed."
  )
})

it("a delivery that waits for its message’s earlier event says so, as does one that was attempted", () => {
  assert.match(meaningOf({ ...pending, nextAttemptAt: null }), /waits for an earlier event of the same message/)
  assert.match(meaningOf({ ...pending, attemptCount: 3 }), /was attempted/)
  assert.strictEqual(meaningOf(pending), meanings.pending)
  assert.isTrue(isTriedAgain({ ...pending, attemptCount: 3 }))
  assert.isFalse(isTriedAgain(pending))
  // a test event has no order, and is attempted at once
  assert.isFalse(waitsItsTurn({ ...pending, eventType: "webhook.test", nextAttemptAt: null }))
})

it("the delivery that another waits for is the earlier open one of the message that is next to be attempted", () => {
  const of = (id: string, status: "pending" | "delivered", nextAttemptAt: string | null) => ({
    id,
    status,
    nextAttemptAt
  })
  const next = of("dlv_2", "pending", "2026-01-02T03:04:05.700Z")
  const life = [of("dlv_4", "pending", null), of("dlv_3", "pending", null), next, of("dlv_1", "delivered", null)]
  assert.strictEqual(earlierOf({ id: "dlv_4" }, life), next)
  assert.isUndefined(earlierOf({ id: "dlv_1" }, life))
})

it("a test event that failed is not said to be given up after 24 hours, nor to be deliverable again", () => {
  const probe = { ...pending, eventType: "webhook.test", status: "exhausted", nextAttemptAt: null } as const
  assert.isFalse(isRepeatable(probe))
  assert.notMatch(meaningOf(probe), /24 hours|again/)
  assert.match(meaningOf({ ...probe, eventType: "message.sent" }), /24 hours/)
})

it("a delivery of a removed webhook says so, and not that it can be delivered again", () => {
  const given = { ...pending, status: "exhausted", nextAttemptAt: null, createdAt: pending.nextAttemptAt } as const
  const curl = null
  const before = { createdAt: "2026-01-02T03:04:05.699Z" }
  const after = { createdAt: "2026-01-02T03:04:05.701Z" }
  assert.isTrue(isOfRemoved({ ...given, curl }, null))
  assert.isTrue(isOfRemoved({ ...given, curl }, after))
  // a member sees no command, and a webhook that is not loaded is not known to be removed
  assert.isFalse(isOfRemoved({ ...given, curl }, before))
  assert.isFalse(isOfRemoved({ ...given, curl }, undefined))
  assert.isFalse(isOfRemoved({ ...given, curl: "curl …" }, after))
  for (const status of ["exhausted", "skipped"] as const) {
    assert.match(meaningOf({ ...given, status }, true), /webhook was removed, so it cannot be delivered again/)
    assert.strictEqual(meaningOf({ ...given, status }), meanings[status])
  }
})

it("a number is understood as people write it, with its country code", () => {
  for (const text of ["+491701234567", "0049 170 1234567", "+49 (0)170 123-4567", "491701234567", "+49/170/1234567"]) {
    assert.strictEqual(numberOf(text), "+491701234567", text)
  }
  for (const text of ["7770001", "0170 1234567", "+0170 1234567", "order-1042", "", "+", "+49 170 12345 678 901 234"]) {
    assert.isUndefined(numberOf(text), text)
  }
  assert.strictEqual(customerOf("US.13491208655302741918"), "US.13491208655302741918")
})

it("a search of messages takes what is no number for a reference, a part of a number as well", () => {
  assert.deepStrictEqual(soughtMessages("0049 170 1234567"), {
    to: "+491701234567",
    typed: "0049 170 1234567"
  })
  assert.deepStrictEqual(soughtMessages("+491701234567"), { to: "+491701234567" })
  assert.deepStrictEqual(soughtMessages("7770001"), { reference: "7770001" })
  assert.deepStrictEqual(soughtMessages("wamid.x"), { provider: "wamid.x" })
  assert.deepStrictEqual(soughtMessages(undefined), {})
})

it("a name keeps its capitals within a sentence if it is an abbreviation", () => {
  assert.deepStrictEqual(["API key", "Signing secret", "Link"].map(withinSentence), [
    "API key",
    "signing secret",
    "link"
  ])
})

it("a rate that is above 0 is never shown as 0", () => {
  const words = [0.004, 0.04, 0.8, 9.94, 40.4, 1234].map(asRate)
  assert.deepStrictEqual(words, [
    "0.004 a second",
    "0.04 a second",
    "0.8 a second",
    "9.9 a second",
    "40 a second",
    "1,234 a second"
  ])
})
