import { assert, it } from "@effect/vitest"
import { Duration, Effect, Exit, Fiber, Layer, Result, Scope } from "effect"
import { Forbidden, type InvalidBody, ServerError } from "../../src/Errors.ts"
import type { MediaId, MessageId, WorkspaceId } from "../../src/Id.ts"
import { SendableMedia } from "../../src/media/SendableMedia.ts"
import * as Message from "../../src/messages/Message.ts"
import type { OutboundMessage } from "../../src/messages/Message.ts"
import { type Accepted, MessageStore } from "../../src/messages/MessageStore.ts"
import type { OutboxEntry } from "../../src/outbox/OutboxEntry.ts"
import * as OutboxRunner from "../../src/outbox/OutboxRunner.ts"
import type { EndEntry } from "../../src/outbox/OutboxStep.ts"
import { OutboxStore } from "../../src/outbox/OutboxStore.ts"
import { StoreError } from "../../src/StoreError.ts"
import { advance, at } from "../clock.ts"
import { logged } from "../logged.ts"
import { start } from "../samples.ts"
import { foundation, key, newId, plain, stubProvider, world } from "../world.ts"

/** A message on which the reader throws, as none should. */
const broken = plain("+12025550199")

const setUp = () => {
  const waiting: Array<OutboxEntry> = []
  const accepted: Array<MessageId | undefined> = []
  const ended: Array<EndEntry> = []
  const interfere: {
    refusal?: Pick<Extract<Accepted, { readonly _tag: "Refused" }>, "error" | "blockedUntil">
    /** The end of this entry cannot be recorded. */
    unended?: MessageId
  } = {}
  const kept: Array<MediaId> = []
  const outbox = Layer.mock(OutboxStore, {
    enqueueFunction: "enqueue",
    claim: ({ now }) => Effect.sync(() => ({ at: now, entries: waiting.splice(0) })),
    end: (command) =>
      Effect.suspend(() => {
        if (command.entry.messageId === interfere.unended) {
          return Effect.fail(new StoreError({ operation: "OutboxStore.end" }))
        }
        const end = Effect.sync(() => {
          ended.push(command)
          return true
        })
        return interfere.unended === undefined ? end : Effect.delay(end, "1 millis")
      }),
    awaitHint: Effect.never
  })
  const store = Layer.effect(
    MessageStore,
    Effect.map(MessageStore, (real) =>
      MessageStore.of({
        ...real,
        accept: (command) =>
          Effect.suspend(() => {
            accepted.push(command.messageId)
            return interfere.refusal === undefined
              ? real.accept(command)
              : Effect.succeed<Accepted>({ _tag: "Refused", readings: [], ...interfere.refusal })
          })
      }))
  )
  const library = Layer.mock(SendableMedia, {
    // the storage is asked about the file
    keepUntil: (_, ids) =>
      Effect.map(Effect.sleep("20 millis"), () => {
        kept.push(...ids)
        return new Map(ids.map((id) => [id, null]))
      })
  })
  const reader = Layer.succeed(OutboxRunner.OutboxReader, {
    read: (message): Result.Result<OutboundMessage, InvalidBody> => {
      if (message === broken) throw new TypeError("no reader should throw")
      return Result.succeed(message as OutboundMessage)
    }
  })
  const layer = Layer.mergeAll(outbox, store, library, reader, stubProvider().layer).pipe(
    Layer.provideMerge(foundation)
  )
  /** Commits an entry of the workspace. */
  const enqueue = Effect.fnUntraced(function*(
    workspaceId: WorkspaceId,
    message: OutboundMessage,
    sendUntil: number | null = null
  ) {
    const messageId = yield* newId("msg")
    waiting.push({
      messageId,
      workspaceId,
      key: key(messageId),
      message,
      sendAt: null,
      sendUntil,
      enqueuedAt: start,
      tries: 0
    })
    return messageId
  })
  return { accepted, ended, enqueue, interfere, kept, layer }
}

type Given = ReturnType<typeof setUp>

const running = <E>(test: (given: Given) => Effect.Effect<void, E, Layer.Success<Given["layer"]>>) => () =>
  Effect.suspend(() => {
    const given = setUp()
    return test(given).pipe(Effect.provide(given.layer), at(start))
  })

const startRunner = Layer.build(Layer.fresh(OutboxRunner.layer))

it.effect(
  "messages are queued in the order in which they were enqueued, even if a file of one must be kept first",
  running(({ accepted, ended, enqueue }) =>
    Effect.gen(function*() {
      const { workspace } = yield* world()
      const media = "med_01ARZ3NDEKTSV4RRFFQ69G5FAV" as MediaId
      const ids = [
        yield* enqueue(workspace.id, plain("+12025550001")),
        yield* enqueue(workspace.id, { type: "image", to: "+12025550002", image: { media } }),
        yield* enqueue(workspace.id, plain("+12025550003")),
        yield* enqueue(workspace.id, plain("+12025550004"))
      ]
      yield* startRunner
      yield* advance("1 second")
      assert.deepStrictEqual(accepted, ids)
      assert.deepStrictEqual(ended.map(({ end }) => end._tag), ids.map(() => "Moved"))
    }).pipe(Effect.scoped)
  )
)

it.effect(
  "a message may quote one of the same transaction, which is queued with it, and its file is kept",
  running(({ ended, enqueue, kept }) =>
    Effect.gen(function*() {
      const { workspace } = yield* world()
      const to = "+12025550001"
      const quoted = yield* enqueue(workspace.id, plain(to))
      const media = "med_01ARZ3NDEKTSV4RRFFQ69G5FAV" as MediaId
      yield* enqueue(workspace.id, { type: "image", to, image: { media }, context: { message_id: quoted } })
      yield* enqueue(workspace.id, { type: "reaction", to, reaction: { message_id: quoted, emoji: "👍" } })
      yield* startRunner
      yield* advance("1 second")
      assert.deepStrictEqual(ended.map(({ end }) => end._tag), ["Moved", "Moved", "Moved"])
      assert.deepStrictEqual(kept, [media])
    }).pipe(Effect.scoped)
  )
)

it.effect(
  "a process that stops while it queues entries records their ends",
  running(({ ended, enqueue }) =>
    Effect.gen(function*() {
      const { workspace } = yield* world()
      // its file is kept first, which takes a moment
      const media = "med_01ARZ3NDEKTSV4RRFFQ69G5FAV" as MediaId
      yield* enqueue(workspace.id, { type: "image", to: "+12025550002", image: { media } })
      const scope = yield* Scope.make()
      yield* Scope.provide(startRunner, scope)
      yield* advance("10 millis")
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* advance("1 second")
      yield* Fiber.join(stopping)
      assert.deepStrictEqual(ended.map(({ end }) => end._tag), ["Moved"])
    })
  )
)

it.effect(
  "entries that cannot be queued yet are logged with one line a minute for each cause",
  running(({ ended, enqueue, interfere }) =>
    logged((lines) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        yield* startRunner
        const tried = (refusal: ServerError | Forbidden) =>
          Effect.gen(function*() {
            interfere.refusal = { error: refusal }
            const before = lines.length
            for (let n = 0; n < 3; n++) yield* enqueue(workspace.id, plain())
            yield* advance("1 second")
            return lines.slice(before).map(({ level, message }) => [level, message.replace(/msg_\w+/, "…")])
          })
        const line = (
          cause: string
        ) => ["Warn", `the enqueued message … cannot be queued yet and is tried again: ${cause}`]
        const blocked = new ServerError({ reason: "provider_error", message: "of +12025550123" })
        assert.deepStrictEqual(yield* tried(blocked), [line("provider_error")])
        assert.deepStrictEqual(yield* tried(blocked), [])
        const full = new Forbidden({ reason: "quota_exhausted", message: "full" })
        assert.deepStrictEqual(yield* tried(full), [line("quota_exhausted")])
        assert.deepStrictEqual(ended.map(({ end }) => end._tag), Array.from({ length: 9 }, () => "Again"))
      }).pipe(Effect.scoped)
    )
  )
)

it.effect(
  "an entry whose number is blocked is tried again until the block ends, unless its time is over before",
  running(({ ended, enqueue, interfere }) =>
    Effect.gen(function*() {
      const { workspace } = yield* world()
      const error = new Forbidden({ reason: "sender_not_available", message: "blocked for its quality" })
      yield* startRunner
      const endOf = (block: { readonly blockedUntil?: number }) =>
        Effect.gen(function*() {
          interfere.refusal = { error, ...block }
          yield* enqueue(workspace.id, plain())
          yield* advance("1 second")
          const { end } = ended.at(-1)!
          return end._tag === "Again" ? [Duration.toMinutes(end.after), end.until] : end._tag
        })
      assert.deepStrictEqual(yield* endOf({ blockedUntil: start + 3_600_000 }), [15, start + 3_600_000])
      assert.strictEqual(yield* endOf({ blockedUntil: start + 86_400_000 }), "Failed")
      assert.strictEqual(yield* endOf({}), "Failed")
    }).pipe(Effect.scoped)
  )
)

it.effect(
  "an entry that cannot be moved for a reason that no rule knows waits for another try, and delays no other",
  running(({ ended, enqueue }) =>
    logged((lines) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        const first = yield* enqueue(workspace.id, plain())
        const one = yield* enqueue(workspace.id, broken)
        const last = yield* enqueue(workspace.id, plain())
        yield* startRunner
        yield* advance("1 second")
        const ends = new Map(ended.map(({ end, entry }) => [entry.messageId, end._tag]))
        assert.deepStrictEqual([first, one, last].map((id) => ends.get(id)), ["Moved", "Again", "Moved"])
        assert.isTrue(lines.some(({ message }) => message.includes(one)))
      }).pipe(Effect.scoped)
    )
  )
)

it.effect(
  "an entry that no code can read fails with not_sent once its time is over",
  running(({ ended, enqueue }) =>
    logged((lines) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        yield* startRunner
        const endAt = (sendUntil: number) =>
          Effect.gen(function*() {
            yield* enqueue(workspace.id, broken, sendUntil)
            yield* advance("1 second")
            return ended.at(-1)!.end
          })
        assert.strictEqual((yield* endAt(start + 60_000))._tag, "Again")
        yield* advance("1 minute")
        // also one whose time was over before it was enqueued
        for (const until of [start + 60_000, start - 1]) {
          const end = yield* endAt(until)
          if (end._tag !== "Failed") return assert.fail(`it ended as ${end._tag}`)
          assert.deepStrictEqual(end.error, Message.notSentInTime)
          assert.strictEqual(end.content.to, broken.to)
        }
        assert.strictEqual(ended.length, 3)
        assert.isTrue(lines.some(({ message }) => message.endsWith("is refused: not_sent")))
      }).pipe(Effect.scoped)
    )
  )
)

it.effect(
  "an entry whose end cannot be recorded keeps no other from its end",
  running(({ ended, enqueue, interfere }) =>
    logged((lines) =>
      Effect.gen(function*() {
        const { workspace } = yield* world()
        interfere.unended = yield* enqueue(workspace.id, plain())
        const other = yield* enqueue(workspace.id, plain())
        yield* startRunner
        yield* advance("1 second")
        assert.deepStrictEqual(ended.map(({ end, entry }) => [entry.messageId, end._tag]), [[other, "Moved"]])
        assert.isTrue(lines.some(({ message }) => message.startsWith("work on the outbox failed")))
      }).pipe(Effect.scoped)
    )
  )
)
