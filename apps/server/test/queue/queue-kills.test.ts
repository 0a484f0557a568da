/**
 * Queued messages over three processes, one of which is killed every two seconds, and PostgreSQL once; in the full form
 * the primary of a cluster twice: each is accepted by the simulated Cloud API once or named as unknown, none before its
 * time, and none after a cancel that succeeded (contract §15).
 */
import { assert, it } from "@effect/vitest"
import { QueueWorkStep } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import * as PatroniCluster from "@wac/testbed/PatroniCluster"
import * as Program from "@wac/testbed/Program"
import { Effect, Fiber, type Scope } from "effect"
import * as checks from "../checks.ts"
import { cluster as clusterOf } from "../cluster.ts"
import { type call } from "../harness.ts"
import { freshDatabase, ownPostgres, sql } from "../processes.ts"
import { supervised } from "../supervisor.ts"
import { processesOn } from "../whatsapp/whatsapp-processes.ts"

const messages = Extent.of(600, 100_000)

/** Messages due in a second: fewer than the queue's part of the tier, so that it can keep up between two deaths. */
const perSecond = Extent.of(40, 80)

/** One message of so many is cancelled when it is due, more or less. */
const cancelEvery = Extent.of(5, 10)

/** The most in a batch. */
const batch = 500

/** Reports come in posts of many, as from an upstream under load. */
const reports = { sentAfter: null, readAfter: null, batchMost: 200, batchLinger: 100, lanes: 4 } as const

interface Storage {
  readonly database: string
  /** Each kills PostgreSQL, and ends when it runs again or another member of its cluster takes over. */
  readonly crashes: ReadonlyArray<Effect.Effect<unknown>>
}

const alone = Effect.gen(function*() {
  const { crash, start, url } = yield* ownPostgres
  return { database: yield* freshDatabase(url), crashes: [Effect.andThen(crash, start)] } satisfies Storage
})

const ofCluster = Effect.map(clusterOf(3), ({ crash, proxied, whole }): Storage => {
  const failover = Effect.map(Effect.promise(whole), crash)
  return { database: proxied, crashes: [failover, failover] }
})

const [storage, needed] = Extent.of<readonly [Effect.Effect<Storage, never, Scope.Scope>, object]>(
  [alone, {}],
  [
    ofCluster,
    Program.needed({
      programs: PatroniCluster.programs,
      untested: "failovers beside a queue",
      install: "apt-get install postgresql patroni etcd-server haproxy"
    })
  ]
)

const customer = (n: number) => `+49151${10_000_000 + n}`

it.live(
  "kill -9 beside a queue sends no message twice, none early, and none that was cancelled",
  () =>
    Effect.gen(function*() {
      const { crashes, database } = yield* storage
      const { api, key, pass, start } = yield* processesOn(database, reports)
      yield* Effect.orDie(api.changeNumber(api.identity.numbers[0].id, { throughput: { level: "HIGH" } }))
      // the wire breaks beside what the kills lose
      yield* api.fault({ random: { rate: 0.005 } })
      const processes = yield* supervised(start({ WAC_LIMITS: "{}" }))
      const calm = yield* processes.unsettle
      const ask = (path: string, options: Parameters<typeof call>[1] = {}) =>
        processes.ask(
          `/v1/messages${path}`,
          { ...options, headers: { authorization: `Bearer ${key.apiKey}`, ...options?.headers } },
          ({ status }) => status < 500 && status !== 429
        )

      const firstAt = checks.now() + 3000
      const all = Array.from({ length: messages }, (_, n) => ({
        to: customer(n),
        // beside each other, a second at a time
        sendAt: firstAt + Math.floor(n / perSecond) * 1000
      }))
      /** The ids of the messages, which are queued while processes die. */
      const ids: Array<string> = []
      /** Whether each message that somebody tried to cancel was cancelled. */
      const cancelled = new Map<number, boolean>()
      const cancel = Effect.fnUntraced(function*(n: number) {
        // from a second before it is due to a second after
        const at = all[n]!.sendAt - 1000 + (n * 7919) % 2000
        yield* Effect.sleep(Math.max(0, at - checks.now()))
        const { body, status, text } = yield* ask(`/${ids[n]}`, { method: "DELETE" })
        assert.include([200, 403], status, text)
        if (status === 200) assert.strictEqual(body.status, "cancelled")
        else assert.include(["already_sent", "not_queued"], body.error.reason)
        cancelled.set(n, status === 200)
      })
      const cancelling: Array<Fiber.Fiber<void>> = []
      for (let from = 0; from < messages; from += batch) {
        const queued = Array.from({ length: Math.min(batch, messages - from) }, (_, i) => from + i)
        // what is refused for the moment is repeated under its own key, in another batch
        let left = queued
        for (let turn = 0; left.length > 0; turn++) {
          const items = left.map((n) => ({
            idempotency_key: `queued-${n}`,
            to: all[n]!.to,
            type: "template",
            template: { name: "hello_world", language: "en_US" },
            send_at: new Date(all[n]!.sendAt).toISOString()
          }))
          const { body, status, text } = yield* ask("/batch", {
            headers: { "idempotency-key": `batch-${from}-${turn}` },
            body: { messages: items }
          })
          assert.strictEqual(status, 200, text)
          left = left.filter((n, i) => {
            const result = body.results[i]
            if (result.status === "queued") ids[n] = result.message_id
            else {
              assert.strictEqual(result.status, "refused")
              assert.include([503, 504], result.http_status)
            }
            return result.status !== "queued"
          })
        }
        for (const n of queued) if (n % cancelEvery === 0) cancelling.push(yield* Effect.forkScoped(cancel(n)))
      }
      assert.lengthOf(new Set(ids), messages)

      const waiting = Effect.map(
        Effect.retry(
          sql<{ readonly waiting: number }>(
            database,
            "select count(*)::integer as waiting from wac.messages where status in ('queued', 'sending')"
          ).pipe(Effect.sandbox),
          { times: 20 }
        ),
        ([row]) => row!.waiting
      ).pipe(Effect.orDie)
      const untilTried = (count: number) =>
        checks.until(Effect.delay(waiting, "500 millis"), (left) => left <= messages - count)
      for (const [n, crash] of crashes.entries()) {
        yield* untilTried(messages * (n + 1) * 0.4 / crashes.length)
        yield* crash
      }
      yield* untilTried(messages * Extent.of(0.6, 0.95))
      const killed = yield* calm
      yield* Fiber.joinAll(cancelling)
      yield* Effect.sleep(Math.max(0, all.at(-1)!.sendAt - checks.now()))
      for (let left = messages; left > 0;) {
        const now = yield* waiting
        // the claims of the dead end, and others learn what came of them
        if (now === left) {
          yield* Effect.forEach(processes.alive, (process) => pass(QueueWorkStep.lease, process), { discard: true })
        }
        left = now
        yield* Effect.sleep("2 seconds")
      }

      const look = Effect.gen(function*() {
        const rows = yield* sql<{ readonly id: string; readonly status: string; readonly reason: string | null }>(
          database,
          "select id, status, error ->> 'reason' as reason from wac.messages order by id"
        )
        // last, since upstream accepts some calls late, and what is delivered was accepted before
        const tallies = yield* api.recipients
        const accepted = new Set([...tallies].flatMap(([to, tally]) => tally.accepted > 0 ? [to] : []))
        return { rows, tallies, accepted }
      })
      // the provider's reports name what answers did not
      const { accepted, rows, tallies } = yield* checks.until(
        look,
        ({ accepted, rows }) => rows.filter(({ status }) => status === "delivered").length >= accepted.size
      )
      assert.deepStrictEqual([...tallies].filter(([, { accepted, repeated }]) => accepted > 1 || repeated > 0), [])
      const found = new Map(rows.map((row) => [row.id, row]))
      all.forEach(({ to }, n) => {
        const { reason, status } = found.get(ids[n]!)!
        const outcome = reason === null ? status : `${status} ${reason}`
        if (cancelled.get(n) === true) {
          assert.strictEqual(outcome, "cancelled")
          assert.isFalse(tallies.has(to), `${to} was cancelled and sent`)
        } else if (accepted.has(to)) assert.strictEqual(outcome, "delivered")
        // after 10 minutes without a report, an unknown outcome is a failure
        else assert.include(["unknown", "failed delivery_unknown"], outcome)
      })
      const dueAt = new Map(all.map(({ sendAt, to }) => [to, sendAt]))
      for (const { at, to } of yield* api.arrivals) assert.isAtLeast(at, dueAt.get(to!)!, `${to} was sent early`)
      assert.isAtLeast(killed, Extent.of(3, 100))
      assert.isAbove([...cancelled.values()].filter((is) => is).length, 0)
      assert.isAbove([...cancelled.values()].filter((is) => !is).length, 0)
    }).pipe(Effect.scoped),
  { ...needed, timeout: Extent.of(600_000, 5_400_000) }
)
