/**
 * The `capacity` measurement: what a message costs in disk space, write-ahead log and processor time, and what deleting
 * old messages costs and leaves. Every message is sent over HTTP, reported as sent, delivered and read by posts of the
 * simulated Cloud API, and each of its three events is delivered to a receiver.
 */
import { DeliveryStore, EventStore, MessageStore, Retention, StorageTime } from "@wac/core"
import { PostgresStorage } from "@wac/postgres"
import { Clock, Console, Context, Effect, Layer, Redacted, type Scope } from "effect"
import { because, BenchFailed } from "./BenchFailed.ts"
import * as CapacityDays from "./CapacityDays.ts"
import * as CapacityDead from "./CapacityDead.ts"
import * as CapacityPartitions from "./CapacityPartitions.ts"
import type { Question } from "./CloudApiProcess.ts"
import * as Database from "./Database.ts"
import * as Load from "./Load.ts"
import * as ProcessUse from "./ProcessUse.ts"
import * as Receiver from "./Receiver.ts"
import * as Report from "./Report.ts"
import * as Simulated from "./Simulated.ts"
import * as Time from "./Time.ts"
import { loopback } from "./WacRecorder.ts"
import * as Workload from "./Workload.ts"
import * as Written from "./Written.ts"

export interface Plan {
  /** The number of messages that are sent. */
  readonly messages: number
  /** The number of days: the first has the messages that are sent, the others copies of their rows. */
  readonly days: number
}

/** The path of provider posts. */
const posts = "/providers/whatsapp/webhook"

const connections = 64

/** The maximum time in seconds without progress. */
const patience = 120

/** Limits so high that no send is refused. */
const limits = JSON.stringify({
  workspaceTiers: { bench: 100_000 },
  phoneNumberTiers: { bench: 100_000 },
  pair: { everySeconds: 0.001, burst: 1_000_000 },
  defaults: { workspaceTier: "bench", phoneNumberTier: "bench" }
})

const hour = 3_600_000

/** By which retention the tables lose the rows of messages. */
const kinds = {
  messages: "messages",
  message_names: "messages",
  conversations: "messages",
  events: "events",
  deliveries: "events",
  attempts: "attempts",
  requests: "requests",
  inbound_posts: "inbound",
  inbound_post_bodies: "inbound"
} as const satisfies Record<string, Retention.Kind>

/** Later than the time in any identifier of a copy. */
const farAway = 2 ** 46

const copied = (sizes: ReadonlyArray<Written.Size>): ReadonlyArray<Written.Size> =>
  CapacityDays.tables.flatMap((table) => sizes.filter(({ name }) => name === table))

/** Messages per month whose disk space is computed. */
const volumes = [1_000_000, 10_000_000, 100_000_000]

const gigabytes = (bytes: number): string =>
  `${(bytes / 1e9).toLocaleString("en-US", { maximumFractionDigits: bytes < 1e10 ? 1 : 0 })} GB`

/** The bytes that a number of messages a month takes in the long run, by the bytes a message of each table. */
const disk = (perMessage: ReadonlyMap<string, number>, perMonth: number): number =>
  Object.entries(kinds).reduce(
    (sum, [table, kind]) => sum + (perMessage.get(table) ?? 0) * perMonth * Retention.standard[kind] / 30,
    0
  )

const world = Effect.fnUntraced(function*(cluster: Database.Cluster) {
  const { database, provider, server } = yield* Simulated.start(cluster, {
    database: "wac_bench_capacity",
    reports: true
  })
  const receiver = yield* Receiver.make
  const { pid, ready: { url } } = yield* server({
    WAC_LIMITS: limits,
    WEBHOOK_ALLOW_INSECURE: "true",
    WEBHOOK_ALLOW_CIDRS: loopback
  })
  const { apiKey, dashboard } = yield* Simulated.signIn(url)
  yield* dashboard.ask("PUT", "/internal/webhook", { url: receiver.urlOf(0) })
  yield* provider.ask({ subscribe: url + posts } satisfies Question)
  return { database, pid, target: { url, apiKey } }
})

/** Waits until every message has been read, and so many events are delivered. */
const settled = Effect.fnUntraced(function*({ query }: Database.Database, delivered: number) {
  let left = Infinity
  let since = Time.monotonic()
  for (;;) {
    const [row] = yield* query(
      `select (select count(*) from wac.messages where status <> 'read')
        + greatest(0, $1 - (select count(*) from wac.deliveries where status = 'delivered')) as left`,
      [delivered]
    )
    const found = Number(row!["left"])
    if (found === 0) return
    if (found < left) {
      left = found
      since = Time.monotonic()
    } else if (Time.monotonic() - since > patience * 1000) {
      return yield* new BenchFailed({ message: `${found} reports or deliveries are missing` })
    }
    yield* Effect.sleep("1 second")
  }
})

/** Deletes what is older, as the service does, without the pauses between steps. */
const forget = (storage: Context.Context<Stores>, before: number) => {
  const whole = (step: (before: number) => Effect.Effect<Retention.Forgotten, unknown>) =>
    Effect.repeat(step(before), { while: ({ isMore }) => isMore })
  return Effect.all([
    whole(Context.get(storage, DeliveryStore.DeliveryStore).forgetAttempts),
    whole((before) => Context.get(storage, EventStore.EventStore).forget(before, before)),
    whole(Context.get(storage, MessageStore.MessageStore).forget)
  ], { discard: true }).pipe(Effect.mapError(because("the deletion")))
}

type Stores = DeliveryStore.DeliveryStore | EventStore.EventStore | MessageStore.MessageStore

/** Forgets the idempotency keys, as the service does a day after each send. */
const forgetKeys = Effect.fnUntraced(function*(storage: Context.Context<Stores>, { query }: Database.Database) {
  const { sweep } = Context.get(storage, MessageStore.MessageStore)
  for (;;) {
    yield* sweep((yield* Clock.currentTimeMillis) + 25 * hour).pipe(Effect.mapError(because("the sweep")))
    const [row] = yield* query("select count(*) as left from wac.message_deadlines")
    if (Number(row!["left"]) === 0) return
  }
})

export const run = ({ days, messages }: Plan): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const cluster = yield* Database.cluster
    yield* Console.log(Report.conditions(cluster, `${Report.whole(messages)} messages, ${connections} callers`))
    const { database, pid, target } = yield* world(cluster)
    const loader = yield* Load.make
    yield* cluster.checkpoint

    const processor = Effect.all([Effect.promise(() => ProcessUse.processorTime(pid)), cluster.processor])
    const [server, postgres] = yield* processor
    const send = (count: number, callers: number) =>
      Effect.gen(function*() {
        const [row] = yield* database.query(
          "select count(*) as delivered from wac.deliveries where status = 'delivered'"
        )
        const { perSecond } = yield* loader.run({
          connections: Math.min(callers, count),
          until: { sends: count },
          target,
          expected: Workload.calls.Send.expected
        })
        yield* settled(database, Number(row!["delivered"]) + 3 * count)
        return perSecond
      })
    const sent = yield* Written.during(database, send(messages, connections))
    const [serverAfter, postgresAfter] = yield* processor
    const each = (name: string, value: number, digits = 0) =>
      Console.log(`${name}  ${Report.decimals(value / messages, digits)}`)
    yield* Console.log(
      `\nsent at ${Report.whole(sent.result)}/s; read and delivered after ${Report.whole(sent.seconds)} s\n`
    )
    yield* each("bytes of WAL a message", sent.bytes)
    yield* each("of them copies of whole pages, first changed since a checkpoint", sent.pageBytes)
    yield* each("CPU of the server, µs a message", ((serverAfter ?? Number.NaN) - (server ?? 0)) * 1e6)
    yield* each("CPU of PostgreSQL, µs a message", ((postgresAfter ?? Number.NaN) - (postgres ?? 0)) * 1e6)

    const storage = yield* Layer.build(
      PostgresStorage.layerServer({ url: Redacted.make(database.url), migrate: false }).pipe(
        // so that a day can pass in a moment
        Layer.provide(Layer.succeed(StorageTime.JudgedBy)("asker"))
      )
    ).pipe(Effect.mapError(because("the storage")))
    const keys = yield* Written.during(database, forgetKeys(storage, database))
    yield* each("bytes of WAL a message, to forget its idempotency key a day later", keys.bytes)

    yield* database.tidy
    const sentSizes = yield* Written.sizes(database)
    yield* Console.log(`\nOn disk, sent\n${Written.table(sentSizes, messages)}`)
    const firstDay = (yield* Clock.currentTimeMillis) + 12 * hour
    yield* CapacityDays.copy(database, days - 1)
    yield* database.tidy
    const full = yield* Written.sizes(database)
    yield* Console.log(`\nOn disk, ${days} days\n${Written.table(copied(full), messages * days)}`)
    // sent rows have dead versions of themselves beside them, copies have not
    const perMessage = new Map(sentSizes.map(({ index, name, table }) => [name, (table + index) / messages]))
    yield* Console.log(
      "\n" + Report.table([
        ["messages a month", "on disk"],
        ...volumes.map((perMonth) => [Report.whole(perMonth), gigabytes(disk(perMessage, perMonth))])
      ])
    )

    // nobody has changed a page since
    yield* cluster.checkpoint
    const few = Math.ceil(messages / 20)
    const beside = yield* Written.during(database, send(few, 8))
    yield* Console.log(
      `\nbytes of WAL a message, of the first ${Report.whole(few)} after a checkpoint, beside ${days} days  ` +
        `${Report.whole(beside.bytes / few)}, of them copies of pages ${Report.whole(beside.pageBytes / few)}`
    )
    yield* forgetKeys(storage, database)
    yield* CapacityDead.run(database)
    yield* CapacityPartitions.run(database, firstDay)

    const deleted = yield* Written.during(database, forget(storage, firstDay))
    yield* Console.log(`\na day deleted as rows  ${Written.cost(deleted)}`)
    const vacuumed = yield* Written.during(database, database.tidy)
    yield* Console.log(`vacuum after it  ${Written.cost(vacuumed)}`)

    const rest = yield* Written.during(database, forget(storage, farAway))
    yield* database.tidy
    yield* Console.log(`the rest deleted as rows  ${Written.cost(rest)}`)
    yield* Console.log(
      `\nAfter all was deleted and vacuumed\n${Written.table(copied(yield* Written.sizes(database)), messages * days)}`
    )
    const rebuilt = yield* Written.during(
      database,
      Effect.forEach(
        CapacityDays.tables,
        (name) => database.query(`reindex table concurrently ${name}`),
        { discard: true }
      )
    )
    yield* Console.log(`\nreindex table concurrently, of these tables  ${Written.cost(rebuilt)}`)
    yield* Console.log(`\nAfter the reindex\n${Written.table(copied(yield* Written.sizes(database)), messages * days)}`)
  })
