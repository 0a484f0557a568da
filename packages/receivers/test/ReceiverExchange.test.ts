import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { maxBodyBytes, ReceiverExchange } from "../src/ReceiverExchange.ts"

const exchange = Effect.map(Clock.Clock, (clock) => new ReceiverExchange(clock))

describe("the body of a receiver's response", () => {
  it.effect("the response's body is read only up to its limit", () =>
    Effect.gen(function*() {
      const one = yield* exchange
      assert.strictEqual(one.body.length, 0)
      assert.isTrue(one.take(Buffer.from("ok")))
      assert.isTrue(one.take(Buffer.alloc(maxBodyBytes - 3, ".")))
      assert.isFalse(one.take(Buffer.from("!?")))
      assert.strictEqual(one.body.toString(), `ok${".".repeat(maxBodyBytes - 3)}!`)
    }))

  it.effect("the response's body is gathered without keeping the pieces", () =>
    Effect.gen(function*() {
      const one = yield* exchange
      // a source that uses its piece again shows whether that is kept, for hundreds of times the memory of its byte
      const piece = Buffer.alloc(1)
      for (const byte of Buffer.from("byte by byte")) {
        piece[0] = byte
        one.take(piece)
      }
      assert.strictEqual(one.body.toString(), "byte by byte")
    }))
})
