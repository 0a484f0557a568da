/**
 * What the hot statements of webhooks, deliveries and events cost on a filled database: each uses its index and touches
 * about as many rows as it returns, whatever else is stored.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { type Delivery, DeliveryStep, type DeliveryStore, Event, type Id, Page } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import * as EventPositions from "../src/events/EventPositions.ts"
import * as EventStore from "../src/events/EventStore.ts"
import { listEvents } from "../src/events/ListEvents.ts"
import type { Row, Statement } from "../src/Statement.ts"
import { claimDue, foundOf } from "../src/webhooks/ClaimDue.ts"
import * as Complete from "../src/webhooks/Complete.ts"
import * as CompleteDirect from "../src/webhooks/CompleteDirect.ts"
import * as ListDeliveries from "../src/webhooks/ListDeliveries.ts"
import { release } from "../src/webhooks/Release.ts"
import * as Remove from "../src/webhooks/Remove.ts"
import * as ReplayStep from "../src/webhooks/ReplayStep.ts"
import * as Resume from "../src/webhooks/Resume.ts"
import * as Rounds from "../src/webhooks/Rounds.ts"
import { tidySkipped } from "../src/webhooks/TidySkipped.ts"
import * as WebhookStep from "../src/webhooks/WebhookStep.ts"
import * as WebhookStore from "../src/webhooks/WebhookStore.ts"
import { carryOut, carryOutAll } from "./carryOut.ts"
import { plannedDatabases } from "./servers.ts"
import { counters, nothing, type Touched, touched, touchedBy } from "./touched.ts"

const second = 1000
const hour = 3600 * second

/** The time of the queries. */
const now = 100 * hour

const events = 50_000
/** Of 4,000 webhooks, one is paused with a backlog, 50 wait for retries, and the last 40 have something due. */
const webhooks = 4000
const held = 100_000
const retrying = 50
const active = 40

const id = <Prefix extends keyof Id.ByPrefix>(prefix: Prefix, n: number | string) =>
  `${prefix}_${String(n).padStart(26, "0")}` as Id.ByPrefix[Prefix]
const sqlId = (prefix: string, n: string) => `'${prefix}_' || lpad((${n})::text, 26, '0')`

/** A claimed delivery; tests replace its ids. */
const claimed: Delivery.Delivery = {
  id: id("dlv", 0),
  workspaceId: id("ws", 0),
  webhookId: id("whk", 0),
  eventId: id("evt", 0),
  eventType: "message.sent",
  envelope: "combined",
  orderKey: null,
  sequence: 1,
  status: "pending",
  trigger: "automatic",
  attemptCount: 0,
  roundAttempts: 0,
  firstAttemptAt: null,
  lastAttemptAt: null,
  nextAttemptAt: 0,
  createdAt: 0,
  completedAt: null
}

const attempt: Delivery.Attempt = {
  id: id("att", 0),
  number: 1,
  trigger: "automatic",
  startedAt: now,
  durationMs: 1,
  outcome: "delivered",
  statusCode: 200,
  message: "so",
  url: "https://receiver.example/",
  address: null,
  timings: null,
  response: null,
  retryAfter: null
}

const failed = { outcome: "status", statusCode: 500 } as const

const paused = { workspace: id("ws", 1), webhook: id("whk", 1) }

const resumption = { workspaceId: paused.workspace, now }

const deliveries = (count: number, first: number, webhook: string, columns: string) =>
  `insert into wac.deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, order_key, sequence, status,
    attempt_count, round_attempts, first_attempt_at, last_attempt_at, next_attempt_at, created_at, completed_at)
  select ${sqlId("dlv", `${first} + i`)}, ${sqlId("ws", webhook)}, ${sqlId("whk", webhook)},
    ${sqlId("evt", `i % ${events} + 1`)}, 'message.sent', 'combined', ${sqlId("msg", `${first} + i`)}, 1, ${columns}
  from generate_series(1, ${count}) i`

const fill = [
  `insert into wac.workspaces (id, name, created_at) select ${sqlId("ws", "i")}, 'one of many', 0
  from generate_series(1, ${webhooks}) i`,
  `insert into wac.webhooks (id, workspace_id, url, envelope, event_types, created_at, updated_at, paused_at)
  select ${sqlId("whk", "i")}, ${sqlId("ws", "i")}, 'https://receiver.example/', 'combined', '{message.sent}', 0, 0,
    case when i = 1 then ${now - hour} end
  from generate_series(1, ${webhooks}) i`,
  "insert into wac.webhook_health (webhook_id, last_success_at, doubtful, slots) select id, 1, false, 16 from wac.webhooks",
  `insert into wac.webhook_skips (webhook_id, until, skipped_at, created_before)
  select ${sqlId("whk", "100000 + i")}, 9223372036854775807, 0, 9223372036854775807
  from generate_series(1, ${webhooks}) i`,
  `insert into wac.webhook_secrets (webhook_id, position, key_id, nonce, ciphertext)
  select id, 0, 'one', substr(sha256('nonce'), 1, 12), sha256('ciphertext') from wac.webhooks`,
  // the first workspace has every other event, of all types; campaign.completed is rare
  `insert into wac.events (id, workspace_id, type, created_at, order_key, sequence, data)
  select ${sqlId("evt", "i")}, ${sqlId("ws", `case when i % 2 = 0 then 1 else i % ${webhooks} + 1 end`)},
    case when i % 20000 = 0 then 'campaign.completed' else (array['message.sent', 'message.read'])[i % 4 / 2 + 1] end,
    ${now - hour} + i, ${sqlId("msg", "i")}, 1, '{"message_id":"one"}'
  from generate_series(1, ${events}) i`,
  deliveries(held, 1_000_000, "1", `'pending', 0, 0, null, null, ${now - hour}, ${now - hour} + i, null`),
  // each was retried three times, and they are due a minute apart
  deliveries(
    retrying * 800,
    2_000_000,
    `2 + i % ${retrying}`,
    `'pending', 3, 3, ${now - hour}, ${now - hour} + i, ${now} + i * 60, ${now - hour}, null`
  ),
  `insert into wac.attempts (delivery_id, number, id, workspace_id, trigger, started_at, duration_ms, outcome,
    status_code, message, url)
  select d.id, 3, ${sqlId("att", "row_number() over ()")}, d.workspace_id, 'automatic', 0, 1, 'status', 500, 'so', 'so'
  from wac.deliveries d where d.attempt_count = 3 limit 20000`,
  deliveries(60_000, 3_000_000, `2 + i % ${webhooks - 2}`, `'delivered', 1, 1, 1, 2, null, 0, 2`),
  deliveries(active * 50, 4_000_000, `${webhooks - active} + i % ${active}`, `'pending', 0, 0, null, null, i, i, null`),
  `update wac.webhook_health set ready_at = ${now} + 1000 where webhook_id in (
    select ${sqlId("whk", "i")} from generate_series(2, ${retrying + 1}) i)`,
  `update wac.webhook_health set ready_at = 0 where webhook_id in (
    select ${sqlId("whk", "i")} from generate_series(${webhooks - active}, ${webhooks - 1}) i)`
]

/** Tables that grow. */
const big = ["deliveries", "events", "attempts", "delivery_claims", "webhooks", "webhook_health", "webhook_skips"]

/** Asserts that a statement reads at most these numbers of rows, and never scans a growing table. */
const assertReads = (
  touched: (name: string) => Touched,
  most: { readonly [table: string]: number },
  whole: ReadonlyArray<string> = []
) => {
  for (const name of big) {
    const { read, scans } = touched(name)
    if (!whole.includes(name)) assert.strictEqual(scans, 0, `${name} was read from end to end`)
    assert.isAtMost(read, most[name] ?? 0, `rows of ${name}`)
  }
}

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly Plans?: ReadonlyArray<Plan>
}

/** The nodes of a statement's plan. */
const planOf = ({ params = [], text }: Statement) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const [row] = yield* client.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
      `explain (format json) ${text}`,
      params
    )
    const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]
    return nodes(row!["QUERY PLAN"][0]!.Plan)
  })

/** Asserts that a statement uses these indexes, and scans no growing table. */
const assertUses = (statement: Statement, indexes: ReadonlyArray<string>) =>
  Effect.map(planOf(statement), (nodes) => {
    const ends = nodes.filter((node) => node["Node Type"] === "Seq Scan" && big.includes(node["Relation Name"] ?? ""))
    assert.deepStrictEqual(ends.map((node) => node["Relation Name"]), [])
    const used = nodes.map((node) => node["Index Name"])
    for (const index of indexes) assert.include(used, index)
  })

const claim = (
  options: {
    readonly limit: number | { readonly healthy: number; readonly doubtful: number }
    readonly seen: number | null
    readonly at?: number
  }
) => {
  const { at = now, limit, seen } = options
  const most = typeof limit === "number" ? { healthy: limit, doubtful: limit } : limit
  return Effect.map(
    carryOutAll(
      claimDue({ now: at, limit: most, token: "mine", leaseUntil: at + 15 * second }, at, { seen, again: [] })
    ),
    foundOf
  )
}

const settled = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const [row] = yield* client.unsafe<{ readonly settled: number }>(
    `select ${EventPositions.settled}::double precision as settled`
  )
  return row!.settled
})

/** Writes skipped deliveries, in looks that are transactions of their own. */
const tidy = (limit: number) => carryOut(tidySkipped, [{ after: undefined, limit, asked: now }])

for (const { layer: database, name } of plannedDatabases) {
  const filled = Layer.effectDiscard(Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    // filling may take longer than the stores' statements
    yield* client.withTransaction(Effect.gen(function*() {
      yield* client`set local statement_timeout = 0`
      for (const statement of fill) yield* client.unsafe(statement)
    }))
    for (const table of [...big, "webhook_secrets"]) yield* client`vacuum (analyze) wac.${client(table)}`
  }))

  layer(filled.pipe(Layer.provideMerge(database)), { excludeTestServices: true })(
    name,
    (it) => {
      it.effect("a claim reads due deliveries of the webhooks whose turn it is, and nothing of a backlog", () =>
        Effect.gen(function*() {
          const seen = yield* settled
          const few = yield* touchedBy(claim({ limit: 10, seen }))
          assertReads(few, {
            deliveries: 10 * 4 + 10,
            events: 10,
            webhooks: 30,
            webhook_health: 60,
            delivery_claims: 0
          })
          assert.strictEqual(few("delivery_claims").written, 10)
          assert.strictEqual(few("deliveries").written, 0)
          const many = yield* touchedBy(claim({ limit: 256, seen }))
          assertReads(many, {
            deliveries: 256 + active * 10,
            events: 256,
            webhooks: 3 * active,
            webhook_health: 6 * active,
            delivery_claims: 0
          })
          assert.strictEqual(many("delivery_claims").written, 256)
          // no more webhooks than can fill it, with eight deliveries each
          const some = yield* touchedBy(claim({ limit: 64, seen }))
          assertReads(some, { deliveries: 64 + 8 * 10, events: 64, webhooks: 3 * 8, webhook_health: active + 6 * 8 })
          assert.deepStrictEqual([some("delivery_claims").written, some("webhook_health").written], [64, 8])
        }))

      it.effect("failing webhooks get one attempt each, and their waiting deliveries are not scanned", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          const at = now + hour
          // every retry is due; in the second case the gap since the last attempt is not over
          for (const [endedAt, attempts] of [[now, retrying], [at - 1, 0]] as const) {
            const undone = yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
              yield* client`update wac.webhook_health set consecutive_failures = 7, failures_since = 1, last_failure_at = 1,
                last_failure_message = 'so', last_attempt_at = ${endedAt}, ready_at = ${now}, doubtful = true, slots = 1,
                opens_at = ${endedAt + second}
                where ready_at = ${now + 1000}`
              const seen = yield* settled
              const before = yield* counters
              yield* claim({ limit: { healthy: 0, doubtful: 256 }, seen, at })
              const after = yield* counters
              const spent = (name: string, what: keyof Touched) =>
                (after.get(name) ?? nothing)[what] - (before.get(name) ?? nothing)[what]
              assert.strictEqual(spent("delivery_claims", "written"), attempts)
              assert.strictEqual(spent("deliveries", "scans"), 0)
              assert.isAtMost(spent("deliveries", "read"), 6 * retrying)
              return yield* Effect.fail("undone" as const)
            })))
            assert.strictEqual(undone, "undone")
          }
        }))

      it.effect("a webhook that joins a long line has its turn with the next claim", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          const comer = String(webhooks - active - 1)
          const undone = yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
            const seen = yield* settled
            yield* client`update wac.webhook_health set ready_at = 10 * right(webhook_id, 4)::int where ready_at = 0`
            yield* claim({ limit: 64, seen })
            yield* client.unsafe(
              deliveries(1, 6_000_000, comer, `'pending', 0, 0, null, null, ${now}, ${now}, null`)
            )
            yield* claim({ limit: 64, seen })
            const [row] = yield* client<{ readonly count: number }>`
              select count(*)::int as count from wac.delivery_claims where webhook_id = ${id("whk", comer)}`
            assert.strictEqual(row!.count, 1)
            return yield* Effect.fail("undone" as const)
          })))
          assert.strictEqual(undone, "undone")
        }))

      it.effect("a claim that finds nothing reads almost nothing", () =>
        Effect.gen(function*() {
          const seen = yield* settled
          const tables = yield* touchedBy(claim({ limit: 256, seen, at: -second }))
          assertReads(tables, { webhook_health: 2 })
        }))

      it.effect("a claimer's first look reads only the heads of the queues", () =>
        Effect.gen(function*() {
          // so does a look after which a great many may have appeared
          for (const seen of [null, 0]) {
            const tables = yield* touchedBy(claim({ limit: 10, seen }))
            assertReads(
              tables,
              { deliveries: webhooks + 100, events: 10, webhooks: webhooks + 200, webhook_health: webhooks + 400 },
              ["webhook_health"]
            )
          }
        }))

      it.effect("completions and releases read and write only their own rows", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          const { claimed: { deliveries } } = yield* client.withTransaction(claim({ limit: 64, seen: yield* settled }))
          const own = deliveries.map(({ delivery }) => delivery)
          const ids = own.map(({ id }) => id)
          const webhooks = own.map(({ webhookId }) => webhookId)
          assert.strictEqual(ids.length, 64)
          const commands = ids.map((deliveryId, i): DeliveryStep.Complete => ({
            now,
            delivery: { ...claimed, id: deliveryId, webhookId: webhooks[i]!, orderKey: id("msg", i) },
            token: "mine",
            attempt: { ...attempt, id: id("att", i) },
            jitter: 0
          }))
          const records = commands.map((command) => ({ command, after: DeliveryStep.completeDirectly(command)!, now }))
          const completed = yield* touchedBy(
            carryOutAll(CompleteDirect.completeDirectly.write(records, (asked) => asked))
          )
          assertReads(completed, {
            // read, written, and searched for followers
            deliveries: 3 * 64,
            delivery_claims: 2 * 64,
            webhooks: 64,
            webhook_health: 4 * 64
          })
          assert.strictEqual(completed("deliveries").written, 64)
          assert.strictEqual(completed("attempts").written, 64)
          const failures = commands.map((command, i) =>
            i % 8 > 0 ? command : { ...command, attempt: { ...command.attempt, ...failed } }
          )
          const decided = yield* touchedBy(carryOut(Complete.complete, failures))
          assertReads(decided, {
            // loaded, with their orders, and written
            deliveries: 5 * 64,
            delivery_claims: 4 * 64,
            webhooks: 2 * 64,
            webhook_health: 4 * 64
          })
          assert.strictEqual(decided("deliveries").written, 64)
          assert.strictEqual(decided("attempts").written, 64)
          const released = yield* touchedBy(carryOutAll(release("mine", own)))
          assertReads(released, { deliveries: 64, delivery_claims: 2 * 64, webhooks: 64, webhook_health: 2 * 64 })
          assert.strictEqual(released("deliveries").written, 0)
          yield* client.withTransaction(carryOutAll(release("mine", own)))
        }))

      it.effect("pausing, resuming, removing or reading a webhook touches none of its deliveries", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          const pause = touchedBy(carryOut(WebhookStep.pause, [{ workspaceId: paused.workspace, now }]))
          const undone = yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
            yield* client`update wac.webhooks set paused_at = null where id = ${paused.webhook}`
            const done = yield* pause
            assertReads(done, { webhooks: 4, webhook_health: 1 })
            assert.deepStrictEqual([done("webhooks").written, done("deliveries").written], [1, 0])
            return yield* Effect.fail("undone" as const)
          })))
          assert.strictEqual(undone, "undone")
          const again = yield* pause
          assertReads(again, { webhooks: 4, webhook_health: 1 })
          assert.strictEqual(again("webhooks").written, 0)
          assertReads(yield* touched(WebhookStore.find({ workspaceId: paused.workspace })), {
            webhooks: 2,
            webhook_health: 1
          })
          // the newest delivery and the first replayed one are found by the times of recording
          const replays = [["all", 1], ["none", 1], [{ since: now - hour + held / 2 }, 10_001]] as const
          for (const [replay, deliveries] of replays) {
            const resumed = yield* touchedBy(carryOut(Resume.resume, [{ ...resumption, replay }]))
            assertReads(resumed, { webhooks: 8, webhook_health: 5, deliveries })
            assert.deepStrictEqual(
              [resumed("webhooks").written, resumed("webhook_health").written],
              [replay === "all" ? 1 : 2, 1]
            )
            assert.strictEqual(resumed("webhook_skips").written, replay === "all" ? 0 : 1)
            assert.strictEqual(resumed("deliveries").written, 0)
          }
          const removed = yield* touchedBy(carryOut(Remove.remove, [{ workspaceId: paused.workspace, now }]))
          assertReads(removed, { webhooks: 4, webhook_health: 4 })
          assert.strictEqual(removed("deliveries").written, 0)
        }))

      it.effect("a replay costs what it scans, whatever else waits for its webhook", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          const create = (n: number, webhook: typeof paused) =>
            carryOut(ReplayStep.create, [{
              id: id("job", n),
              workspaceId: webhook.workspace,
              since: 0,
              until: now,
              status: null,
              now
            }])
          const cancel = (n: number, webhook: typeof paused) =>
            client.withTransaction(
              carryOut(ReplayStep.cancel, [{ workspaceId: webhook.workspace, id: id("job", n), now }])
            )
          // pending deliveries of this webhook are not scanned
          assertReads(yield* touchedBy(create(1, paused)), { webhooks: 1 })
          const step = touchedBy(carryOut(ReplayStep.step, [{ now, limit: 500, asked: now }]))
          assertReads(yield* step, {})
          yield* client.withTransaction(create(1, paused))
          assertReads(yield* step, { webhooks: 2, webhook_health: 2 })
          yield* cancel(1, paused)

          // 15 or 16 deliveries of this webhook have ended
          const own = { workspace: id("ws", 900), webhook: id("whk", 900) }
          yield* client.withTransaction(create(2, own))
          const replayed = yield* step
          assertReads(replayed, { deliveries: 3 * 16 + 2, webhooks: 2, webhook_health: 2 })
          assert.isAtLeast(replayed("deliveries").written, 15)
          yield* cancel(2, own)

          // 800 retries of this webhook that no replay began are not counted
          const retries = { workspace: id("ws", 2), webhook: id("whk", 2) }
          yield* client.withTransaction(create(3, retries))
          assertReads(yield* step, { deliveries: 3 * 16 + 2, webhooks: 2, webhook_health: 2 })
          yield* cancel(3, retries)
        }))

      it.effect("a manual retry reads and writes only its own row", () =>
        Effect.gen(function*() {
          const retried = yield* touchedBy(
            carryOut(Rounds.retry, [{ workspaceId: paused.workspace, id: id("dlv", 1_000_500), now }])
          )
          // the delivery, the first of its order twice, and the delivery once more
          assertReads(retried, { webhooks: 4, webhook_health: 3, deliveries: 4 })
          assert.strictEqual(retried("deliveries").written, 1)
        }))

      /**
       * Runs a step after the webhook with the backlog was resumed, while its skipped deliveries are still to be
       * written.
       */
      const resumedFirst = <A, E, R>(replay: "all" | "none", step: Effect.Effect<A, E, R>) =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          let result: Option.Option<A> = Option.none()
          yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
            yield* carryOut(Resume.resume, [{ ...resumption, replay }])
            result = Option.some(yield* step)
            return yield* Effect.fail("undone" as const)
          })))
          return Option.getOrThrow(result)
        })

      it.effect("a claim of a resumed webhook reads what it takes, whatever is held or skipped", () =>
        Effect.gen(function*() {
          const seen = yield* settled
          const client = yield* PgClient.PgClient
          for (const [replay, reads] of [["all", 100], ["none", 100]] as const) {
            const read = yield* resumedFirst(
              replay,
              Effect.gen(function*() {
                yield* client`update wac.webhook_health set ready_at = null where webhook_id <> ${paused.webhook}`
                const before = yield* counters
                yield* claim({ limit: 16, seen, at: now + second })
                const after = yield* counters
                return (after.get("deliveries") ?? nothing).read - (before.get("deliveries") ?? nothing).read
              })
            )
            assert.isAtMost(read, reads)
          }
        }))

      it.effect("tidying writes one batch, and reads no more", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          yield* resumedFirst(
            "none",
            Effect.gen(function*() {
              yield* client`delete from wac.webhook_skips where webhook_id <> ${paused.webhook}`
              for (let i = 0; i < 3; i++) {
                const before = (yield* counters).get("deliveries") ?? nothing
                yield* tidy(500)
                const after = (yield* counters).get("deliveries") ?? nothing
                assert.strictEqual(after.written - before.written, 500)
                assert.isAtMost(after.read - before.read, 3 * 500 + 3 * 500)
              }
            })
          )
        }))

      it.effect("a webhook's state is counted from the index alone", () =>
        Effect.gen(function*() {
          yield* assertUses(WebhookStore.get({ workspaceId: paused.workspace }), [
            "webhooks_workspace_id_key",
            "deliveries_open",
            "deliveries_tried"
          ])
          const tables = yield* touched(WebhookStore.get({ workspaceId: id("ws", 2) as Id.WorkspaceId }))
          assertReads(tables, { webhooks: 4, webhook_health: 4, deliveries: 2 })
        }))

      const lists: ReadonlyArray<readonly [Delivery.DeliveryStatus | undefined, string, number, string]> = [
        [undefined, paused.workspace, 26, "deliveries_pkey"],
        ["held", paused.workspace, 26, "deliveries_open"],
        ["pending", paused.workspace, 0, "deliveries_open"],
        ["pending", id("ws", 2), 26, "deliveries_open"],
        ["held", id("ws", 2), 0, "deliveries_open"],
        ["exhausted", paused.workspace, 0, "deliveries_exhausted"]
      ]
      it.effect.each(lists)(
        "deliveries are listed by status %s (%s) through their index",
        ([status, own, rows, index]) =>
          Effect.gen(function*() {
            const page = (after: string | null) =>
              ListDeliveries.listDeliveries(own as Id.WorkspaceId, status === undefined ? {} : { status }, {
                limit: 25,
                after
              }, undefined)
            yield* assertUses(page(null), [index])
            yield* assertUses(page(id("dlv", 2_000_500)), [index])
            assertReads(yield* touched(page(null)), {
              deliveries: rows,
              webhooks: 27,
              webhook_skips: 26,
              events: rows,
              attempts: 26
            })
          })
      )

      const listed = (filter: DeliveryStore.DeliveryFilter, after: string | null = null) =>
        ListDeliveries.listDeliveries(paused.workspace, filter, { limit: 25, after }, undefined)

      it.effect("a page of skipped deliveries reads only these, however many others the workspace has", () =>
        Effect.gen(function*() {
          const filters = [{}, { eventType: "message.read" }, { since: now }] as const
          const reads = (filter: DeliveryStore.DeliveryFilter, after?: string) =>
            Effect.map(touched(listed({ status: "skipped", ...filter }, after)), (tables) => {
              assert.strictEqual(tables("deliveries").scans, 0)
              return tables("deliveries").read
            })
          for (const filter of filters) assert.strictEqual(yield* reads(filter), 0)
          // what a resume skipped and is not written yet, whose last one proves the workspace
          yield* resumedFirst(
            "none",
            Effect.gen(function*() {
              assert.isAtMost(yield* reads({}), 26 + 1)
              // and the cursor's own, once for each part
              assert.isAtMost(yield* reads({}, id("dlv", 1_050_000)), 26 + 3)
              assert.isAtMost(yield* reads({ since: now, until: now + hour }), 1)
              assert.isAtMost(yield* reads({ eventType: "message.read" }), Page.maxScanned + 1)
            })
          )
        }))

      it.effect("a page of delivered deliveries ends after a bounded scan", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          for (const filter of [{}, { eventType: "message.read" }] as const) {
            const statement = listed({ status: "delivered", ...filter })
            // to the end of the scan, and for its place
            assert.isAtMost((yield* touched(statement))("deliveries").read, 2 * Page.maxScanned)
            const rows = yield* client.unsafe<Row>(statement.text, statement.params)
            assert.deepStrictEqual(ListDeliveries.pageOf(rows, { limit: 25, after: null }), {
              items: [],
              next: id("dlv", 1_000_000 + held + 1 - Page.maxScanned)
            })
          }
        }))

      const list = (
        { after = null, place = null, since = null, types = Event.EventType.literals }: {
          readonly after?: string | null
          readonly place?: string | null
          readonly since?: number | null
          readonly types?: ReadonlyArray<Event.EventType>
        }
      ) =>
        touchedBy(
          carryOutAll(
            listEvents({ workspaceId: paused.workspace, after, place, since, types, limit: 26, until: null })
          )
        )

      it.effect("a page of events costs a page, from any position and of a rare type", () =>
        Effect.gen(function*() {
          const after = id("evt", events / 2)
          assertReads(yield* list({}), { events: 3 * 26 })
          assertReads(yield* list({ after }), { events: 3 * 26 + 1 })
          assertReads(yield* list({ types: ["campaign.completed"] }), { events: 2 })
          assertReads(yield* list({ types: ["campaign.completed"], after }), { events: 2 })
          assertReads(yield* list({ types: ["webhook.test"] }), { events: 0 })
          // the event was deleted since, and its place is known
          assertReads(yield* list({ after: id("evt", events + 1), place: "0" }), { events: 3 * 26 })
        }))

      it.effect("the newest events cost a page too", () =>
        Effect.gen(function*() {
          const latest = (after: string | null, types: ReadonlyArray<Event.EventType>, until: number | null = null) =>
            touched(EventStore.latest({
              workspaceId: paused.workspace,
              after,
              start: after === null ? null : now - 3 * hour,
              since: null,
              types,
              limit: 26,
              until
            }))
          const { literals } = Event.EventType
          assertReads(yield* latest(null, literals), { events: 3 * 26 })
          assertReads(yield* latest(id("evt", events / 2), literals), { events: 3 * 26 + 1 })
          // the cursor's event was deleted: the page ends where its time does
          assertReads(yield* latest(id("evt", events + 1), literals), { events: 1 })
          assertReads(yield* latest(null, ["campaign.completed"]), { events: 2 })
          assertReads(yield* latest(null, ["webhook.test"]), { events: 0 })
          // the time's own bound is one event more
          assertReads(yield* latest(null, literals, now + 24 * hour), { events: 3 * 26 })
          assertReads(yield* latest(null, literals, now - 3 * hour), { events: 1 })
        }))

      it.effect("a claim reads no more if the statistics date from when nothing was pending", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          const undone = yield* Effect.flip(client.withTransaction(Effect.gen(function*() {
            yield* client`set local statement_timeout = 0`
            const seen = yield* settled
            yield* client`delete from wac.deliveries where status = 'pending'`
            yield* client`analyze wac.deliveries`
            yield* client.unsafe(
              deliveries(
                active * 50,
                5_000_000,
                `${webhooks - active} + i % ${active}`,
                "'pending', 0, 0, null, null, i, i, null"
              )
            )
            const before = (yield* counters).get("deliveries") ?? nothing
            yield* claim({ limit: 2 * active, seen: seen + 1_000_000 })
            const after = (yield* counters).get("deliveries") ?? nothing
            assert.isAtMost(after.read - before.read, 2 * active * 3)
            return yield* Effect.fail("undone" as const)
          })))
          assert.strictEqual(undone, "undone")
          yield* client`vacuum (analyze) wac.deliveries`
        }))

      it.effect("events since a time are found without scanning all earlier ones", () =>
        Effect.gen(function*() {
          const client = yield* PgClient.PgClient
          const later = now + 10 * hour
          yield* client.unsafe(
            `insert into wac.events (id, workspace_id, type, created_at, data)
          select ${sqlId("evt", "900000 + i")}, $1, 'message.sent', $2::bigint + i * 60000, '{}'
          from generate_series(1, 600) i`,
            [paused.workspace, later]
          )
          assertReads(yield* list({ since: later + 5 * hour }), { events: 60 + 26 + 2 })
          assertReads(yield* list({ since: later + 5 * hour, after: id("evt", 900_400) }), { events: 26 + 2 })
        }))
    }
  )
}
