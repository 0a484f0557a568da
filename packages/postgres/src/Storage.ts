/**
 * The storage as a whole, in PostgreSQL: asks the database whether it accepts writes.
 */
import { Storage, StoreError, type Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { callerClock } from "./CallerClock.ts"
import * as Clocks from "./Clocks.ts"
import { bigint, columns, json, row } from "./Columns.ts"
import { Database } from "./Database.ts"
import * as PoolUse from "./PoolUse.ts"
import { statement } from "./Statement.ts"
import * as WriteProbe from "./WriteProbe.ts"

/** The time limit of the readiness check. It is short, because readiness probes ask again soon. */
const deadline = "1 second"

/** Anybody can request readiness, so a trial write happens at most this often. */
const triedEvery = "1 second"

/** PostgreSQL adds up all files for the database's size, so it is measured at most this often. */
const measuredEvery = "1 minute"

const measuredText = `select pg_database_size(current_database())::float8 as bytes,
    current_setting('max_connections')::integer as max_connections,
    (
      select json_object_agg(k.state, k.count) from (
        select case
            when a.state in ('active', 'idle') then a.state
            when a.state like 'idle in transaction%' then 'idle_in_transaction'
            else 'other'
          end as state, count(*)
        from pg_catalog.pg_stat_activity a where a.backend_type = 'client backend' group by 1
      ) k
    ) as connections`

const counts = columns<Pick<Storage.Measured, "bytes" | "maxConnections">>({
  bytes: "double precision",
  maxConnections: "integer"
})

const connections = row({ connections: json<Partial<Storage.Measured["connections"]> | null>() })

const clock = statement({ asked: Clocks.asked }, ({ asked }) => `select ${asked} as now`)

const time = row({ now: bigint<Time.Instant>() })

/** `name` is shown to operators and holds no credentials. */
export const layer = (name: string, durable: boolean): Layer.Layer<Storage.Storage, never, Database> =>
  Layer.effect(
    Storage.Storage,
    Effect.gen(function*() {
      const { lastProblem, pools, query } = yield* Database
      const judged = yield* callerClock
      const operation = "Storage.ping"
      const ask = (text: string) => query(operation, { text })
      const tried = yield* Effect.cachedWithTTL(WriteProbe.run(ask, ({ problem }) => problem), triedEvery)
      // a failed write shows problems that no setting shows; afterwards only a trial write can show that they are over
      const isWritable = Effect.gen(function*() {
        const known = WriteProbe.problemOf(yield* ask(WriteProbe.access))
        if (known !== undefined) return known
        if (lastProblem.current === undefined) return "writable"
        const problem = yield* tried
        if (problem !== undefined) return problem
        lastProblem.current = undefined
        yield* Effect.logInfo("storage can be written again")
        return "writable"
      })
      const measured = yield* Effect.cachedWithTTL(
        Effect.map(query("Storage.measured", { text: measuredText }), ([row]): Omit<Storage.Measured, "pools"> => ({
          ...counts.read(row!),
          connections: {
            active: 0,
            idle: 0,
            idle_in_transaction: 0,
            other: 0,
            ...connections.read(row!).connections
          }
        })),
        measuredEvery
      )
      return Storage.Storage.of({
        name,
        durable,
        now: (asked) =>
          Effect.map(query("Storage.now", clock({ asked: judged(asked) })), ([row]) => time.read(row!).now),
        measured: Effect.map(measured, (measured) => ({
          ...measured,
          pools: { steps: PoolUse.stateOf(pools.steps), statements: PoolUse.stateOf(pools.statements) }
        })),
        ping: isWritable.pipe(
          Effect.timeoutOrElse({
            duration: deadline,
            orElse: () => Effect.fail(new StoreError.StoreError({ operation }))
          })
        )
      })
    })
  )
