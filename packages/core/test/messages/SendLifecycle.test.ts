import { assert, it } from "@effect/vitest"
import { Effect, Layer, type Scope } from "effect"
import { Digest } from "effect/crypto"
import { expectTypeOf } from "vitest"
import { reasonOf, ServerError } from "../../src/Errors.ts"
import * as Idempotency from "../../src/Idempotency.ts"
import { Inbound } from "../../src/inbound/Inbound.ts"
import { ApiKeys } from "../../src/keys/ApiKeys.ts"
import { SendableMedia } from "../../src/media/SendableMedia.ts"
import type { OutboundMessage } from "../../src/messages/Message.ts"
import * as MessageFiles from "../../src/messages/MessageFiles.ts"
import type { Queue } from "../../src/messages/MessageStore.ts"
import { MessageStore } from "../../src/messages/MessageStore.ts"
import { type Ended, type Outcome, type SendCommand, SendLifecycle } from "../../src/messages/SendLifecycle.ts"
import { Heartbeats } from "../../src/queue/Heartbeats.ts"
import { QueuedMessages } from "../../src/queue/QueuedMessages.ts"
import * as QueueRunner from "../../src/queue/QueueRunner.ts"
import { StoreError } from "../../src/StoreError.ts"
import { day, second } from "../checks.ts"
import { advance, at } from "../clock.ts"
import { start } from "../samples.ts"
import { foundation, issueKey, key, newId, plain, stubProvider, world } from "../world.ts"

type Given = ReturnType<typeof setUp>

const setUp = () => {
  const provider = stubProvider()
  const storage = { canAbandon: true }
  /** Files of the workspace, each of which takes a time to upload to the provider. */
  const files = {
    upload: Effect.succeed("provider-file") as Effect.Effect<string, StoreError>,
    forgotten: [] as Array<string>,
    kept: [] as Array<number>
  }
  const library = Layer.succeed(SendableMedia, {
    find: (_, id) => Effect.succeed({ id, mimeType: "image/png", size: 100, isAnimated: false, isOpus: false }),
    providerIdOf: () => Effect.suspend(() => files.upload),
    forgetProviderId: (_, { id }, providerId) => Effect.sync(() => void files.forgotten.push(`${id} ${providerId}`)),
    sampleHandleOf: () => Effect.die("no test has samples"),
    keepUntil: (_, ids, until) =>
      Effect.sync(() => {
        files.kept.push(...ids.map(() => until))
        return new Map(ids.map((id) => [id, null]))
      })
  })
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
    Layer.provideMerge(Layer.mergeAll(ApiKeys.layer, Inbound.layer, provider.layer, library)),
    Layer.provideMerge(store),
    Layer.provideMerge(foundation)
  )
  return { files, provider, storage, layer }
}

const living = <E>(test: (given: Given) => Effect.Effect<void, E, Layer.Success<Given["layer"]> | Scope.Scope>) => () =>
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

/** A message of ten cards with a picture each. */
const carousel = Effect.map(
  Effect.replicateEffect(newId("med"), 10),
  (ids): OutboundMessage => ({
    type: "interactive",
    to: "+12025550123",
    interactive: {
      type: "carousel",
      body: { text: "Our shelf" },
      action: {
        cards: ids.map((media, card_index) => ({
          card_index,
          type: "cta_url",
          header: { type: "image", image: { media } },
          body: { text: "A book" },
          action: { buttons: [{ type: "quick_reply", quick_reply: { id: `buy-${card_index}`, title: "Buy" } }] }
        }))
      }
    }
  })
)

const carryOut = (send: SendCommand<null>) => SendLifecycle.use((lifecycle) => lifecycle.send(send))

/** Starts the runner of the queue. */
const startRunner = Layer.build(
  QueueRunner.layer.pipe(Layer.provide(Heartbeats.layer), Layer.provide(QueuedMessages.layer))
)

/** The messages of the workspace of a send. */
const sendsOf = ({ keyed }: SendCommand<null>) =>
  MessageStore.use((store) => store.list(keyed.workspaceId, {}, { limit: 10, after: null }))

const errorOf = (outcome: Outcome<null>) =>
  outcome._tag === "Ended" && outcome.answer._tag === "Failed" ? reasonOf(outcome.answer.error) : undefined

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
  "a claimed send that is refused is abandoned; if the storage fails then, the claim is stuck until the storage is back",
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
      assert.strictEqual(errorOf(stuck), "storage_unavailable")
      assert.strictEqual((yield* carryOut(send))._tag, "Running")
      storage.canAbandon = true
      yield* advance("10 seconds")
      // the same key is judged again
      assert.strictEqual(errorOf(yield* carryOut(send)), "invalid_field")
      assert.strictEqual(provider.calls.length, 0)
    })
  )
)

it.effect(
  "a queued message whose claim the storage could not release is sent later, once",
  living(({ files, provider, storage }) =>
    Effect.gen(function*() {
      const send = yield* sendCommand("k", yield* carousel)
      const queued = yield* carryOut({ ...send, later: { isInBatch: false } })
      assert.strictEqual(queued._tag, "Queued")
      // the storage fails for a moment, after the claim
      files.upload = Effect.suspend(() => {
        storage.canAbandon = false
        return Effect.fail(new StoreError({ operation: "MediaStore.get" }))
      })
      yield* startRunner
      yield* advance("2 seconds")
      assert.isFalse(storage.canAbandon)
      storage.canAbandon = true
      files.upload = Effect.succeed("provider-file")
      yield* advance("2 minutes")
      assert.strictEqual(provider.calls.length, 1)
      const { items } = yield* sendsOf(send)
      assert.deepStrictEqual(items.map(({ status }) => status), ["sent"])
    })
  )
)

it.effect(
  "a queued message whose time is over when its files are uploaded fails without having been sent",
  living(({ files, provider }) =>
    Effect.gen(function*() {
      const send = yield* sendCommand("k", yield* carousel)
      files.upload = Effect.delay(files.upload, "2 seconds")
      yield* carryOut({ ...send, later: { isInBatch: false, sendUntil: start + 4 * second } })
      yield* startRunner
      yield* advance("20 seconds")
      assert.strictEqual(provider.calls.length, 0)
      const { items: [failed] } = yield* sendsOf(send)
      assert.deepStrictEqual([failed?.status, failed?.error?.reason], ["failed", "not_sent"])
    })
  )
)

it.effect(
  "a send waits at most 15 s for all of its files, and leaves its key free for another try",
  living(({ files, provider }) =>
    Effect.gen(function*() {
      const send = yield* sendCommand("k", yield* carousel)
      files.upload = Effect.delay(files.upload, "7 seconds")
      const late = yield* Effect.forkDetach(carryOut(send))
      yield* advance("15 seconds")
      const ended = late.pollUnsafe()
      assert.isDefined(ended)
      const outcome = yield* ended
      assert.deepStrictEqual([endOf(outcome), errorOf(outcome)], ["refused", "provider_unavailable"])
      assert.strictEqual(provider.calls.length, 0)
      files.upload = Effect.succeed("provider-file")
      assert.strictEqual(endOf(yield* carryOut(send)), "sent")
      assert.strictEqual(provider.calls.length, 1)
    })
  )
)

it.effect(
  "the files of a send are uploaded beside each other, so that ten small ones end in time",
  living(({ files, provider }) =>
    Effect.gen(function*() {
      const send = yield* sendCommand("k", yield* carousel)
      files.upload = Effect.delay(files.upload, "3.5 seconds")
      const sending = yield* Effect.forkDetach(carryOut(send))
      yield* advance("15 seconds")
      assert.strictEqual(endOf(yield* sending.pollUnsafe() ?? assert.fail("the send still runs")), "sent")
      assert.strictEqual(provider.calls[0]!.refers.mediaIds.size, 10)
    })
  )
)

it.effect(
  "the provider's ids of a send's files are forgotten only if the provider no longer has a file",
  living(({ files, provider }) =>
    Effect.gen(function*() {
      const message = yield* carousel
      const send = yield* sendCommand("k", message)
      const error = new ServerError({ reason: "provider_error", message: "no such file" })
      provider.answer = () => Effect.succeed({ _tag: "NotSent", error })
      assert.strictEqual(endOf(yield* carryOut(send)), "not_sent")
      assert.deepStrictEqual(files.forgotten, [])
      provider.answer = () => Effect.succeed({ _tag: "NotSent", error, lacksFiles: true })
      assert.strictEqual(endOf(yield* carryOut(send)), "not_sent")
      assert.deepStrictEqual(files.forgotten, MessageFiles.of(message).map(({ id }) => `${id} provider-file`))
    })
  )
)

it.effect(
  "a send is refused if the service window ends while its files are uploaded",
  living(({ files, provider }) =>
    Effect.gen(function*() {
      const send = yield* sendCommand("k", yield* carousel)
      yield* advance(day - 2 * second)
      files.upload = Effect.delay(files.upload, "1 second")
      const sending = yield* Effect.forkDetach(carryOut(send))
      yield* advance("15 seconds")
      const outcome = yield* sending.pollUnsafe() ?? assert.fail("the send still runs")
      assert.deepStrictEqual([endOf(outcome), errorOf(outcome)], ["refused", "outside_service_window"])
      assert.strictEqual(provider.calls.length, 0)
    })
  )
)

it.effect(
  "the files of a message that is queued are kept until it is tried no more",
  living(({ files }) =>
    Effect.gen(function*() {
      const send = yield* sendCommand("k", yield* carousel)
      const sendAt = start + 45 * day
      const queue = (later: NonNullable<SendCommand<null>["later"]>, name: string) =>
        carryOut({ ...send, keyed: { ...send.keyed, key: key(name) }, later })
      assert.strictEqual((yield* queue({ sendAt, isInBatch: false }, "a"))._tag, "Queued")
      assert.deepStrictEqual(files.kept, Array.from({ length: 10 }, () => sendAt + day))
      files.kept = []
      assert.strictEqual((yield* queue({ sendAt, sendUntil: sendAt + 1, isInBatch: false }, "b"))._tag, "Queued")
      assert.deepStrictEqual(files.kept, Array.from({ length: 10 }, () => sendAt + 1))
      files.kept = []
      assert.strictEqual((yield* queue({ sendAt: start + 91 * day, isInBatch: false }, "c"))._tag, "Refused")
      assert.deepStrictEqual(files.kept, [])
    })
  )
)
