import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as SendIntent from "../../src/messages/SendIntent.ts"

describe("the intent of a send", () => {
  it.each([
    ["order-1042-shipped", "Order 1042 shipped"],
    ["order-1042-shipped", "  order_1042 — shipped!  "],
    ["Übergabe 5", "u\u0308bergabe-5"],
    ["ｏｒｄｅｒ １", "order 1"],
    // a sigma is written otherwise at the end of a word
    ["ΟΔΟΣ.ΑΒΓ", "οδος αβγ"]
  ])("%s and %s are the same intent", (one, other) => {
    assert.strictEqual(SendIntent.keyText(one, "+15551234567"), SendIntent.keyText(other, "+15551234567"))
  })

  it.each([
    ["order-1042-shipped", "order-1043-shipped"],
    ["reminder", "reminder-2"],
    ["order-1-042", "order-10-42"],
    ["हि", "ह"]
  ])("%s and %s are two intents", (one, other) => {
    assert.notStrictEqual(SendIntent.keyText(one, "+15551234567"), SendIntent.keyText(other, "+15551234567"))
  })

  it("one intent is another send for another recipient", () => {
    assert.notStrictEqual(
      SendIntent.keyText("reminder", "+15551234567"),
      SendIntent.keyText("reminder", "+15551234568")
    )
    // no recipient can continue an intent
    assert.notStrictEqual(SendIntent.keyText("a", "b-c"), SendIntent.keyText("a-b", "c"))
  })

  it("an intent has 1 to 200 characters and at least one letter or digit", () => {
    const isIntent = Schema.is(SendIntent.SendIntent)
    for (const intent of ["a", "1", "é", "x".repeat(200)]) assert.isTrue(isIntent(intent), intent)
    for (const intent of ["", "-", "…!", "👍", "x".repeat(201), "a\u0000", 1, null]) assert.isFalse(isIntent(intent))
  })
})
