/**
 * Runs PostgreSQL for the benchmarks: one cluster for all contestants, and a database for each. Connects to a given
 * cluster or starts one with its data in a temporary directory.
 */
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { Effect, type Scope } from "effect"
import { readFile } from "node:fs/promises"
import { totalmem } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { because, BenchFailed } from "./BenchFailed.ts"
import * as ProcessUse from "./ProcessUse.ts"

const MiB = 1024 * 1024

/**
 * The size in MiB of the files that a cluster of ours keeps for its write-ahead log, like a server that has run for a
 * while. Without them it makes a file for every 16 MiB, which delays all commits by up to 55 ms.
 */
const recycled = 512

/** Fills these files, which the next checkpoint recycles. */
const fillText =
  `select pg_logical_emit_message(false, 'bench', repeat('x', ${MiB})) from generate_series(1, ${recycled})`

/**
 * The settings of a cluster that we start; all others are PostgreSQL's defaults. Commits are durable. Shared buffers
 * get the usual quarter of the machine's memory. The WAL is large enough that no forced checkpoint happens during a
 * round.
 */
export const settings: { readonly [name: string]: string } = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: `${Math.min(4096, Math.max(128, Math.floor(totalmem() / 4 / MiB)))}MB`,
  max_wal_size: "16GB",
  min_wal_size: `${recycled}MB`,
  checkpoint_timeout: "30min",
  max_connections: "200",
  shared_preload_libraries: "pg_stat_statements"
}

type Row = { readonly [column: string]: unknown }

export interface Database {
  readonly url: string
  /** Runs one statement, or several if there are no parameters. */
  readonly query: (sql: string, params?: ReadonlyArray<unknown>) => Effect.Effect<ReadonlyArray<Row>, BenchFailed>
  /** The number of statements (or transactions, see {@link Cluster.counts}) executed in this database so far. */
  readonly statements: Effect.Effect<number, BenchFailed>
  /** Vacuums and analyzes. Without it, the planner would use misleading statistics of newly filled tables. */
  readonly tidy: Effect.Effect<void, BenchFailed>
}

export interface Cluster {
  readonly version: string
  /** Whether {@link Database.statements} counts statements or transactions. */
  readonly counts: "statements" | "transactions"
  /** Creates an empty database and drops it when the scope closes. */
  readonly database: (name: string) => Effect.Effect<Database, BenchFailed, Scope.Scope>
  /**
   * The processor time in seconds that PostgreSQL has used so far; undefined unless we started it and the platform
   * reports it.
   */
  readonly processor: Effect.Effect<number | undefined>
  /** Runs a checkpoint, so that one contestant's dirty pages are not written during another's round. */
  readonly checkpoint: Effect.Effect<void, BenchFailed>
}

/** Connects to the cluster of `BENCH_DATABASE_URL`, or starts one that lives as long as the scope. */
export const cluster: Effect.Effect<Cluster, BenchFailed, Scope.Scope> = Effect.gen(function*() {
  const given = process.env["BENCH_DATABASE_URL"]
  const { pid, url } = given === undefined ? yield* embedded : { pid: undefined, url: given }
  const admin = yield* connect(url)
  for (const setting of ["fsync", "synchronous_commit"]) {
    const [row] = yield* admin(`show ${setting}`)
    if (row![setting] !== "on") {
      return yield* new BenchFailed({
        message: `PostgreSQL runs with ${setting} = ${row![setting]}: commits must be durable`
      })
    }
  }
  const [version] = yield* admin("show server_version")
  if (pid !== undefined) yield* Effect.andThen(admin(fillText), admin("checkpoint"))
  const counts = yield* admin(
    "create extension if not exists pg_stat_statements; select count(*) from pg_stat_statements"
  ).pipe(Effect.as("statements" as const), Effect.orElseSucceed(() => "transactions" as const))

  const statements = (name: string) =>
    Effect.map(
      admin(
        counts === "statements"
          ? `select coalesce(sum(calls), 0)::float8 as count from pg_stat_statements
             where dbid = (select oid from pg_database where datname = '${name}')`
          : `select xact_commit::float8 as count from pg_stat_database where datname = '${name}'`
      ),
      ([row]) => row!["count"] as number
    )

  const database = (name: string) =>
    Effect.gen(function*() {
      const drop = admin(`drop database if exists ${name} with (force)`)
      yield* drop
      yield* admin(`create database ${name}`)
      yield* Effect.addFinalizer(() => Effect.ignore(drop))
      const own = new URL(url)
      own.pathname = `/${name}`
      const query = yield* connect(own.href)
      return {
        url: own.href,
        query,
        statements: statements(name),
        tidy: Effect.asVoid(query("vacuum (analyze)"))
      }
    })

  return {
    version: version!["server_version"] as string,
    counts,
    database,
    processor: pid === undefined ? Effect.undefined : Effect.promise(() => ProcessUse.familyTime(pid)),
    checkpoint: Effect.asVoid(admin("checkpoint"))
  }
})

const connect = (url: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.tryPromise({
        try: async () => {
          const client = new pg.Client({ connectionString: url })
          // when an idle connection breaks, the next statement fails
          client.on("error", () => {})
          await client.connect()
          return client
        },
        catch: because("PostgreSQL cannot be reached")
      }),
      (client) => Effect.promise(() => client.end().catch(() => {}))
    ),
    (client) => (sql: string, params?: ReadonlyArray<unknown>) =>
      Effect.tryPromise({
        try: async (): Promise<ReadonlyArray<Row>> => {
          const result: pg.QueryResult | Array<pg.QueryResult> = await client.query(
            sql,
            params === undefined ? undefined : [...params]
          )
          return Array.isArray(result) ? result.at(-1)!.rows : result.rows
        },
        catch: because(sql.slice(0, 60))
      })
  )

/** Starts PostgreSQL from the installed binaries, with its data in the directory for temporary files. */
const embedded: Effect.Effect<{ readonly url: string; readonly pid: number }, BenchFailed, Scope.Scope> = Effect.gen(
  function*() {
    const { data, url } = yield* Effect.acquireRelease(
      Effect.tryPromise({
        try: () => PostgresServer.start(...Object.entries(settings).map(([name, value]) => `${name}=${value}`)),
        catch: because("the run cannot begin")
      }),
      ({ remove }) => Effect.promise(remove)
    )
    const [pid] = (yield* Effect.promise(() => readFile(join(data, "postmaster.pid"), "utf8"))).split("\n")
    return { url, pid: Number(pid) }
  }
)
