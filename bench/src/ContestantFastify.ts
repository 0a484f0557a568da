/**
 * Contestant (b): a hand-written service with Fastify and `pg`, in a child process with its own database.
 */
import { Effect, type Scope } from "effect"
import { createHash, randomBytes } from "node:crypto"
import type { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import { type Contestant, counting, useOf } from "./Contestant.ts"
import type { Cluster, Database } from "./Database.ts"
import type { Loader } from "./Load.ts"
import * as Probe from "./Probe.ts"
import * as RoundTrips from "./RoundTrips.ts"
import * as TwoTransactions from "./TwoTransactions.ts"
import * as Workload from "./Workload.ts"

/** The size of the PostgreSQL pool. On two cores with 64 callers, smaller and larger pools were both slower. */
const poolSize = 32

/** Inserts the first rows: workspace 1 with a webhook and API key 1. */
export const furnish = (database: Database, apiKey: string): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    yield* database.query(TwoTransactions.schema)
    yield* database.query("insert into workspaces (name) values ('bench')")
    yield* database.query("insert into webhooks (workspace_id, url) values (1, 'https://receiver.invalid/')")
    yield* database.query("insert into api_keys (workspace_id, token_hash) values (1, $1)", [
      createHash("sha256").update(apiKey).digest()
    ])
  })

export interface Service {
  readonly contestant: Contestant
  /** Runs sends one after the other and measures the median time (ms) each waited for the database. */
  readonly watched: RoundTrips.Watched
}

export const start = (cluster: Cluster, loader: Loader): Effect.Effect<Service, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const name = "fastify + pg"
    const database = yield* cluster.database("wac_bench_fastify")
    const apiKey = randomBytes(24).toString("base64url")
    yield* furnish(database, apiKey)
    const child = yield* Child.start<{ readonly url: string }>("FastifyProcess", {
      databaseUrl: database.url,
      connections: poolSize
    })
    const target = { url: child.ready.url, apiKey }
    yield* Probe.check(name, target)
    return {
      contestant: {
        name,
        round: (load) => loader.run({ ...load, target, expected: Workload.calls.Send.expected }),
        use: useOf(child.pid),
        database,
        complete: counting(database, TwoTransactions.complete)
      },
      watched: RoundTrips.watched(child)
    }
  })
