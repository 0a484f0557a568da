import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { StoreError } from "@wac/core"
import { Effect, Exit, Fiber, Layer, Queue } from "effect"
import { integer, row } from "../src/Columns.ts"
import { Database, type DirectOptions } from "../src/Database.ts"
import { integers } from "../src/Parameter.ts"
import { clients } from "./servers.ts"

const answer = row({ doubled: integer(), share: integer() })

/** Over commands `{n}`: zero divides by zero, others are doubled. */
const doubled: DirectOptions<{ readonly n: number }, { readonly doubled: number; readonly share: number }> = {
  write: (commands) => {
    const params = [integers(commands.map(({ n }) => n))]
    return [
      { text: "insert into seen select n from unnest($1::integer[]) n", params },
      {
        text:
          "select 2 * n as doubled, 100 / n as share from unnest($1::integer[]) with ordinality c (n, i) order by i",
        params
      }
    ]
  },
  read: ([, rows]) => (_, place) => answer.read(rows![place]!)
}

const failed = (operation: string, fault: "command" | "storage" = "command") =>
  Exit.fail(new StoreError.StoreError({ operation, fault }))

for (const { layer: client, name } of clients) {
  const database = Layer.provideMerge(Database.layer, client)

  layer(database, { excludeTestServices: true })(name, (it) => {
    it.effect("a statement returns its rows, or fails with the operation's name", () =>
      Effect.gen(function*() {
        const { query } = yield* Database
        const rows = yield* query("Test.add", { text: "select $1::integer + $2::integer as sum", params: [1, 2] })
        assert.deepStrictEqual(rows.map((row) => ({ ...row })), [{ sum: 3 }])
        assert.deepStrictEqual(
          yield* Effect.exit(query("Test.divide", { text: "select 1 / $1::integer", params: [0] })),
          failed("Test.divide")
        )
        assert.deepStrictEqual(
          yield* Effect.exit(query("Test.wrong", { text: "select from nowhere" })),
          failed("Test.wrong", "storage")
        )
      }))

    it.effect("each caller of a batch gets its own answer or failure", () =>
      Effect.gen(function*() {
        const client = yield* PgClient.PgClient
        const { direct } = yield* Database
        yield* client`create table seen (n integer)`
        const double = yield* direct("Test.double", doubled)
        const commands = Array.from({ length: 150 }, (_, i) => ({ n: i + 1 }))
        commands[20] = { n: 0 }
        const exits = yield* Effect.forEach(commands, (command) => Effect.exit(double(command)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          exits,
          commands.map(({ n }) =>
            n > 0 ? Exit.succeed({ doubled: 2 * n, share: Math.floor(100 / n) }) : failed("Test.double")
          )
        )
        const [row] = yield* client`select count(*)::integer as times, count(distinct n)::integer as commands from seen`
        assert.deepStrictEqual({ ...row }, { times: 149, commands: 149 })
      }))

    it.effect("each reader receives the notifications of its own channel", () =>
      Effect.gen(function*() {
        const { listen, query } = yield* Database
        const notify = (channel: string, payload: string) =>
          query("Test.notify", { text: "select pg_notify($1, $2)", params: [channel, payload] })
        const one = yield* listen("channel one")
        const again = yield* listen("channel one")
        const two = yield* listen("two")
        for (const reader of [one, again, two]) assert.strictEqual(yield* Queue.take(reader), "")
        yield* notify("channel one", "a")
        yield* notify("nobody", "b")
        yield* notify("two", "ü")
        // a reader that joins a channel may get two hints that something was missed
        const heard = (reader: Queue.Dequeue<string>) =>
          Effect.repeat(Queue.take(reader), { until: (hint) => hint !== "" })
        assert.strictEqual(yield* heard(one), "a")
        assert.strictEqual(yield* heard(again), "a")
        assert.strictEqual(yield* heard(two), "ü")
      }))

    it.effect("interrupting a caller leaves the database usable", () =>
      Effect.gen(function*() {
        const { query } = yield* Database
        const caller = yield* Effect.forkChild(query("Test.sleep", { text: "select pg_sleep(0.2)" }), {
          startImmediately: true
        })
        yield* Effect.yieldNow
        yield* Fiber.interrupt(caller)
        assert.strictEqual((yield* query("Test.after", { text: "select 1 as one" }))[0]!["one"], 1)
      }))
  })
}
