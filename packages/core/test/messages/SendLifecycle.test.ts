import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import { expectTypeOf } from "vitest"
import { reasonOf, ServerError } from "../../src/Errors.ts"
import * as Idempotency from "../../src/Idempotency.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import { ApiKeys } from "../../src/keys/ApiKeys.ts"
import type { OutboundMessage } from "../../src/messages/Message.ts"
import type { Queue } from "../../src/messages/MessageStore.ts"
import { MessageStore } from "../../src/messages/MessageStore.ts"
import { type Ended, type Outcome, type SendCommand, SendLifecycle } from "../../src/messages/SendLifecycle.ts"
import { StoreError } from "../../src/StoreError.ts"
import { at } from "../clock.ts"
import { start } from "../samples.ts"
import { foundation, issueKey, key, newId, plain, stubProvider, world } from "../world.ts"

type Given = ReturnType<typeof setUp>

const setUp = () => {
  const provider = stubProvider()
  const storage = { canAbandon: true }
  const store = Layer.effect(
    MessageStore,
    Effect.map(MessageStore, (real) =>
      MessageStore.of({
        ...real,
        abandon: (command) =>
          storage.canAbandon
            ? real.abandon(command)
            : Effect.fail(new StoreError({ operation: "MessageStore.abandon" }))
      }))
  )
  const layer = SendLifecycle.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, Inbound.layer, provider.layer)),
    Layer.provideMerge(store),
    Layer.provideMerge(foundation)
  )
  return { provider, storage, layer }
}

const living = <E>(test: (given: Given) => Effect.Effect<void, E, Layer.Success<Given["layer"]>>) => () =>
  Effect.suspend(() => {
    const given = setUp()
    return test(given).pipe(Effect.provide(given.layer), at(start))
  })

/** A send by an API key, to a customer whose service window is open. */
const sendCommand = (name: string, message: OutboundMessage = plain()) =>
  Effect.gen(function*() {
    const { number: { providerNumberId }, workspace } = yield* world()
    yield* Inbound.use((inbound) =>
      inbound.receive([{
        _tag: "Message",
        message: {
          providerNumberId,
          providerMessageId: `wamid.in.${workspace.id}`,
          customer: { phone: "+12025550123", userId: null },
          at: start,
          type: "text",
          content: { body: "Hello" },
          context: null,
          preference: undefined
        }
      }])
    )
    const { key: apiKey } = yield* issueKey(workspace.id)
    const fingerprint = yield* Idempotency.fingerprint(yield* Digest.Digest, message)
    const send: SendCommand<null> = {
      keyed: { workspaceId: workspace.id, route: "POST /v1/messages", key: key(name), fingerprint },
      apiKeyId: apiKey.id,
      queue: null,
      later: null,
      message,
      requestId: yield* newId("req")
    }
    return send
  })

const carryOut = (send: SendCommand<null>) => SendLifecycle.use((lifecycle) => lifecycle.send(send))

const endOf = (outcome: Outcome<null>): Ended["as"] =>
  outcome._tag === "Ended" ? outcome.as : assert.fail(`not claimed: ${outcome._tag}`)

it("only a send of a queue can be left out, and only a request can be queued", () => {
  type LeftOut = "Capped" | "Duplicate"
  expectTypeOf<Extract<Outcome<null>["_tag"], LeftOut | "Queued">>().toEqualTypeOf<"Queued">()
  expectTypeOf<Extract<Outcome<Queue>["_tag"], LeftOut | "Queued">>().toEqualTypeOf<LeftOut>()
})

it.effect(
  "a withheld send does not reach the provider, and the same message can be sent later",
  living(({ provider }) =>
    Effect.gen(function*() {
      const send = yield* sendCommand("k")
      const error = new ServerError({ reason: "overloaded", message: "not now" })
      const withheld = yield* carryOut({ ...send, withhold: Effect.succeed(error) })
      assert.deepStrictEqual(withheld, {
        _tag: "Ended",
        as: "withheld",
        answer: { _tag: "Failed", error, requestId: send.requestId }
      })
      assert.strictEqual(provider.calls.length, 0)
      assert.strictEqual(endOf(yield* carryOut({ ...send, withhold: Effect.succeed(undefined) })), "sent")
      assert.strictEqual(provider.calls.length, 1)
    })
  )
)

it.effect(
  "what wraps a send runs once it is claimed, and neither for a replay nor for a refusal",
  living(({ provider }) =>
    Effect.gen(function*() {
      const ends: Array<Ended["as"]> = []
      const around: SendCommand<null>["around"] = (rest) =>
        Effect.suspend(() => {
          assert.strictEqual(provider.calls.length, 0)
          return Effect.tap(rest, ({ as }) => Effect.sync(() => ends.push(as)))
        })
      const send = { ...yield* sendCommand("k"), around }
      assert.strictEqual(endOf(yield* carryOut(send)), "sent")
      assert.strictEqual((yield* carryOut(send))._tag, "Answered")
      const toNobody = { ...send.keyed, workspaceId: yield* newId("ws") }
      assert.strictEqual((yield* carryOut({ ...send, keyed: toNobody }))._tag, "Refused")
      assert.deepStrictEqual(ends, ["sent"])
    })
  )
)

it.effect(
  "a claimed send that is refused is abandoned; if the storage fails then, the claim is stuck until its lease ends",
  living(({ provider, storage }) =>
    Effect.gen(function*() {
      const send = yield* sendCommand("k", {
        type: "text",
        to: "+12025550123",
        text: { body: "Yes" },
        context: { message_id: yield* newId("msg") }
      })
      assert.strictEqual(endOf(yield* carryOut(send)), "refused")
      storage.canAbandon = false
      const stuck = yield* carryOut(send)
      assert.strictEqual(endOf(stuck), "stuck")
      assert.strictEqual(
        stuck._tag === "Ended" && stuck.answer._tag === "Failed" ? reasonOf(stuck.answer.error) : undefined,
        "storage_unavailable"
      )
      assert.strictEqual((yield* carryOut(send))._tag, "Running")
      assert.strictEqual(provider.calls.length, 0)
    })
  )
)
