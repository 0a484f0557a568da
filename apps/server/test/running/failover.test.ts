/**
 * Failovers of a PostgreSQL cluster under load: Patroni, etcd and HAProxy with the files of `deploy/`, and two server
 * processes, one by PgBouncer and HAProxy and one by a URL with every host.
 */
import { assert, describe, it } from "@effect/vitest"
import { CloudApi } from "@wac/simulator"
import * as Extent from "@wac/testbed/Extent"
import * as PatroniCluster from "@wac/testbed/PatroniCluster"
import * as PgBouncer from "@wac/testbed/PgBouncer"
import * as Program from "@wac/testbed/Program"
import { Duration, Effect, Exit, Fiber } from "effect"
import * as checks from "../checks.ts"
import { cluster as clusterOf } from "../cluster.ts"
import { call, send } from "../harness.ts"
import { type Listening, masterKey, signedIn, sql, start, withKey } from "../processes.ts"
import { generous, path, template } from "../whatsapp/whatsapp.ts"

const failovers = Extent.of(1, 20)

/** New sends in a second, each with a key and a recipient of its own. */
const rate = Extent.of(50, 200)

/** The members of the cluster: one standby, or a further one that takes its place when it has become the primary. */
const members = Extent.of(2, 3)

/** How long the load goes on after both processes are back. */
const calm = Extent.of("1 second", "3 seconds")

/** How long upstream's reports may take after the load (milliseconds). A send that is unknown then was not sent. */
const reporting = Extent.of(2000, 10_000)

/** The most sends that are not acknowledged yet; clients then wait with new ones. */
const most = 1000

/** Of upstream's reports there is one for each message, soon. */
const lives = { sentAfter: null, deliveredAfter: 500, readAfter: null, batchMost: 100, retryAfter: [500] } as const

const needed = Program.needed({
  programs: [...PatroniCluster.programs, ...PgBouncer.programs],
  untested: "failovers of PostgreSQL under Patroni",
  install: "apt-get install postgresql patroni etcd-server haproxy pgbouncer"
})

/** What a client knows of a send. */
interface Sent {
  readonly key: string
  readonly to: string
  /** The messages that responses of 200 named. */
  readonly acknowledged: Set<string>
}

const served = Effect.gen(function*() {
  const cluster = yield* clusterOf(members)
  const pooler = yield* Effect.acquireRelease(
    Effect.promise(() => PgBouncer.start(cluster.proxied)),
    (pooler) => Effect.promise(pooler.stop)
  )
  const api = yield* Effect.orDie(CloudApi.make({ settings: { ...generous, ...lives } }))
  const env = { ...api.environment, WAC_MASTER_KEY: masterKey() }
  const processes = yield* Effect.all([
    start({ ...env, DATABASE_URL: pooler.url, DATABASE_LISTEN_URL: cluster.proxied }),
    start({ ...env, DATABASE_URL: cluster.hosts })
  ], { concurrency: 2 })
  for (const commands of cluster.ways) {
    assert.include(
      yield* cluster.follow(commands, env, [["127.0.0.1:6432", new URL(pooler.url).host]]),
      "ok     database"
    )
  }
  const { problem } = yield* api.courier.subscribe(processes[1].url + path, api.identity.verifyToken)
  assert.isUndefined(problem)
  return { api, cluster, processes, ...(yield* signedIn(processes[0])) }
})

/** Sends at the rate from now on, whatever becomes of the sends; each is repeated until it is acknowledged. */
const sending = Effect.fnUntraced(function*(processes: ReadonlyArray<Listening>, key: { readonly apiKey: string }) {
  const all: Array<Sent> = []
  const successes = new Map<Listening, number>()
  const end = { at: Infinity }
  let open = 0
  const one = (sent: Sent, first: number): Effect.Effect<void> =>
    Effect.gen(function*() {
      for (let attempt = first;; attempt++) {
        const process = processes[attempt % processes.length]!
        const begun = performance.now()
        const exit = yield* Effect.exit(send({ url: process.url, key }, template(sent.to), withKey(sent.key)))
        if (Exit.isFailure(exit)) {
          // an idle connection that the server closed just then
          yield* Effect.sleep("1 second")
          continue
        }
        const answer = exit.value
        if (answer.status === 200) {
          sent.acknowledged.add(answer.body.message_id)
          successes.set(process, begun)
          open--
          return
        }
        assert.oneOf(answer.status, [502, 503, 504], answer.text)
        if (answer.status === 504 && performance.now() > end.at + reporting) return
        yield* Effect.sleep(Duration.seconds(Number(answer.headers.get("retry-after") ?? 1)))
      }
    })
  const begun = performance.now()
  const load = yield* Effect.forkChild(
    Effect.scoped(Effect.gen(function*() {
      const fibers: Array<Fiber.Fiber<void>> = []
      while (end.at === Infinity) {
        while (all.length < (performance.now() - begun) / 1000 * rate && open < most) {
          open++
          const sent = {
            key: crypto.randomUUID(),
            to: `+1202${5_000_000 + all.length}`,
            acknowledged: new Set<string>()
          }
          fibers.push(yield* Effect.forkScoped(one(sent, all.length)))
          all.push(sent)
        }
        yield* Effect.sleep("10 millis")
      }
      yield* Effect.forEach(fibers, Fiber.join, { discard: true })
    })),
    { startImmediately: true }
  )
  return {
    /**
     * Suspends until each process has acknowledged a send that began after this moment; gives how long the last took.
     */
    back: Effect.suspend(() => {
      const from = performance.now()
      return Effect.map(
        checks.until(
          Effect.sync(() => processes.every((process) => (successes.get(process) ?? 0) > from)),
          (isBack) => isBack
        ),
        () => performance.now() - from
      )
    }),
    end: Effect.suspend(() => {
      end.at = performance.now()
      return Effect.as(Fiber.join(load), all)
    })
  }
})

const median = (values: ReadonlyArray<number>) => values.toSorted((one, other) => one - other)[values.length >> 1]!

describe("a PostgreSQL cluster", needed, () => {
  it.live(
    "when the primary is killed under load, no acknowledged send is lost or repeated, and sends resume",
    () =>
      Effect.gen(function*() {
        const { api, cluster, key, processes } = yield* served
        const customers = new Map<string, Set<string>>()
        const note = Effect.map(api.calls, (calls) => {
          for (const { processed, to, wamid } of calls) {
            if (!processed) continue
            customers.set(to!, (customers.get(to!) ?? new Set()).add(wamid!))
          }
        })
        const begun = performance.now()
        const { back, end } = yield* sending(processes, key)
        yield* back
        const outages: Array<number> = []
        for (let failover = 0; failover < failovers; failover++) {
          const primary = yield* Effect.promise(cluster.whole)
          cluster.crash(primary)
          outages.push(yield* back)
          yield* Effect.sleep(calm)
          yield* note
        }
        const seconds = (performance.now() - begun) / 1000
        const all = yield* end
        yield* note

        const rows = yield* sql<{ readonly id: string; readonly key: string; readonly status: string }>(
          cluster.proxied,
          "select id, key, status from wac.messages"
        )
        const byId = new Map(rows.map((row) => [row.id, row]))
        const acknowledged = all.filter((sent) => sent.acknowledged.size > 0)
        for (const sent of acknowledged) {
          assert.strictEqual(sent.acknowledged.size, 1, "the key is bound to one message")
          const [id] = sent.acknowledged
          const row = byId.get(id!)
          assert.strictEqual(row?.key, sent.key, "the acknowledged message is there")
          assert.oneOf(row?.status, ["sent", "delivered"])
          assert.strictEqual(yield* api.processed(id!), 1)
        }
        // acknowledged or not, no customer has a message twice, and each message is known
        for (const { to } of all) assert.isAtMost(customers.get(to)?.size ?? 0, 1, to)
        for (const [id, times] of yield* api.allProcessed) {
          assert.strictEqual(times, 1)
          assert.isTrue(byId.has(id), `${id} was sent, and is not known`)
        }
        for (const { child, url } of processes) {
          assert.isNull(child.exitCode)
          assert.strictEqual((yield* call(`${url}/readyz`)).status, 200)
        }
        process.stdout.write(
          `${failovers} failovers, ${all.length} sends (${Math.round(all.length / seconds)}/s), ` +
            `${all.length - acknowledged.length} of them with an unknown outcome; ` +
            `outage: median ${Math.round(median(outages))} ms, longest ${Math.round(Math.max(...outages))} ms\n`
        )
      }).pipe(Effect.scoped),
    20 * 60_000
  )
})
