/**
 * Many months in a process that deletes what is older than its retention while it sends, receives and delivers: memory
 * and tables stay as large as they were (docs/decisions/0027-retention.md). `npm run long -- soak` takes 15 minutes,
 * and prints how latency developed.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { CloudApi, CloudApiClock } from "@wac/simulator"
import * as Extent from "@wac/testbed/Extent"
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Memory, Order } from "../ageing.ts"
import * as checks from "../checks.ts"
import { call, hello, send, setWebhook, signIn } from "../harness.ts"
import { png, upload } from "../media/files.ts"
import { freshDatabase, launch, listening, masterKey, ownPostgresWith, signedIn, stop } from "../processes.ts"
import { generous, path } from "../whatsapp/whatsapp.ts"

/** How long it goes on. */
const duration = Extent.of(Duration.zero, Duration.minutes(15))

/** Months in the short form: a third to warm up, and two that are compared. */
const leastMonths = 6

/** More than a month, so that all is deleted that is kept for a month at most. */
const month = Duration.days(32)

/** Longer than the hour between two rounds of retention. */
const untilNextRound = Duration.hours(2)

/** What happens before the next month, within a few seconds. What is old is deleted meanwhile. */
const monthly = { sends: 40, campaign: 30, texts: 10, pictures: 2, uploads: 3 }

/** What is kept for longer: counts by hour, and campaigns. How many rows they get in a month, at the most. */
const keptLonger: ReadonlyMap<string, number> = new Map([
  ["alerts", 1],
  // 16 shards of the outcomes queued, sent, delivered and read
  ["campaign_tallies", 64],
  ["campaigns", 1],
  ["media_usage", 1],
  ["priced_messages", 16],
  ["quota_usage", 1],
  ["request_tallies", 2],
  ["usage_counts", 4],
  // the durations of attempts and of arrivals, each in a few groups
  ["usage_timings", 60]
])

/**
 * How much larger the last third may be than the one before it, for what chance, autovacuum and sweeps leave that have
 * not come round. In the full form, a table that kept two rows a month would have more.
 */
const most = { ratio: 1.25, rows: 50, tableBytes: 256 * 1024, usedBytes: 4_000_000, residentBytes: 50_000_000 }

/** The same customers every month. */
const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`

/** A picture of this size, none like the other. */
const picture = (bytes = 50_000) => Buffer.concat([png, randomBytes(bytes)])

/** Everything is kept for a day. */
const retention = {
  RETENTION: JSON.stringify({
    events: 1,
    attempts: 1,
    requests: 1,
    messages: 1,
    bodies: 1,
    media: 1,
    audit: 1,
    inbound: 1
  })
}

interface Size {
  readonly name: string
  readonly rows: number
  readonly bytes: number
}

/** What was found at the end of a month. */
interface Month {
  readonly sizes: ReadonlyArray<Size>
  readonly memory: Memory
  /** Of its sends, in milliseconds. */
  readonly latencies: ReadonlyArray<number>
}

/** Answers 200 and forgets. */
const receiver = Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer((request, response) => {
        request.resume().on("end", () => response.end())
      })
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) =>
      Effect.sync(() => {
        server.closeAllConnections()
        server.close()
      })
  ),
  (server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
)

describe("a process that runs for long", () => {
  it.live(
    "its memory and its tables stay as large as they were while old records are deleted",
    () =>
      Effect.gen(function*() {
        const postgres = yield* ownPostgresWith("fsync=off", "autovacuum_naptime=1s")
        const database = yield* freshDatabase(postgres.url)
        const client = Context.get(
          yield* Layer.build(PgClient.layer({ url: Redacted.make(database), maxConnections: 1 })),
          PgClient.PgClient
        )
        const ask = <Row extends object>(statement: string) => Effect.orDie(client.unsafe<Row>(statement))
        const movable = CloudApiClock.make(yield* Clock.Clock)
        const api = yield* CloudApi.make({
          settings: { ...generous, sentAfter: null, deliveredAfter: 0, readAfter: 50, retryAfter: [200] }
        }).pipe(Effect.provideService(Clock.Clock, movable.clock), Effect.orDie)
        const server = yield* Effect.flatMap(
          launch({
            ...api.environment,
            ...retention,
            DATABASE_URL: database,
            WAC_MASTER_KEY: masterKey(),
            LOG_LEVEL: "info"
          }, "ageing"),
          listening
        )
        const order = (order: Order) =>
          Effect.callback<Memory>((resume) => {
            server.child.once("message", (memory: Memory) => resume(Effect.succeed(memory))).send(order)
          })
        yield* api.courier.subscribe(server.url + path, api.identity.verifyToken)
        const { key, session: first } = yield* signedIn(server)
        yield* setWebhook({ url: server.url, session: first }, { url: yield* receiver })
        const world = { url: server.url, key }
        const caller = { url: server.url, authorization: `Bearer ${key.apiKey}` }

        /** Waits until nothing is under way any more, but what the campaign still has to send. */
        const settled = Effect.andThen(
          api.courier.settled,
          checks.until(ask<{ readonly open: number }>(openText), ([row]) => row!.open === 0)
        )

        /** Lets time pass everywhere. */
        const pass = (time: Duration.Duration) =>
          Effect.suspend(() => {
            movable.advance(Duration.toMillis(time))
            return order({ pass: Duration.toMillis(time) })
          })

        /** Waits until the background has deleted the messages and events from before a time. */
        const forgotten = Effect.fnUntraced(function*(before: number) {
          // a message whose key had not been deleted when retention looked is deleted the next time
          yield* pass(untilNextRound)
          yield* checks.until(ask<{ readonly left: number }>(leftText(before)), ([row]) => row!.left === 0)
        })

        const oneMonth = Effect.gen(function*() {
          const since = yield* Clock.currentTimeMillis
          const session = yield* signIn(server.url)
          const campaign = yield* startCampaign(server.url, session)
          for (let n = 0; n < monthly.texts; n++) yield* Effect.orDie(api.receive({ from: customer(n), text: "Hello" }))
          for (let n = 0; n < monthly.pictures; n++) {
            const file = { base64: picture().toString("base64"), type: "image/png" }
            yield* Effect.orDie(api.receive({ from: customer(n), kind: "image", file }))
          }
          const latencies = yield* Effect.forEach(Array.from({ length: monthly.sends }, (_, n) => n), (n) =>
            Effect.gen(function*() {
              const from = performance.now()
              const sent = yield* send(world, hello(customer(n)))
              const latency = performance.now() - from
              assert.strictEqual(sent.status, 200, sent.text)
              yield* Effect.sleep("25 millis")
              return latency
            }))
          // what customers wrote opens their windows
          yield* settled
          for (let n = 0; n < monthly.uploads; n++) {
            const { body } = yield* upload(caller, { bytes: picture(), filename: "a.png" })
            const sent = yield* send(world, { to: customer(n), type: "image", image: { media: body.media_id } })
            assert.strictEqual(sent.status, 200, sent.text)
          }
          yield* checks.until(
            call(`${server.url}/internal/campaigns/${campaign}`, { headers: session }),
            ({ body }) =>
              body.status === "completed" && body.counts.read === monthly.campaign
          )
          yield* settled
          yield* forgotten(since)
          return latencies
        }).pipe(Effect.provideService(Clock.Clock, movable.clock))

        const months: Array<Month> = []
        const begun = performance.now()
        while (months.length < leastMonths || performance.now() - begun < Duration.toMillis(duration)) {
          const latencies = yield* oneMonth
          const sizes = yield* ask<Size>(sizesText)
          months.push({ latencies, sizes, memory: yield* order({ pass: 0 }) })
          yield* pass(month)
        }
        assertFlat(months)
        yield* stop(server)
      }).pipe(Effect.scoped),
    Extent.of(600_000, 1_200_000)
  )
})

const largest = (months: ReadonlyArray<Month>, size: (month: Month) => number): number => Math.max(...months.map(size))

const median = (numbers: ReadonlyArray<number>): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!

/** Compares the last third with the one before it; the first third has warmed up. */
const assertFlat = (months: ReadonlyArray<Month>): void => {
  const third = Math.floor(months.length / 3)
  const [before, last] = [months.slice(-2 * third, -third), months.slice(-third)]
  for (const { name } of last.at(-1)!.sizes) {
    const of = (field: "rows" | "bytes") => (month: Month) =>
      month.sizes.find((size) => size.name === name)?.[field] ?? 0
    const grows = keptLonger.get(name) ?? 0
    const rows = largest(before, of("rows"))
    assert.isAtMost(
      largest(last, of("rows")),
      grows === 0 ? rows * most.ratio + most.rows : rows + grows * third,
      `rows of ${name}`
    )
    assert.isAtMost(
      largest(last, of("bytes")),
      largest(before, of("bytes")) * most.ratio + most.tableBytes,
      `bytes of ${name}`
    )
  }
  const memory = (field: keyof Memory) => (month: Month) => month.memory[field]
  const [used, resident] = [memory("used"), memory("resident")]
  assert.isAtMost(largest(last, used), largest(before, used) + most.usedBytes, "bytes in use")
  // in its first minutes a process still takes memory that it keeps free, by chance more or less of it
  const free = Extent.of(Number.POSITIVE_INFINITY, most.residentBytes)
  assert.isAtMost(largest(last, resident), largest(before, resident) + free, "bytes of the process")
  const latency = (of: ReadonlyArray<Month>) => median(of.flatMap(({ latencies }) => latencies))
  process.stdout.write(
    `${months.length} months; last third compared with the one before: latency ` +
      `${(latency(last) / latency(before)).toFixed(2)}, memory in use ` +
      `${(largest(last, used) / largest(before, used)).toFixed(2)} of ${Math.round(largest(before, used) / 1e6)} MB\n`
  )
}

const openText = `select (
  (select count(*) from wac.deliveries where status = 'pending') +
  (select count(*) from wac.inbound_posts where due_at is not null) +
  (select count(*) from wac.messages where status not in ('read', 'failed'))
)::int as open`

const leftText = (before: number) =>
  `select (
  (select count(*) from wac.messages where created_at < ${before}) +
  (select count(*) from wac.events where created_at < ${before})
)::int as left`

const sizesText = `select c.relname as name, pg_total_relation_size(c.oid)::int as bytes, (
  xpath('/row/n/text()', query_to_xml(format('select count(*) as n from wac.%I', c.relname), false, true, ''))
)[1]::text::int as rows
from pg_class c where c.relnamespace = 'wac'::regnamespace and c.relkind = 'r' order by 1`

/** Starts a campaign; gives its id. */
const startCampaign = Effect.fnUntraced(function*(url: string, session: { readonly [name: string]: string }) {
  const ask = (path: string, options: Parameters<typeof call>[1] = {}) =>
    call(`${url}/internal/campaigns${path}`, { ...options, headers: { ...session, ...options?.headers } })
  const created = yield* ask("", { body: { name: "All", template: { name: "hello_world", language: "en_US" } } })
  assert.strictEqual(created.status, 201, created.text)
  const { id } = created.body
  yield* ask(`/${id}/recipients`, {
    method: "PUT",
    headers: { "content-type": "application/x-ndjson" },
    body: Array.from({ length: monthly.campaign }, (_, n) => `{"to":"${customer(n)}"}\n`).join("")
  })
  yield* ask(`/${id}/check`, { method: "POST" })
  yield* checks.until(ask(`/${id}`), ({ body }) => body.status === "ready")
  yield* ask(`/${id}/start`, { method: "POST" })
  return String(id)
})
