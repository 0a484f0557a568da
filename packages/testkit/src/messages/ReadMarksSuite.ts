/**
 * Conformance of a storage with the requirements of `ReadMarks`, which marks customers' messages as read.
 */
import { assert } from "@effect/vitest"
import { Capabilities, Errors, type Id, type Idempotency, MessageStore, Provider, ReadMarks } from "@wac/core"
import { Clock, Effect, Exit, Layer, Option } from "effect"
import { Digest } from "effect/crypto"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "./MessageFixture.ts"

const { day, world } = Fixture
const { customer, inbound, sent } = MessageFixture

/** Creates a workspace, and a service whose provider the test controls. */
const play = Effect.gen(function*() {
  const own = yield* world()
  const asked: Array<readonly [providerMessageId: string, isTyping: boolean]> = []
  let failure: Errors.ServerError | undefined
  const provider = Layer.succeed(
    Provider.Provider,
    Provider.Provider.of({
      name: own.number.provider,
      capabilities: Capabilities.all,
      send: () => Effect.die("nothing is sent"),
      firstNumber: Effect.die("nobody asks"),
      templates: () => Effect.die("nobody asks"),
      markRead: ({ isTyping, providerMessageId, sender }) =>
        Effect.suspend(() => {
          assert.strictEqual(sender.id, own.number.id)
          asked.push([providerMessageId, isTyping])
          return failure === undefined ? Effect.void : Effect.fail(failure)
        })
    })
  )
  const layer = ReadMarks.ReadMarks.layer.pipe(
    Layer.provide([provider, Digest.layerWebCrypto]),
    Layer.provide(Layer.succeedContext(yield* Effect.context<Fixture.Services>()))
  )
  const clock = Fixture.clockAt(yield* Clock.Clock, () => own.start)
  const mark = (
    id: string,
    key: string,
    isTyping = false,
    workspaceId: Id.WorkspaceId = own.workspace.id,
    boundTo: ReadMarks.ReadMark["boundTo"] = null
  ) =>
    ReadMarks.ReadMarks.use((marks) =>
      marks.mark({ workspaceId, boundTo, key: key as Idempotency.IdempotencyKey, id, isTyping })
    ).pipe(Effect.exit, Effect.provide(layer), Effect.provideService(Clock.Clock, clock))
  return { own, asked, mark, fail: (error: Errors.ServerError | undefined) => void (failure = error) }
})

const codeOf = (exit: Exit.Exit<Id.MessageId, Errors.DomainError>) =>
  Option.getOrUndefined(Exit.findErrorOption(exit))?.code

/** Registers the tests. */
export const tests = (it: Fixture.It): void => {
  it.effect("a customer's message is marked once per key, and a key is bound to one body", () =>
    Effect.gen(function*() {
      const { asked, mark, own } = yield* play
      const { command: { message: { providerMessageId }, messageId } } = yield* inbound(own, { customer: customer(1) })
      for (let times = 0; times < 2; times++) {
        assert.deepStrictEqual(yield* mark(messageId, "one"), Exit.succeed(messageId))
        assert.deepStrictEqual(asked, [[providerMessageId, false]])
      }
      assert.strictEqual(codeOf(yield* mark(messageId, "one", true)), "idempotency_conflict")
      assert.lengthOf(asked, 1)
      assert.deepStrictEqual(yield* mark(messageId, "two", true), Exit.succeed(messageId))
      assert.deepStrictEqual(asked[1], [providerMessageId, true])
    }))

  it.effect("a key that is bound to other numbers marks nothing, not even again what another key has marked", () =>
    Effect.gen(function*() {
      const { asked, mark, own } = yield* play
      const { command: { messageId } } = yield* inbound(own)
      const marked = (key: string, boundTo: ReadMarks.ReadMark["boundTo"]) =>
        mark(messageId, key, false, own.workspace.id, boundTo)
      const others = [yield* Fixture.id("pn")]
      assert.strictEqual(codeOf(yield* marked("one", others)), "forbidden")
      assert.lengthOf(asked, 0)
      assert.deepStrictEqual(yield* marked("one", [...others, own.number.id]), Exit.succeed(messageId))
      assert.strictEqual(codeOf(yield* marked("one", others)), "forbidden")
      assert.lengthOf(asked, 1)
    }))

  it.effect("a mark that the provider refused is not stored", () =>
    Effect.gen(function*() {
      const { asked, fail, mark, own } = yield* play
      const { command: { messageId } } = yield* inbound(own)
      fail(new Errors.ServerError({ reason: "provider_unavailable", message: "away" }))
      assert.strictEqual(codeOf(yield* mark(messageId, "one")), "server_error")
      fail(undefined)
      assert.deepStrictEqual(yield* mark(messageId, "one", true), Exit.succeed(messageId))
      assert.lengthOf(asked, 2)
    }))

  it.effect("only customers' messages of the workspace can be marked", () =>
    Effect.gen(function*() {
      const { asked, mark, own } = yield* play
      const other = yield* world()
      const { command: { messageId } } = yield* inbound(own)
      const ours = yield* sent(own)
      const { command: echo } = yield* inbound(own, { isEcho: true })
      assert.strictEqual(codeOf(yield* mark(messageId, "one", false, other.workspace.id)), "not_found")
      for (const id of [ours.messageId, echo.messageId, yield* Fixture.id("msg"), "wamid.1", ""]) {
        assert.strictEqual(codeOf(yield* mark(id, "one")), "not_found", id)
      }
      assert.isEmpty(asked)
    }))

  it.effect("a message that is more than 31 days old can be marked", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const { asked, mark, own } = yield* play
      const past = own.start - 20 * day
      const { message: { providerMessageId }, messageId } = (yield* inbound(own, { at: past })).command
      yield* store.sweep(past + 32 * day)
      yield* inbound(own, { at: past + 32 * day })
      assert.deepStrictEqual(yield* mark(messageId, "one"), Exit.succeed(messageId))
      assert.deepStrictEqual(asked, [[providerMessageId, false]])
    }))

  it.effect("a key is bound until it expires, and only for its workspace and message", () =>
    Effect.gen(function*() {
      const store = yield* MessageStore.MessageStore
      const own = yield* world()
      const key = {
        workspaceId: own.workspace.id,
        messageId: yield* Fixture.id("msg"),
        key: (yield* Fixture.word) as Idempotency.IdempotencyKey
      }
      const keep = (fingerprint: string, now: number) =>
        store.keepReadMark({ ...key, fingerprint, now, expiresAt: now + day })
      assert.deepStrictEqual(yield* store.recallReadMark(key, own.start), Option.none())
      assert.strictEqual(yield* keep("a", own.start), "a")
      assert.strictEqual(yield* keep("b", own.start + 1), "a")
      assert.deepStrictEqual(yield* store.recallReadMark(key, own.start + day - 1), Option.some("a"))
      assert.deepStrictEqual(yield* store.recallReadMark(key, own.start + day), Option.none())
      for (
        const another of [
          { ...key, messageId: yield* Fixture.id("msg") },
          { ...key, workspaceId: (yield* world()).workspace.id },
          { ...key, key: "another" as Idempotency.IdempotencyKey }
        ]
      ) assert.deepStrictEqual(yield* store.recallReadMark(another, own.start), Option.none())
      assert.strictEqual(yield* keep("b", own.start + day), "b")
    }))
}
