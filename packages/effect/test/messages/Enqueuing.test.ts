/**
 * Enqueuing in a transaction of the host, on a storage whose outbox needs no server.
 */
import { type Id, OutboxStore, PhoneNumberStore, SenderBlock, WorkspaceStore } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Effect, Layer } from "effect"
import { assert, describe, it } from "vitest"
import * as Adapter from "../../src/Adapter.ts"
import { recentNumbers } from "../../src/messages/Enqueuing.ts"
import type { Wac } from "../../src/promises.ts"
import { closing, failure, hello, start } from "../instance.ts"

const outbox = Layer.effect(
  OutboxStore.OutboxStore,
  Effect.map(OutboxStore.OutboxStore, (store) => ({ ...store, enqueueFunction: "enqueue" }))
)

/** Numbers that the provider blocks for the messages of `scope`. */
const blocking = (scope: SenderBlock.SenderBlockScope) =>
  Layer.effect(
    PhoneNumberStore.PhoneNumberStore,
    Effect.map(PhoneNumberStore.PhoneNumberStore, (store) => ({
      ...store,
      list: (workspaceId) =>
        Effect.map(store.list(workspaceId), (numbers) =>
          numbers.map((number) => ({
            ...number,
            block: { ...SenderBlock.of("restricted", 0, null), scope, until: null }
          })))
    }))
  )

const opened = () => start({ storage: Adapter.storage(Layer.provideMerge(outbox, MemoryStorage.layer)) })

type Rows = ReadonlyArray<{ readonly id: string }>

/** Enqueues a message by a statement that ends when the test lets it end. Waits until the statement has begun. */
const enqueue = async (wac: Wac, options: { readonly signal?: AbortSignal; readonly timeout?: number } = {}) => {
  const begun = Promise.withResolvers<void>()
  const statement = Promise.withResolvers<Rows>()
  const tx = () => {
    begun.resolve()
    return statement.promise
  }
  const enqueued = wac.messages.enqueue(hello(), { tx, ...options })
  await begun.promise
  return { enqueued, statement }
}

describe("enqueuing in a transaction", () => {
  it("a call whose statement does not end rejects at its timeout, and the instance can be closed", async () => {
    const { clock, wac } = await opened()
    const { enqueued } = await enqueue(wac, { timeout: 50 })
    const failed = failure(enqueued)
    await clock.advance(50)
    assert.deepInclude(await failed, { code: "no_response", reason: "timeout" })
    await wac.close()
  })

  it("a call is aborted by its signal while its statement runs", async () => {
    const { wac } = await opened()
    const controller = new AbortController()
    const { enqueued, statement } = await enqueue(wac, { signal: controller.signal })
    const reason = new Error("the customer left")
    controller.abort(reason)
    assert.strictEqual(await enqueued.catch((error: unknown) => error), reason)
    // what the host's library reports later is no unhandled rejection
    statement.reject(new Error("rolled back"))
  })

  it("close() waits for the statement", async () => {
    const { wac } = await opened()
    const { enqueued, statement } = await enqueue(wac)
    const done: Array<string> = []
    const all = [
      enqueued.then(({ messageId }) => done.push(messageId)),
      wac.close().then(() => done.push("closed"))
    ]
    // many more turns than close() takes if nothing runs
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    statement.resolve([{ id: "msg_1" }])
    await Promise.all(all)
    assert.deepStrictEqual(done, ["msg_1", "closed"])
  })

  it("a number that may only reply is not refused before the commit, since only the queue knows the window", async () => {
    for (const scope of ["all", "outside_window"] as const) {
      const storage = Layer.mergeAll(outbox, blocking(scope)).pipe(Layer.provideMerge(MemoryStorage.layer))
      const { wac } = await start({ storage: Adapter.storage(storage) })
      const tx = () => Promise.resolve([{ id: "msg_1" }])
      const enqueued = wac.messages.enqueue({ to: "+15551234567", type: "text", text: { body: "Hello" } }, { tx })
      if (scope === "all") assert.strictEqual((await failure(enqueued)).reason, "sender_not_available")
      else assert.strictEqual((await enqueued).messageId, "msg_1")
    }
  })

  it("messages of several transactions read the numbers once, and do not wait for them longer than a moment", async () => {
    const reading = Promise.withResolvers<void>()
    let reads = 0
    let isHeld = false
    const slow = Layer.effect(
      PhoneNumberStore.PhoneNumberStore,
      Effect.map(PhoneNumberStore.PhoneNumberStore, (store) => ({
        ...store,
        list: (workspaceId) =>
          Effect.suspend(() => {
            reads++
            // all connections of the pool are in the host's transactions
            return isHeld
              ? Effect.andThen(Effect.promise(() => reading.promise), store.list(workspaceId))
              : store.list(workspaceId)
          })
      }))
    )
    const storage = Layer.mergeAll(outbox, slow).pipe(Layer.provideMerge(MemoryStorage.layer))
    const { clock, wac } = await start({ storage: Adapter.storage(storage) })
    let statements = 0
    const tx = async () => {
      statements++
      return [{ id: "msg_1" }]
    }
    const unknown = { ...hello(), from: "+15550000000" }
    assert.strictEqual((await failure(wac.messages.enqueue(unknown, { tx }))).reason, "sender_not_available")
    assert.strictEqual(statements, 0)
    await clock.advance("1 minute")
    isHeld = true
    reads = 0
    const three = [hello(), hello(), unknown].map((message) => wac.messages.enqueue(message, { tx }))
    await clock.advance(250)
    assert.deepStrictEqual((await Promise.all(three)).map(({ messageId }) => messageId), ["msg_1", "msg_1", "msg_1"])
    assert.strictEqual(reads, 1)
    isHeld = false
    reading.resolve()
    assert.strictEqual((await failure(wac.messages.enqueue(unknown, { tx }))).reason, "sender_not_available")
    reads = 0
    for (let n = 0; n < 3; n++) await wac.messages.enqueue(hello(), { tx })
    assert.strictEqual(reads, 0)
  })

  it("a process's first message for a further workspace is enqueued within a moment even if the storage does not respond", async () => {
    const reading = Promise.withResolvers<void>()
    closing(async () => reading.resolve())
    let isHeld = false
    const held = <A, E>(read: Effect.Effect<A, E>) =>
      Effect.suspend(() => isHeld ? Effect.andThen(Effect.promise(() => reading.promise), read) : read)
    const slow = Layer.mergeAll(
      Layer.effect(
        PhoneNumberStore.PhoneNumberStore,
        Effect.map(PhoneNumberStore.PhoneNumberStore, (store) => ({
          ...store,
          list: (workspaceId) => held(store.list(workspaceId))
        }))
      ),
      Layer.effect(
        WorkspaceStore.WorkspaceStore,
        Effect.map(WorkspaceStore.WorkspaceStore, (store) => ({ ...store, get: (id) => held(store.get(id)) }))
      )
    )
    const storage = Layer.mergeAll(outbox, slow).pipe(Layer.provideMerge(MemoryStorage.layer))
    const { clock, wac } = await start({ storage: Adapter.storage(storage) })
    const { id } = await wac.workspaces.create({ name: "Second", phoneNumber: "+15550000002" })
    const tx = () => Promise.resolve([{ id: "msg_1" }])
    isHeld = true
    const three = [hello(), hello(), hello()].map((message) => wac.workspace(id).messages.enqueue(message, { tx }))
    await clock.advance(250)
    assert.deepStrictEqual((await Promise.all(three)).map(({ workspaceId }) => workspaceId), [id, id, id])
    // what is no id needs no storage to be refused
    assert.strictEqual((await failure(wac.workspace("none").messages.enqueue(hello(), { tx }))).code, "not_found")
  })

  it("a message for a workspace that does not exist is refused before the statement, if the storage responds", async () => {
    const { wac } = await opened()
    const tx = () => Promise.reject(new Error("the statement was run"))
    for (const id of ["ws_01ARZ3NDEKTSV4RRFFQ69G5FAV", "none"]) {
      assert.strictEqual((await failure(wac.workspace(id).messages.enqueue(hello(), { tx }))).code, "not_found")
    }
  })

  it("the error of the host's library is passed on as it is", async () => {
    const { wac } = await opened()
    const { enqueued, statement } = await enqueue(wac)
    const error = new Error("the connection was lost")
    statement.reject(error)
    assert.strictEqual(await enqueued.catch((error: unknown) => error), error)
  })

  it("a process keeps the numbers of only those workspaces whose numbers were read within the last second", () => {
    const idOf = (n: number) => `ws_${n}` as Id.WorkspaceId
    const known = recentNumbers()
    for (let n = 0; n < 1000; n++) known.note(idOf(n), [], n)
    assert.strictEqual(known.size(), 1000)
    known.note(idOf(0), [], 1000)
    assert.strictEqual(known.size(), 1000)
    assert.isUndefined(known.find(idOf(500), 1500))
    assert.deepStrictEqual(known.find(idOf(501), 1500), [])
    // read again meanwhile
    assert.deepStrictEqual(known.find(idOf(0), 1999), [])
    assert.strictEqual(known.size(), 1)
    assert.isUndefined(known.find(idOf(0), 2000))
    assert.strictEqual(known.size(), 0)
  })
})
