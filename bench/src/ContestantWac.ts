/**
 * Contestant (a): our server with everything that `apps/server` composes, on PostgreSQL, with a provider that accepts
 * every message at once.
 */
import { Effect, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import type { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import { type Contestant, counting, useOf } from "./Contestant.ts"
import * as Dashboard from "./Dashboard.ts"
import type { Cluster, Database } from "./Database.ts"
import type { Loader } from "./Load.ts"
import * as Probe from "./Probe.ts"
import * as RoundTrips from "./RoundTrips.ts"
import type { CoreSends, Memory, Options, TwoRoundTrips } from "./WacProcess.ts"
import * as Workload from "./Workload.ts"

export interface Wac {
  readonly contestant: Contestant
  readonly database: Database
  /** What the server's process holds in memory, in bytes, once all garbage is collected. */
  readonly memory: Effect.Effect<number, BenchFailed>
  /** Runs sends one after the other and measures the median time (ms) each waited for the database. */
  readonly watched: RoundTrips.Watched
  /**
   * Sends through the core in the server's process, without HTTP. Returns the median duration (ms) of a send and the
   * median time it waited for the database.
   */
  readonly coreSends: (sends: number) => Effect.Effect<{ readonly send: number; readonly waited: number }, BenchFailed>
  /** The median time (ms) of running the same statement twice through the server's own PostgreSQL client. */
  readonly twoRoundTrips: (statement: string, repetitions: number) => Effect.Effect<number, BenchFailed>
}

/** Limits so high that no send is refused. The rate-limit buckets are still checked and written. */
const limits = JSON.stringify({
  workspaceTiers: { bench: 1_000_000 },
  phoneNumberTiers: { bench: 1_000_000 },
  pair: { everySeconds: 0.001, burst: 1_000_000 },
  defaults: { workspaceTier: "bench", phoneNumberTier: "bench" }
})

/** Counts completely recorded sends. Messages inserted by {@link Stored} have other statuses. */
const complete = `
select count(*)::float8 as count
from wac.messages
join wac.events on events.order_key = messages.id
join wac.deliveries on deliveries.event_id = events.id
where messages.status = 'sent' and messages.key is not null and messages.claim_token is null`

/** Counts messages that callers queued and that wait. */
const waiting = `
select count(*)::float8 as count
from wac.messages
join wac.send_queue on send_queue.message_id = messages.id
where messages.status = 'queued' and messages.key is not null and messages.answer is not null`

/**
 * Starts the server on a new database with the given name, and creates a workspace, a webhook and an API key. Where
 * messages are queued, it holds the queue and sends none of them, as if the database was restored from a backup.
 */
export const start = (
  cluster: Cluster,
  loader: Loader,
  { database: databaseName, handover = "Send", name }: {
    readonly name: string
    readonly database: string
    readonly handover?: Workload.Handover
  }
): Effect.Effect<Wac, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const database = yield* cluster.database(databaseName)
    const options: Options = {
      PORT: "0",
      DATABASE_URL: database.url,
      // a held queue is a warning
      LOG_LEVEL: handover === "Send" ? "warn" : "error",
      LOG_FORMAT: "json",
      WAC_LIMITS: limits,
      WAC_MASTER_KEY: randomBytes(32).toString("base64"),
      WAC_RESTORED: String(handover !== "Send"),
      ...Dashboard.environment
    }
    const child = yield* Child.start<{ readonly url: string }>("WacProcess", options)
    const { ask, pid, ready: { url } } = child

    const { ask: act } = yield* Dashboard.signIn(url)
    const { body } = yield* act("POST", "/internal/api-keys", { name: "bench" }, { "idempotency-key": "bench" })
    // the webhook is paused: events and deliveries are written but not attempted, as another measurement covers
    // attempts
    yield* act("PUT", "/internal/webhook", { url: "https://receiver.invalid/" })
    yield* database.query("update wac.webhooks set paused_at = 1")
    const target = { url, apiKey: String(body["apiKey"]) }
    yield* Probe.check(name, target)
    return {
      contestant: {
        name,
        round: (load) => loader.run({ ...load, target, handover, expected: Workload.calls[handover].expected }),
        use: useOf(pid),
        database,
        complete: counting(database, handover === "Send" ? complete : waiting)
      },
      database,
      memory: ask<number>({ memory: true } satisfies Memory),
      watched: RoundTrips.watched(child),
      coreSends: (sends) => ask({ apiKey: target.apiKey, sends } satisfies CoreSends),
      twoRoundTrips: (statement, repetitions) => ask<number>({ statement, repetitions } satisfies TwoRoundTrips)
    }
  })
