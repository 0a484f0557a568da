/**
 * A replay job whose process is killed, again and again, while it works at a step: the next one goes on where the last
 * step that took effect had come to. Every event of the range comes once more, and the job's count is right.
 */
import { assert, describe, it } from "@effect/vitest"
import { AttemptSlots, DeliveryAttempt, Id, Time } from "@wac/core"
import { Duration, Effect, Latch } from "effect"
import * as checks from "../checks.ts"
import { call, hello, receiver, send, setWebhook } from "../harness.ts"
import { kill, masterKey, proxied, signedIn, sql, startSteered } from "../processes.ts"
import { upstream } from "../upstream.ts"

/** Of the range: more than a job may have waiting at once, so that it takes many steps. */
const events = 2000

/** From where on processes are killed: by then a step takes what the receiver has made room for, a hundred a second. */
const begun = 1000

/** How far the step gets at which each process is killed. */
const points = ["executed", "committed", "sent"] as const

const hour = Duration.toMillis("1 hour")

/** What identifiers of that time begin with: they are kept by the time in them. */
const idOf = (prefix: "evt" | "dlv", at: number): string => Id.lowestAt(prefix, at).slice(0, -16)

/** Copies an event and its delivery, which has ended, so many times, one a millisecond from `since` on. */
const copies = (eventId: string, since: number) => [
  `insert into wac.events (id, workspace_id, type, created_at, data)
    select '${idOf("evt", since)}' || lpad(n::text, 16, '0'), workspace_id, type, ${since} + n, data
    from wac.events, generate_series(1, ${events}) n where id = '${eventId}'`,
  `insert into wac.deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, status, attempt_count,
      round_attempts, first_attempt_at, last_attempt_at, created_at, completed_at)
    select '${idOf("dlv", since)}' || lpad(n::text, 16, '0'), workspace_id, webhook_id, '${
    idOf("evt", since)
  }' || lpad(n::text, 16, '0'), event_type,
      envelope, status, attempt_count, round_attempts, first_attempt_at, last_attempt_at, ${since} + n, completed_at
    from wac.deliveries, generate_series(1, ${events}) n where event_id = '${eventId}'`
]

describe("a replay job", () => {
  it.live(
    `a replay job finishes even if ${points.length} processes are killed while they run it`,
    () =>
      Effect.gen(function*() {
        const { database, proxy } = yield* proxied
        const provider = yield* upstream
        const env = { DATABASE_URL: proxy.url, WAC_MASTER_KEY: masterKey() }
        let ahead = 0
        const start = Effect.suspend(() => startSteered(env, provider.url, ahead))

        let process = yield* start
        const { key, session } = yield* signedIn(process)
        const customer = yield* receiver
        /** Answers wait while it is closed. */
        const gate = yield* Latch.make(true)
        yield* customer.answerWith({ _tag: "Reply", status: 200, after: gate.await })
        yield* setWebhook({ url: process.url, session }, { url: customer.url })
        yield* send({ url: process.url, key }, hello())
        const [first] = yield* customer.take(1)
        const ask = (path: string, method = "GET", body?: unknown) =>
          call(`${process.url}/internal/webhook${path}`, { method, headers: session, body })
        yield* checks.until(ask("/deliveries?status=delivered"), ({ body }) => body.data.length === 1)
        const since = checks.now() - hour
        for (const statement of copies(first!.event.id, since)) yield* sql(database, statement)

        const range = { since: Time.iso(since), until: Time.iso(since + hour / 2) }
        const { body: job } = yield* ask("/replays", "POST", range)
        assert.deepStrictEqual([job.state, job.total, job.replayed], ["running", events, 0])
        const progress = Effect.suspend(() => Effect.map(ask(`/replays/${job.id}`), ({ body }) => body))
        let { replayed } = yield* checks.until(progress, (body) => body.replayed >= begun)
        for (const point of points) {
          const reached = proxy.stopAt("update wac.replays r set", point)
          yield* gate.open
          yield* Effect.promise(() => reached)
          yield* gate.close
          yield* kill(process)
          // what it had on its way is made again: its lease has ended by the next one's clock
          ahead += Duration.toMillis(DeliveryAttempt.lease)
          process = yield* start
          const { replayed: after, state } = yield* progress
          assert.strictEqual(state, "running")
          assert.isAtLeast(after, replayed)
          assert.isBelow(after, events)
          replayed = after
        }
        yield* gate.open

        const done = yield* checks.until(progress, ({ state }) => state === "completed")
        assert.deepStrictEqual([done.total, done.replayed], [events, events])
        yield* checks.until(ask("/deliveries?status=pending"), ({ body }) => body.data.length === 0)
        const arrivals = new Map<string, number>()
        for (const { headers } of yield* customer.requests) {
          const id = headers["webhook-id"]!
          arrivals.set(id, (arrivals.get(id) ?? 0) + 1)
        }
        // the one that was copied was not in the range
        assert.strictEqual(arrivals.get(first!.event.id), 1)
        assert.strictEqual(arrivals.size, 1 + events)
        const repeated = [...arrivals.values()].reduce((sum, count) => sum + count - 1, 0)
        assert.isAtMost(repeated, points.length * AttemptSlots.maxDraining)
        assert.isAtMost(Math.max(...arrivals.values()), 1 + points.length)
      }).pipe(Effect.scoped)
  )
})
