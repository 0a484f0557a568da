import { Events, Limits } from "@wac/core"
import { Effect, Layer } from "effect"
import { assert, it } from "vitest"
import { Composition, Host } from "../../src/index.ts"
import { hello } from "../instance.ts"

const service = Host.Host.layer("Shop").pipe(
  Layer.provideMerge(Composition.layer({
    storage: { _tag: "Memory" },
    masterKey: undefined,
    previousMasterKey: undefined,
    limits: Limits.standard,
    receiverRules: { allowInsecure: false, allowedCidrs: [] }
  }))
)

it("a host that uses Effect sends once per key in its own workspace, and invalid input is refused by field", () =>
  Effect.gen(function*() {
    const host = yield* Host.Host
    const events = yield* Events.Events
    const [first, second] = yield* Effect.all([1, 2].map(() => host.send(hello(), { idempotencyKey: "one" })))
    assert.deepStrictEqual(second, first)
    assert.strictEqual(first!.workspaceId, host.workspaceId)
    const sent = yield* events.list(host.workspaceId, { type: "message.sent" }, { limit: 10, after: null })
    assert.strictEqual(sent.items.length, 1)

    const badKey = yield* Effect.flip(host.send(hello(), { idempotencyKey: "two words" }))
    assert.deepInclude(badKey, { _tag: "InvalidBody", param: "idempotencyKey" })
    const badNumber = yield* Effect.flip(host.send(hello("5"), { idempotencyKey: "two" }))
    assert.deepInclude(badNumber, { _tag: "InvalidBody", param: "to" })
  }).pipe(Effect.provide(service), Effect.runPromise))
