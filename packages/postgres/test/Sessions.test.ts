import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { type Step, StoreError } from "@wac/core"
import * as PostgresProxy from "@wac/testbed/PostgresProxy"
import { Effect, Exit, Fiber, Layer, Redacted } from "effect"
import { vi } from "vitest"
import { integer, row } from "../src/Columns.ts"
import { Database, type DirectOptions, type StepOptions } from "../src/Database.ts"
import * as Migrations from "../src/Migrations.ts"
import { integers } from "../src/Parameter.ts"
import * as PostgresClient from "../src/PostgresClient.ts"
import { StatementTimeout } from "../src/StatementTimeout.ts"
import { clients, emptyDatabase } from "./servers.ts"

const counted = row({ n: integer(), times: integer() })

/** How often each number was counted. */
interface Counts extends Step.Known {
  readonly counts: ReadonlyMap<number, number>
}

/** A step that counts numbers and answers with the counts so far. The table refuses 0. */
const counting = (
  decided: () => void = () => {}
): StepOptions<number, Counts, number, ReadonlyMap<number, number>> => ({
  load: (numbers) => [
    { text: "select n, times from counted where n = any ($1) order by n for update", params: [integers(numbers)] }
  ],
  read: ([rows], now) => ({ now, counts: new Map(rows!.map(counted.read).map(({ n, times }) => [n, times])) }),
  decide: ({ counts }, numbers) => {
    decided()
    const writes = new Map<number, number>()
    const answers = numbers.map((n) => {
      const times = (writes.get(n) ?? counts.get(n) ?? 0) + 1
      if (n >= 0) writes.set(n, times)
      return times
    })
    return { answers, writes }
  },
  write: (writes) =>
    writes.size === 0 ? [] : [{
      text: `insert into counted as c (n, times) select * from unnest($1::integer[], $2::integer[])
        on conflict (n) do update set times = excluded.times`,
      params: [integers([...writes.keys()]), integers([...writes.values()])]
    }]
})

/** Writes numbers, and answers with what is then read of each. */
const adding: DirectOptions<number, number> = {
  write: (numbers) => [
    { text: "insert into counted (n, times) select n, 7 from unnest($1::integer[]) n", params: [integers(numbers)] },
    { text: "select n, times from counted where n = any ($1)", params: [integers(numbers)] }
  ],
  read: ([, rows]) => {
    const times = new Map(rows!.map(counted.read).map(({ n, times }) => [n, times]))
    return (n) => times.get(n)!
  }
}

/** Carries out these statements in one round trip, and answers with their rows. */
const asking = (...texts: ReadonlyArray<string>): DirectOptions<null, ReadonlyArray<unknown>> => ({
  write: () => texts.map((text) => ({ text, params: [] })),
  read: (rows) => () => rows.map(([row]) => row)
})

const migrated = Layer.effectDiscard(Effect.gen(function*() {
  yield* Migrations.run()
  const client = yield* PgClient.PgClient
  yield* client`create table if not exists counted (n integer primary key check (n > 0), times integer not null)`
}))

const read = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query("Test.read", { text: "select n, times from counted order by n" }),
    (rows) => rows.map((row) => [row["n"], row["times"]])
  ))

const failed = Exit.fail(new StoreError.StoreError({ operation: "Test.count" }))

/** Blocks the thread, like a suspended process. */
const stall = (milliseconds: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)

/** As {@link counting}, in a process that is suspended so many milliseconds at each of the first decisions. */
const suspended = (milliseconds: number, times: number) => {
  let left = times
  return counting(() => {
    if (left-- > 0) stall(milliseconds)
  })
}

const suspendedOnce = (milliseconds: number) => suspended(milliseconds, 1)

/** Runs something once statements of now are sent, and before a response can be read. */
const afterMicrotasks = (run: () => void, count = 100): void =>
  queueMicrotask(() => count === 0 ? run() : afterMicrotasks(run, count - 1))

for (const { layer: client, name } of clients) {
  layer(Layer.mergeAll(Database.layer, migrated).pipe(Layer.provideMerge(client)), { excludeTestServices: true })(
    `a step on ${name}`,
    (it) => {
      it.effect("a step carries out many callers' commands, each as if the previous ones were written", () =>
        Effect.gen(function*() {
          const { stepped } = yield* Database
          let steps = 0
          const count = yield* stepped("Test.count", counting(() => void steps++))
          const answers = yield* Effect.forEach(
            Array.from({ length: 100 }, (_, i) => i % 10 + 1),
            count,
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(answers, Array.from({ length: 100 }, (_, i) => Math.floor(i / 10) + 1))
          assert.isBelow(steps, 5)
          assert.deepStrictEqual(yield* read, Array.from({ length: 10 }, (_, i) => [i + 1, 10]))
        }))

      it.effect("a step fails the command whose row PostgreSQL refuses, and no other", () =>
        Effect.gen(function*() {
          const { stepped } = yield* Database
          const count = yield* stepped("Test.count", counting())
          const exits = yield* Effect.forEach([21, 0, 22, 23], (n) => Effect.exit(count(n)), {
            concurrency: "unbounded"
          })
          assert.deepStrictEqual(exits, [Exit.succeed(1), failed, Exit.succeed(1), Exit.succeed(1)])
          assert.deepStrictEqual(yield* Effect.map(read, (rows) => rows.slice(-3)), [[21, 1], [22, 1], [23, 1]])
        }))

      it.effect("an operation in one round trip fails only the commands whose rows are refused", () =>
        Effect.gen(function*() {
          const { direct } = yield* Database
          const count = yield* direct("Test.count", adding)
          const exits = yield* Effect.forEach([31, 0, 32, 33], (n) => Effect.exit(count(n)), {
            concurrency: "unbounded"
          })
          // the second statement sees what the first has written
          assert.deepStrictEqual(exits, [Exit.succeed(7), failed, Exit.succeed(7), Exit.succeed(7)])
          const written = yield* Effect.map(read, (rows) => rows.filter(([n]) => (n as number) > 30))
          assert.deepStrictEqual(written, [[31, 7], [32, 7], [33, 7]])
          yield* PgClient.PgClient.use((client) => client`delete from counted where n > 30`)
        }))

      it.effect("several statements of one round trip are one transaction", () =>
        Effect.gen(function*() {
          const { direct } = yield* Database
          const id = "select pg_current_xact_id()::text as id"
          const ids = yield* direct("Test.ids", asking(id, id))
          const [first, second] = yield* ids(null)
          assert.isDefined(first)
          assert.deepStrictEqual(first, second)
        }))

      it.effect("a step writes nothing if nothing is decided", () =>
        Effect.gen(function*() {
          const { stepped } = yield* Database
          const count = yield* stepped("Test.count", counting())
          const before = yield* read
          assert.strictEqual(yield* count(-1), 1)
          assert.deepStrictEqual(yield* read, before)
        }))

      it.effect("a step leaves the connection usable if the decision throws", () =>
        Effect.gen(function*() {
          const { stepped } = yield* Database
          let isBroken = true
          const count = yield* stepped(
            "Test.count",
            counting(() => {
              if (isBroken) throw new Error("a mistake in a rule")
            })
          )
          const exits = yield* Effect.forEach(Array.from({ length: 12 }, () => 31), (n) => Effect.exit(count(n)))
          assert.isTrue(exits.every(Exit.isFailure))
          isBroken = false
          assert.strictEqual(yield* count(31), 1)
        }))

      it.effect("a step keeps other statements out of its transaction", () =>
        Effect.gen(function*() {
          const { query, stepped } = yield* Database
          const count = yield* stepped("Test.count", counting())
          const outside = query("Test.outside", { text: "select pg_current_xact_id_if_assigned() is null as outside" })
          const seen = yield* Effect.forEach(
            Array.from({ length: 60 }, (_, i) => i),
            (i) => i % 3 === 0 ? Effect.as(count(41), true) : Effect.map(outside, ([row]) => row!["outside"]),
            { concurrency: 6 }
          )
          assert.isTrue(seen.every((outside) => outside === true))
        }))
    }
  )
}

/** A database on the server behind a proxy, with a deadline in milliseconds. */
const proxied = Effect.fnUntraced(function*(deadline = 5000) {
  const url = yield* emptyDatabase()
  const proxy = yield* Effect.acquireRelease(
    Effect.promise(() => PostgresProxy.start(Redacted.value(url))),
    ({ close }) => Effect.sync(close)
  )
  const over = (url: Redacted.Redacted) =>
    Layer.build(
      Layer.mergeAll(Database.layer, migrated).pipe(
        Layer.provideMerge(PostgresClient.layer({ url, maxConnections: 2 })),
        Layer.provide(Layer.succeed(StatementTimeout, deadline))
      )
    )
  const direct = yield* over(url)
  const byProxy = yield* over(Redacted.make(proxy.url))
  return { proxy, direct, byProxy }
})

const live = { excludeTestServices: true }

layer(Layer.empty, live)("a round trip to a server", (it) => {
  it.effect("a statement alone goes without a begin", () =>
    Effect.gen(function*() {
      const { direct } = yield* Effect.provide(Database, (yield* proxied()).direct)
      // PostgreSQL refuses it after a begin
      const vacuum = "vacuum counted"
      const alone = yield* direct("Test.alone", asking(vacuum))
      assert.deepStrictEqual(yield* alone(null), [undefined])
      const twice = yield* direct("Test.twice", asking(vacuum, vacuum))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(twice(null))))
    }))
})

layer(Layer.empty, live)("a step whose connection goes bad", (it) => {
  it.effect("a step is retried if its connection was lost before the commit", () =>
    Effect.gen(function*() {
      const { byProxy, proxy } = yield* proxied()
      const { stepped } = yield* Effect.provide(Database, byProxy)
      const count = yield* stepped("Test.count", counting())
      assert.strictEqual(yield* count(1), 1)
      const reached = proxy.stopAt("for update", "executed")
      const counted = yield* Effect.forkChild(count(1))
      yield* Effect.promise(() => reached)
      proxy.cut()
      assert.strictEqual(yield* Fiber.join(counted), 2)
      assert.deepStrictEqual(yield* Effect.provide(read, byProxy), [[1, 2]])
    }).pipe(Effect.scoped))

  it.effect("a step that PostgreSQL gave up for a deadlock is retried if its connection is lost then", () =>
    Effect.gen(function*() {
      const { byProxy, direct, proxy } = yield* proxied()
      // a sequence is not rolled back
      yield* Effect.provide(PgClient.PgClient.use((client) => client`create sequence attempt`), direct)
      const { stepped } = yield* Effect.provide(Database, byProxy)
      const { load, ...others } = counting()
      const count = yield* stepped("Test.count", {
        ...others,
        load: (numbers) => [...load(numbers), {
          text: `do $$ begin
            if nextval('attempt') = 1 then raise exception using errcode = 'deadlock_detected'; end if;
          end $$`,
          params: []
        }]
      })
      const reached = proxy.stopAt("rollback", "sent")
      const counted = yield* Effect.forkChild(count(1))
      yield* Effect.promise(() => reached)
      proxy.cut()
      assert.strictEqual(yield* Fiber.join(counted), 1)
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [[1, 1]])
    }).pipe(Effect.scoped))

  it.effect("a step that may have been committed fails, and is carried out at most once", () =>
    Effect.gen(function*() {
      const { byProxy, direct, proxy } = yield* proxied()
      const { stepped } = yield* Effect.provide(Database, byProxy)
      const count = yield* stepped("Test.count", counting())
      for (const point of ["sent", "committed"] as const) {
        const reached = proxy.stopAt("insert into counted", point)
        const counted = yield* Effect.forkChild(Effect.exit(count(1)))
        yield* Effect.promise(() => reached)
        proxy.cut()
        assert.deepStrictEqual(yield* Fiber.join(counted), failed)
      }
      // not over a connection that was cut, of which the client may not have heard yet
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [[1, 1]])
    }).pipe(Effect.scoped))

  it.effect("a step of a suspended process holds its locks for at most a second", () =>
    Effect.gen(function*() {
      const { byProxy, direct, proxy } = yield* proxied()
      const frozen = yield* Effect.provide(Database, byProxy)
      const neighbour = yield* Effect.provide(Database, direct)
      const count = yield* frozen.stepped("Test.count", counting())
      const countToo = yield* neighbour.stepped("Test.count", counting())
      assert.strictEqual(yield* count(1), 1)
      const reached = proxy.stopAt("insert into counted", "sent")
      const standing = yield* Effect.forkChild(count(1))
      yield* Effect.promise(() => reached)
      // it waits for the row of the suspended step, and gets it in time
      assert.strictEqual(yield* countToo(1), 2)
      yield* Fiber.interrupt(standing)
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [[1, 2]])
    }).pipe(Effect.scoped))

  it.effect("a step is carried out once by a process that was suspended between load and write, however long", () =>
    Effect.gen(function*() {
      const { direct } = yield* proxied()
      const { stepped } = yield* Effect.provide(Database, direct)
      for (const pause of [600, 1300]) {
        const count = yield* stepped("Test.count", suspendedOnce(pause))
        assert.strictEqual(yield* count(pause), 1)
      }
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [[600, 1], [1300, 1]])
    }).pipe(Effect.scoped))

  it.effect("a step is carried out once by a process that is suspended again at each of its first retries", () =>
    Effect.gen(function*() {
      // the pauses alone take most of the usual deadline
      const { direct } = yield* proxied(60_000)
      const { stepped } = yield* Effect.provide(Database, direct)
      const count = yield* stepped("Test.count", suspended(1100, 4))
      assert.strictEqual(yield* count(1), 1)
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [[1, 1]])
    }).pipe(Effect.scoped))

  it.effect("a step that writes nothing succeeds for a process that was suspended after loading, however long", () =>
    Effect.gen(function*() {
      const { direct } = yield* proxied()
      const { stepped } = yield* Effect.provide(Database, direct)
      for (const pause of [600, 1300]) {
        const count = yield* stepped("Test.count", suspendedOnce(pause))
        // what is below 0 is not written
        assert.strictEqual(yield* count(-pause), 1)
      }
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [])
    }).pipe(Effect.scoped))

  it.effect("a step is carried out once by a process that was suspended while PostgreSQL loaded, however long", () =>
    Effect.gen(function*() {
      const { direct } = yield* proxied()
      const { stepped } = yield* Effect.provide(Database, direct)
      const { load, ...others } = counting()
      for (const pause of [600, 1300]) {
        let isFirst = true
        const count = yield* stepped("Test.count", {
          ...others,
          load: (numbers) => {
            if (isFirst) afterMicrotasks(() => stall(pause))
            isFirst = false
            return load(numbers)
          }
        })
        assert.strictEqual(yield* count(pause), 1)
      }
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [[600, 1], [1300, 1]])
    }).pipe(Effect.scoped))

  it.effect("a step is carried out once by a process that was suspended before and while PostgreSQL wrote, however long", () =>
    Effect.gen(function*() {
      const { direct } = yield* proxied()
      const { stepped } = yield* Effect.provide(Database, direct)
      for (const pause of [600, 1300]) {
        let isFirst = true
        const count = yield* stepped(
          "Test.count",
          counting(() => {
            if (isFirst) {
              afterMicrotasks(() => stall(pause))
              stall(600)
            }
            isFirst = false
          })
        )
        assert.strictEqual(yield* count(pause), 1)
      }
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [[600, 1], [1300, 1]])
    }).pipe(Effect.scoped))

  it.effect("a step is carried out once by a process that is suspended at each turn", () =>
    Effect.gen(function*() {
      const { direct } = yield* proxied(20_000)
      const { stepped } = yield* Effect.provide(Database, direct)
      const count = yield* stepped("Test.count", counting())
      // as if 600 ms had passed whenever it looks
      let now = performance.now()
      yield* Effect.acquireRelease(
        Effect.sync(() => vi.spyOn(performance, "now").mockImplementation(() => now += 600)),
        (spy) => Effect.sync(() => spy.mockRestore())
      )
      assert.strictEqual(yield* count(1), 1)
      assert.deepStrictEqual(yield* Effect.provide(read, direct), [[1, 1]])
    }).pipe(Effect.scoped))

  it.effect("a step that is given up leaves no lock behind", () =>
    Effect.gen(function*() {
      const { byProxy, direct, proxy } = yield* proxied(400)
      const { stepped } = yield* Effect.provide(Database, byProxy)
      const neighbour = yield* Effect.provide(Database, direct)
      const count = yield* stepped("Test.count", counting())
      const countToo = yield* neighbour.stepped("Test.count", counting())
      assert.strictEqual(yield* count(1), 1)
      const reached = proxy.stopAt("for update", "executed")
      const given = yield* Effect.forkChild(Effect.exit(count(1)))
      yield* Effect.promise(() => reached)
      assert.deepStrictEqual(yield* Fiber.join(given), failed)
      proxy.cut()
      assert.strictEqual(yield* countToo(1), 2)
    }).pipe(Effect.scoped))
})
