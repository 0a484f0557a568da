import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ReceiverReach from "../src/ReceiverReach.ts"
import { allowedCidrs, reply, serve, timeout } from "./receivers.ts"

const rules = { allowInsecure: true, allowedCidrs }

// the last is an IPv6 address that leads to the server on every machine
for (const host of ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"]) {
  it.effect(`a receiver can be reached at ${host}`, () =>
    Effect.gen(function*() {
      const { port } = yield* serve(reply(200))
      assert.isUndefined(yield* ReceiverReach.failure(rules, new URL(`http://${host}:${port}/hook`), timeout))
    }))
}

it.effect("a receiver at an address that is not allowed is reported", () =>
  Effect.gen(function*() {
    const failure = yield* ReceiverReach.failure(
      { ...rules, allowedCidrs: [] },
      new URL("http://[::1]:8080/hook"),
      timeout
    )
    assert.strictEqual(failure, "has a host that is a loopback address; only public addresses are allowed")
  }))
