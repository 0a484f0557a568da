/**
 * Batches of the host beside other workspaces' sends (docs/decisions/0050-the-queue.md), over the memory storage, which
 * accepts nothing until the test says so.
 */
import { MessageStore } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Context, Effect, Latch, Layer } from "effect"
import { assert, describe, it } from "vitest"
import { Adapter } from "../../src/index.ts"
import { failure, hello, start, until } from "../instance.ts"

/** A storage that holds every *accept* until it is opened, and notes whose it is. */
const held = () => {
  const latch = Latch.makeUnsafe(false)
  const asked: Array<string> = []
  const storage = Layer.effectContext(Effect.map(Layer.build(MemoryStorage.layer), (ports) => {
    const store = Context.get(ports, MessageStore.MessageStore)
    return Context.add(ports, MessageStore.MessageStore, {
      ...store,
      accept: (command) => {
        asked.push(command.request.workspaceId)
        return Effect.andThen(Latch.await(latch), store.accept(command))
      }
    })
  }))
  return { asked, open: () => Latch.openUnsafe(latch), storage: Adapter.storage(storage) }
}

/** So many messages, each to a customer of its own and with a key of its own. */
const batchOf = (size: number) =>
  Array.from({ length: size }, (_, index) => ({
    ...hello(`+1202555${String(index).padStart(4, "0")}`),
    idempotencyKey: `batch-${index}`
  }))

const second = {
  name: "Second shop",
  phoneNumber: "+15550100002",
  providerNumberId: "second",
  providerAccountId: "second"
}

describe("enqueueMany", () => {
  it("a workspace's large batch neither refuses nor delays another workspace's send", async () => {
    const { asked, open, storage } = held()
    const { wac } = await start({ storage })
    const other = wac.workspace((await wac.workspaces.create(second)).id)
    await other.templates.sync()
    const batch = wac.messages.enqueueMany(batchOf(500))
    await until(() => asked.length > 0)
    const sent = other.messages.send(hello(), { idempotencyKey: "a" })
    await until(() => asked.includes(other.id))
    open()
    assert.strictEqual((await sent).status, "sent")
    assert.deepStrictEqual((await batch).map(({ status }) => status), Array(500).fill("queued"))
    assert.lengthOf(asked, 501)
    assert.isBelow(asked.indexOf(other.id), 128)
  })

  it("the results are in the order of the messages, each refused one with its own key and the call's request id", async () => {
    const { open, storage } = held()
    open()
    const { wac } = await start({ storage })
    const [one, two, three] = batchOf(3)
    const sendAt = "2026-01-01T01:00:00.000Z"
    const results = await wac.messages.enqueueMany([
      { ...one!, to: "555" },
      { ...two!, sendAt },
      {
        to: three!.to,
        type: "template",
        template: { name: "nothing", language: "en" },
        idempotencyKey: three!.idempotencyKey
      },
      { ...three!, idempotencyKey: "late", sendUntil: "2026-01-01T00:30:00Z", sendAt },
      { ...three!, idempotencyKey: "last" }
    ])
    assert.deepStrictEqual(
      results.map((result) =>
        result.status === "refused"
          ? [result.error.idempotencyKey, result.error.param ?? result.error.reason]
          : [result.status, result.apiKeyId === undefined]
      ),
      [["batch-0", "to"], ["queued", false], ["batch-2", "template.name"], ["late", "sendUntil"], ["queued", false]]
    )
    const { data } = await wac.messages.list().page()
    assert.deepStrictEqual(
      results.flatMap((result) => result.status === "refused" ? [] : [result.messageId]),
      ["+12025550001", "+12025550002"].map((to) => data.find((message) => message.to === to)!.messageId)
    )
    const requestIds = results.flatMap((result) => result.status === "refused" ? [result.error.requestId] : [])
    assert.match(`${requestIds[0]}`, /^req_/)
    assert.deepStrictEqual(requestIds, Array(3).fill(requestIds[0]))
    assert.deepInclude(await failure(wac.messages.enqueueMany([])), { code: "invalid_body", param: "messages" })
  })
})
