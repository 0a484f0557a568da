/**
 * What the sweep costs besides the sends that are due: the buckets that go, however many others are kept.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { forgetCounted, numbersAtOnce, tidy } from "../src/messages/Sweep.ts"
import type { Statement } from "../src/Statement.ts"
import { carryOutAll } from "./carryOut.ts"
import { plannedDatabases } from "./servers.ts"
import { touchedBy } from "./touched.ts"

/** What a statement touches with the settings of steps. */
const cost = (statement: Statement) => touchedBy(carryOutAll([statement]))

const now = 1_800_000_000_000
const day = Duration.toMillis(Duration.days(1))

/** Customers whom the frequency cap keeps for another month, though their buckets are full. */
const capped = 100_000

/** Numbers that wrote to many customers within a day; one also wrote to some before. */
const numbers = 2 * numbersAtOnce
const customers = 100

const fill = [
  "insert into wac.workspaces (id, name, created_at) values ('ws', 'one', 0)",
  `insert into wac.phone_numbers (id, workspace_id, provider, phone_number, provider_number_id, provider_account_id,
    customers_counted)
  select 'pn of ' || i, 'ws', 'sandbox', '+1415' || i, 'p' || i, 'a', ${customers} from generate_series(1, ${numbers}) i`,
  `insert into wac.buckets (key, full_at, phone_number_id, counted_at)
  select 'pair:pn of ' || i || ':+1303' || j, ${now}, 'pn of ' || i, ${now} from generate_series(1, ${numbers}) i
  cross join generate_series(1, ${customers}) j`,
  `update wac.buckets set counted_at = ${now - 2 * day} where key like 'pair:pn of 1:+13031%'`,
  `insert into wac.buckets (key, full_at, phone_number_id, marketing_at, marketing_until)
  select 'pair:pn 1:+1202' || i, ${now - day} + i, 'pn 1', '[1]', ${
    now + 30 * day
  } + i from generate_series(1, ${capped}) i`,
  `insert into wac.buckets (key, full_at) select 'login:' || i, ${now - day} from generate_series(1, 10) i`
]

for (const { layer: database, name } of plannedDatabases) {
  const filled = Layer.effectDiscard(Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client`set local statement_timeout = 0`
      for (const statement of fill) yield* client.unsafe(statement)
    }))
    yield* client`vacuum (analyze) wac.buckets`
    yield* client`vacuum (analyze) wac.phone_numbers`
  }))

  layer(Layer.provideMerge(filled, database), { excludeTestServices: true })(name, (it) => {
    it.effect("a sweep reads the buckets that it deletes, and none that the frequency cap keeps", () =>
      Effect.gen(function*() {
        const [buckets] = tidy(now)
        const { read, scans, written } = (yield* cost(buckets!))("buckets")
        assert.deepStrictEqual([scans, written], [0, 10])
        assert.isAtMost(read, 3 * 10)
      }))

    it.effect("a bucket that the frequency cap has kept is deleted once its time has passed", () =>
      Effect.gen(function*() {
        const [buckets] = tidy(now + 31 * day)
        assert.strictEqual((yield* cost(buckets!))("buckets").written, 1000)
      }))

    it.effect("of the customers who count, a sweep reads one of each number besides those who count no more", () =>
      Effect.gen(function*() {
        const gone = 12
        const of = yield* cost(forgetCounted(now, ""))
        assert.deepStrictEqual([of("buckets").scans, of("buckets").written, of("phone_numbers").written], [0, gone, 1])
        assert.isAtMost(of("buckets").read, numbersAtOnce + 4 * gone)
        const others = yield* cost(forgetCounted(now, "pn of 1"))
        assert.deepStrictEqual([others("buckets").written, others("phone_numbers").read], [0, 0])
      }))
  })
}
