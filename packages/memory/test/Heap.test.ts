import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Heap } from "../src/Heap.ts"

it.effect.prop("a heap returns its items in ascending order, however adding and removing alternate", {
  steps: Schema.Array(Schema.NullOr(Schema.Int))
}, ({ steps }) =>
  Effect.sync(() => {
    const heap = new Heap<number>((a, b) => a < b)
    const model: Array<number> = []
    for (const step of steps) {
      if (step === null) {
        assert.strictEqual(heap.peek(), model[0])
        assert.strictEqual(heap.pop(), model.shift())
      } else {
        heap.push(step)
        model.push(step)
        model.sort((a, b) => a - b)
      }
    }
    for (const expected of model) assert.strictEqual(heap.pop(), expected)
    assert.isUndefined(heap.pop())
  }))
