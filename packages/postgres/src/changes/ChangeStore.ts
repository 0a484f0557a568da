/**
 * `ChangeStore` in PostgreSQL: change notices as notifications. Writes no table.
 */
import { Change, ChangeStore } from "@wac/core"
import { Effect, Layer, Queue } from "effect"
import { list } from "../Columns.ts"
import { Database } from "../Database.ts"
import { statement } from "../Statement.ts"

/** One notification for each change; the publisher has removed duplicates. */
const channel = "wac:wac_changes"

const publish = statement({ payloads: list<string>("text") }, ({ payloads }) => `
  select pg_notify('${channel}', c.payload) from unnest(${payloads}) c (payload)`)

const payloadOf = ({ topic, workspaceId }: Change.Change): string => `${workspaceId} ${topic}`

const topics: ReadonlySet<string> = new Set(Change.topics)

/** Ignores topics of a later version. */
const changeOf = (payload: string): Change.Change | null => {
  const [workspaceId, topic] = payload.split(" ")
  return topic !== undefined && topics.has(topic) ? { workspaceId, topic } as Change.Change : null
}

export const layer = Layer.effect(
  ChangeStore.ChangeStore,
  Effect.map(Database, ({ listen, query }) => {
    /** The listeners of this process. Without notifications, as in an embedded database, there are no others. */
    const here = new Set<(change: Change.Change) => void>()
    return ChangeStore.ChangeStore.of({
      publish: (changes) =>
        Effect.andThen(
          Effect.sync(() => {
            for (const change of changes) for (const tell of here) tell(change)
          }),
          Effect.asVoid(query("ChangeStore.publish", publish({ payloads: changes.map(payloadOf) })))
        ),
      changes: Effect.gen(function*() {
        const queue = yield* Queue.sliding<Change.Change | null>(ChangeStore.bufferSize)
        const tell = (change: Change.Change) => void Queue.offerUnsafe(queue, change)
        yield* Effect.acquireRelease(
          Effect.sync(() => here.add(tell)),
          () => Effect.sync(() => here.delete(tell))
        )
        const payloads = yield* listen(channel)
        yield* Effect.forkScoped(
          Effect.forever(Effect.map(Queue.take(payloads), (payload) => Queue.offerUnsafe(queue, changeOf(payload))))
        )
        return Queue.take(queue)
      })
    })
  })
)
