/**
 * What the sweep costs besides the sends that are due: the buckets that go, however many others are kept.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { tidy } from "../src/messages/Sweep.ts"
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

const fill = [
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
  }))

  layer(Layer.provideMerge(filled, database), { excludeTestServices: true, timeout: "1 minute" })(name, (it) => {
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
  })
}
