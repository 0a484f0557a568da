/**
 * The interface of a contestant of `deliveries`: a process that delivers recorded events. While a backlog is recorded,
 * the process is suspended with SIGSTOP, so that all contestants start with the same backlog.
 */
import { Effect, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import * as AttemptLog from "./AttemptLog.ts"
import type { Post } from "./BareLoopProcess.ts"
import { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import { type Contestant, counting, useOf } from "./Contestant.ts"
import type { Cluster, Database } from "./Database.ts"
import type { Options as EngineOptions } from "./EngineProcess.ts"
import type { Name } from "./Engines.ts"
import * as ProcessUse from "./ProcessUse.ts"
import * as Receiver from "./Receiver.ts"
import type { Options as RecorderOptions, Question, Recorded } from "./RecorderProcess.ts"
import type { Redis } from "./Redis.ts"
import { percentile } from "./Statistics.ts"
import * as Time from "./Time.ts"
import type { Options as WacOptions } from "./WacProcess.ts"
import { loopback } from "./WacRecorder.ts"
import * as WebhookEvent from "./WebhookEvent.ts"

/** The time in milliseconds from the recording of an event to its arrival. */
export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly most: number
}

/** What came of events at a steady rate. */
export interface SteadyResult extends Latency {
  /** How many events the storage confirmed per second. */
  readonly perSecond: number
}

export interface DeliveryContestant extends Contestant {
  /** Records events one by one at a steady rate; undefined if the contestant has no queue. */
  readonly steady:
    | ((rate: { readonly perSecond: number; readonly seconds: number }) => Effect.Effect<SteadyResult, BenchFailed>)
    | undefined
}

/** The resources that all contestants of a run share. */
export interface Stage {
  readonly cluster: Cluster
  readonly receiver: Receiver.Receiver
  /** The number of webhooks. */
  readonly webhooks: number
}

/** The maximum time in seconds to deliver a backlog, and then to record the last attempts. */
const drainWithin = 300
const recordWithin = 15

const signal = (pid: number, signal: "SIGSTOP" | "SIGCONT") => Effect.sync(() => void process.kill(pid, signal))

/** Suspends and resumes a process. Closing the scope always resumes it, so that it can exit. */
const holding = (pid: number): Effect.Effect<
  { readonly hold: Effect.Effect<void>; readonly release: Effect.Effect<void> },
  never,
  Scope.Scope
> =>
  Effect.as(
    Effect.addFinalizer(() => Effect.ignore(Effect.try(() => process.kill(pid, "SIGCONT")))),
    { hold: signal(pid, "SIGSTOP"), release: signal(pid, "SIGCONT") }
  )

/** Waits until the given number of attempts is recorded. */
const recorded = (name: string, complete: Effect.Effect<number, BenchFailed>, count: number) =>
  Effect.gen(function*() {
    const until = Time.monotonic() + recordWithin * 1000
    for (;;) {
      const found = yield* complete
      if (found >= count) return
      if (Time.monotonic() > until) {
        return yield* new BenchFailed({ message: `${name}: of ${count} deliveries ${found} are recorded as such` })
      }
      yield* Effect.sleep("20 millis")
    }
  })

export const latencyOf = (milliseconds: ReadonlyArray<number>): Latency => {
  const sorted = [...milliseconds].sort((a, b) => a - b)
  return { p50: percentile(sorted, 0.5), p99: percentile(sorted, 0.99), most: sorted.at(-1) ?? Number.NaN }
}

/**
 * The times from the confirmation of each record to the arrival. An event that arrived before its confirmation counts
 * as 0 ms.
 */
export const latencies = (
  recorded: Recorded,
  arrivals: Pick<Receiver.Arrivals, "ids" | "times">
): ReadonlyArray<number> => {
  const arrivedAt = new Map(arrivals.ids.map((id, i) => [id, arrivals.times[i]!]))
  return recorded.ids.map((id, i) => Math.max(0, (arrivedAt.get(id) ?? Infinity) - recorded.times[i]!))
}

interface Parts {
  readonly name: string
  readonly pid: number
  readonly webhooks: ReadonlyArray<WebhookEvent.Webhook>
  readonly receiver: Receiver.Receiver
  /** Queues the given number of events while the contestant is suspended, and returns their identifiers. */
  readonly fill: (events: number) => Effect.Effect<ReadonlyArray<string>, BenchFailed>
  /** Resumes the contestant. */
  readonly release: Effect.Effect<void, BenchFailed>
  readonly record:
    | ((rate: { readonly perSecond: number; readonly seconds: number }) => Effect.Effect<
      Recorded,
      BenchFailed
    >)
    | undefined
  readonly database: Database | undefined
  /** The statement that counts successful attempts. */
  readonly delivered: string
  readonly storage?: Effect.Effect<number | undefined>
}

const contestantOf = (parts: Parts): DeliveryContestant => {
  const { database, name, receiver, record, webhooks } = parts
  const complete = database === undefined ? undefined : counting(database, parts.delivered)
  let ids: ReadonlyArray<string> = []
  let arrived = 0
  const arrivals = Effect.fnUntraced(function*(expected: ReadonlyArray<string>, seconds: number) {
    const arrivals = yield* receiver.arrivals({ count: expected.length, seconds })
    yield* Receiver.check(name, arrivals, { ids: expected, webhooks })
    arrived += expected.length
    if (complete !== undefined) yield* recorded(name, complete, arrived)
    return arrivals
  })
  return {
    name,
    prepare: ({ until }) =>
      Effect.map(parts.fill("sends" in until ? until.sends : 0), (filled) => {
        ids = filled
      }),
    round: () =>
      Effect.gen(function*() {
        const releasedAt = Time.monotonic()
        yield* parts.release
        const { times } = yield* arrivals(ids, drainWithin)
        const { p50, p99 } = latencyOf(times.map((time) => time - releasedAt))
        return {
          sends: ids.length,
          perSecond: ids.length / (times.at(-1)! - releasedAt) * 1000,
          p50,
          p99,
          cutOff: 0
        }
      }),
    steady: record === undefined ? undefined : (rate) =>
      Effect.gen(function*() {
        const recorded = yield* record(rate)
        const { ids, times } = recorded
        const latency = latencyOf(latencies(recorded, yield* arrivals(ids, recordWithin)))
        const lasted = Math.max(...times) - Math.min(...times)
        return { ...latency, perSecond: (ids.length - 1) / lasted * 1000 }
      }),
    use: useOf(parts.pid),
    database,
    complete,
    ...(parts.storage === undefined ? {} : { storage: parts.storage })
  }
}

/** Makes a contestant whose events are written by a recorder process. */
const recording = (
  recorder: Child.Child<ReadonlyArray<WebhookEvent.Webhook>>,
  { hold, release }: { readonly hold: Effect.Effect<void>; readonly release: Effect.Effect<void> }
) => {
  const all = { from: 0, to: recorder.ready.length }
  return {
    webhooks: recorder.ready,
    fill: (events: number) =>
      Effect.andThen(
        hold,
        recorder.ask<ReadonlyArray<string>>({ _tag: "Backlog", events, ...all } satisfies Question)
      ),
    release,
    record: (rate: { readonly perSecond: number; readonly seconds: number }) =>
      recorder.ask<Recorded>({ _tag: "Steady", ...rate, ...all } satisfies Question)
  }
}

const urlsOf = ({ receiver, webhooks }: Stage) => Array.from({ length: webhooks }, (_, n) => receiver.urlOf(n))

/** Starts our server with these receivers on a new database, and a process that records events in that database. */
export const wacServer = (
  cluster: Cluster,
  { database: name, environment, urls }: {
    readonly database: string
    readonly urls: ReadonlyArray<string>
    /** Additional environment variables of the server. */
    readonly environment?: { readonly [variable: string]: string }
  }
) =>
  Effect.gen(function*() {
    const database = yield* cluster.database(name)
    const masterKey = randomBytes(32).toString("base64")
    const options: WacOptions = {
      PORT: "0",
      DATABASE_URL: database.url,
      LOG_LEVEL: "warn",
      LOG_FORMAT: "json",
      WAC_MASTER_KEY: masterKey,
      WEBHOOK_ALLOW_INSECURE: "true",
      WEBHOOK_ALLOW_CIDRS: loopback,
      ...environment
    }
    const { pid, ready: { url } } = yield* Child.start<{ readonly url: string }>("WacProcess", options)
    const recorder = yield* Child.start<ReadonlyArray<WebhookEvent.Webhook>>(
      "RecorderProcess",
      {
        where: { databaseUrl: database.url, redisPort: 0 },
        contestant: { masterKey },
        urls
      } satisfies RecorderOptions
    )
    return { database, recorder, pid, url, ...yield* holding(pid) }
  })

/** Contestant (a): our server. */
export const wac = (stage: Stage): Effect.Effect<DeliveryContestant, BenchFailed, Scope.Scope> =>
  Effect.map(
    wacServer(stage.cluster, { database: "wac_bench_wac", urls: urlsOf(stage) }),
    ({ database, pid, recorder, ...held }) =>
      contestantOf({
        name: "wac",
        pid,
        receiver: stage.receiver,
        database,
        delivered: "select count(*)::float8 as count from wac.attempts where outcome = 'delivered'",
        ...recording(recorder, held)
      })
  )

/** Contestants (b) to (d): a hand-written service on top of a job queue. */
export const engine = (
  stage: Stage,
  { name, ...options }: { readonly name: Name; readonly concurrency: number; readonly redis?: Redis }
): Effect.Effect<DeliveryContestant, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const { cluster } = stage
    const database = yield* cluster.database(`wac_bench_${name.toLowerCase().replaceAll("-", "_")}`)
    yield* database.query(AttemptLog.schema)
    const where = { databaseUrl: database.url, redisPort: options.redis?.port ?? 0 }
    const recorder = yield* Child.start<ReadonlyArray<WebhookEvent.Webhook>>(
      "RecorderProcess",
      {
        where,
        contestant: name,
        urls: urlsOf(stage)
      } satisfies RecorderOptions
    )
    const { pid } = yield* Child.start(
      "EngineProcess",
      {
        engine: name,
        where,
        concurrency: options.concurrency,
        webhooks: recorder.ready
      } satisfies EngineOptions
    )
    const held = yield* holding(pid)
    const redis = options.redis
    return contestantOf({
      name,
      pid,
      receiver: stage.receiver,
      database,
      delivered: AttemptLog.delivered,
      ...recording(recorder, held),
      ...(redis === undefined ? {} : {
        storage: Effect.map(
          Effect.all([cluster.processor, Effect.promise(() => ProcessUse.familyTime(redis.pid))]),
          ([postgres, redis]) => postgres === undefined || redis === undefined ? undefined : postgres + redis
        )
      })
    })
  })

/**
 * The last contestant: a bare undici loop that signs. It makes the same attempts as the job queues' workers, without a
 * queue or records.
 */
export const bareLoop = (
  stage: Stage,
  { concurrency }: { readonly concurrency: number }
): Effect.Effect<DeliveryContestant, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const scope = yield* Effect.scope
    const webhooks = WebhookEvent.webhooksAt(urlsOf(stage))
    const { ask, pid } = yield* Child.start("BareLoopProcess", webhooks)
    return contestantOf({
      name: "bare undici loop",
      pid,
      webhooks,
      receiver: stage.receiver,
      fill: (events) =>
        ask<ReadonlyArray<string>>({ _tag: "Backlog", events, from: 0, to: webhooks.length } satisfies Question),
      release: Effect.asVoid(Effect.forkIn(ask({ concurrency } satisfies Post), scope, { startImmediately: true })),
      record: undefined,
      database: undefined,
      delivered: ""
    })
  })
