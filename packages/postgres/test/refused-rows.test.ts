/**
 * Batches in which PostgreSQL refuses a row because of its content: only that row's caller fails.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { EventStore, type Message, MessageStore, StoreError } from "@wac/core"
import { Fixture, MessageFixture } from "@wac/testkit"
import { Effect, Exit, Layer } from "effect"
import { randomBytes } from "node:crypto"
import * as PostgresStorage from "../src/PostgresStorage.ts"
import * as Storage from "../src/Storage.ts"
import { databases } from "./servers.ts"

const { putWebhook, world } = Fixture

/** Fewer than a batch holds. */
const callers = 60
/** The callers with bad content: some adjacent, some alone. */
const bad = [0, 1, 17, 18, 40]

/** Longer than an index allows, and incompressible. */
const long = randomBytes(6000).toString("base64url")

const failed = (operation: string) => Exit.fail(new StoreError.StoreError({ operation, fault: "command" }))

/** How many transactions last wrote these messages. */
const transactions = (ids: ReadonlyArray<string>) =>
  Effect.map(
    PgClient.PgClient.use((client) =>
      client<{ count: number }>`select count(distinct xmin::text)::integer as count from wac.messages where id in ${
        client.in(ids)
      }`
    ),
    ([row]) => row!.count
  )

for (const { layer: database, name } of databases) {
  const storage = Layer.mergeAll(PostgresStorage.layer, Storage.layer(name, false)).pipe(Layer.provideMerge(database))

  layer(Layer.merge(storage, Fixture.layer), { excludeTestServices: true })(name, (it) => {
    it.effect("a refused row fails only its own caller, in accept, settle and applyReport", () =>
      Effect.gen(function*() {
        const store = yield* MessageStore.MessageStore
        const own = yield* world()
        yield* putWebhook(own)

        const usual = yield* Effect.replicateEffect(MessageFixture.sendCommand(own), callers)
        const says = (clientReference: string): Pick<MessageStore.AcceptSend, "message"> => ({
          message: MessageFixture.template({ clientReference })
        })
        const { request } = usual[0]!
        const odd: ReadonlyArray<Partial<MessageStore.AcceptSend>> = [
          says("\u0000"),
          says("\ud800"),
          { request: { ...request, key: long as typeof request.key } },
          { leaseUntil: 2 ** 64 },
          { leaseUntil: NaN }
        ]
        const sends = usual.map((command, i) => ({ ...command, ...odd[bad.indexOf(i)] }))
        const accepted = yield* Effect.forEach(sends, (command) => Effect.exit(store.accept(command)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          accepted.map(Exit.map(({ _tag }) => _tag)),
          sends.map((_, i) => bad.includes(i) ? failed("MessageStore.accept") : Exit.succeed("Claimed" as const))
        )
        const kept = sends.filter((_, i) => !bad.includes(i))
        assert.isBelow(yield* transactions(kept.map(({ messageId }) => messageId)), callers / 4)
        // each other send was counted once, and the refused ones were not
        const { accepted: last } = yield* MessageFixture.accept(own)
        assert.strictEqual(last._tag === "Claimed" ? last.readings[0]!.remaining : null, 2_000_000 - kept.length - 1)

        const ends = yield* Effect.replicateEffect(MessageFixture.acceptedOutcome, kept.length)
        const oddNames = ["\u0000", "\ud800", long]
        const isKept = (_: unknown, i: number) => !bad.slice(0, oddNames.length).includes(i)
        const settled = yield* Effect.forEach(
          kept,
          (command, i) => {
            const name = oddNames[bad.indexOf(i)]
            const end = name === undefined ? ends[i]! : { ...ends[i]!, providerMessageId: name }
            return Effect.exit(MessageFixture.settle(command, end))
          },
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          settled,
          kept.map((_, i) => isKept(_, i) ? Exit.succeed(true) : failed("MessageStore.settle"))
        )
        const sent = kept.filter(isKept)
        assert.isBelow(yield* transactions(sent.map(({ messageId }) => messageId)), callers / 4)
        const statuses = yield* Effect.forEach(kept, ({ messageId }) => store.get(own.workspace.id, messageId))
        assert.deepStrictEqual(
          statuses.map((found) => found._tag === "Some" ? found.value.status : null),
          kept.map((_, i): Message.MessageStatus => isKept(_, i) ? "sent" : "sending")
        )

        const reports = yield* Effect.forEach(sent, ({ messageId }, i) =>
          Effect.exit(MessageFixture.report({
            status: "delivered",
            at: i === 7 ? 2 ** 63 : own.start,
            reference: messageId,
            providerMessageId: i === 8 ? "\u0000" : null
          })), { concurrency: "unbounded" })
        assert.deepStrictEqual(
          reports,
          sent.map((_, i) => [7, 8].includes(i) ? failed("MessageStore.applyReport") : Exit.succeed(true))
        )
        const { items } = yield* EventStore.EventStore.use((events) =>
          events.list(own.workspace.id, {}, { limit: 1000, after: null })
        )
        assert.strictEqual(items.length, sent.length + sent.length - 2)
      }))
  })
}
