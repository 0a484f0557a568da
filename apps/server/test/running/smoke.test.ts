import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { hello, ready, send } from "../harness.ts"

it.live("a message is sent", () =>
  Effect.gen(function*() {
    const server = yield* ready()
    const answer = yield* send(server, hello())
    assert.strictEqual(answer.status, 200, answer.text)
    assert.strictEqual(answer.body.status, "sent")
  }).pipe(Effect.scoped))
