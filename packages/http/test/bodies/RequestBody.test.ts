import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as RequestBody from "../../src/bodies/RequestBody.ts"

/** Whether other work gets its turn before an effect ends. */
const letsOthers = <E>(effect: Effect.Effect<void, E>) =>
  Effect.promise(async () => {
    let hadTurn = false
    const immediate = setImmediate(() => void (hadTurn = true))
    await Effect.runPromise(effect)
    clearImmediate(immediate)
    return hadTurn
  })

it.effect("after a walk through a long body other work has its turn, and short ones do not wait for any", () =>
  Effect.gen(function*() {
    const body = (bytes: number) => new TextEncoder().encode(`["${"x".repeat(bytes)}"]`)
    assert.isTrue(yield* letsOthers(RequestBody.onlyOnce(body(70_000))))
    assert.isTrue(yield* letsOthers(RequestBody.turn(body(70_000))))
    assert.isFalse(yield* letsOthers(RequestBody.onlyOnce(body(1000))))
  }))
