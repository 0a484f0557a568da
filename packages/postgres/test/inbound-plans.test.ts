/**
 * What the statements of inbound posts cost on a filled database: as many rows as they return, whatever else is stored.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { InboundPostStep } from "@wac/core"
import { Effect, Layer } from "effect"
import { claimPosts } from "../src/inbound/ClaimPosts.ts"
import * as EndPosts from "../src/inbound/EndPosts.ts"
import { keep } from "../src/inbound/KeepPost.ts"
import { backlog } from "../src/inbound/PostBacklog.ts"
import { retryUnreadable } from "../src/inbound/RetryUnreadable.ts"
import { sweepPosts } from "../src/inbound/SweepPosts.ts"
import { carryOutAll } from "./carryOut.ts"
import { plannedDatabases } from "./servers.ts"
import { touchedBy } from "./touched.ts"

const hour = 3_600_000

/** The time of the queries. */
const now = 1000 * hour

const digest = (n: string) => `sha256((${n})::text::bytea)`

/** A week of processed posts, a backlog, and a few that fail or are unreadable. */
const fill = [
  `insert into wac.inbound_posts (provider, digest, size, received_at, due_at, tries, problem, expires_at)
  select 'whatsapp', ${digest("i")}, 20, ${now} - i * 10, null, 0, null, ${now - 168 * hour} + i * 10
  from generate_series(1, 60000) i`,
  `insert into wac.inbound_posts (provider, digest, size, received_at, due_at, tries, problem, expires_at)
  select 'whatsapp', ${digest("100000 + i")}, 20, ${now - hour} + i, ${now - hour} + i, 0, null, null
  from generate_series(1, 5000) i`,
  `insert into wac.inbound_posts (provider, digest, size, received_at, due_at, tries, problem, expires_at)
  select 'whatsapp', ${digest("200000 + i")}, 20, ${now - hour}, case when i % 2 = 0 then ${now + hour} end, 3,
    case when i % 2 = 0 then 'storage' else 'unreadable' end, ${now + hour}
  from generate_series(1, 200) i`,
  "insert into wac.inbound_post_bodies (provider, digest, body) select provider, digest, repeat('x', 20)::bytea from wac.inbound_posts"
]

const tables = ["inbound_posts", "inbound_post_bodies"]

/** When the statistics are collected. */
const times = ["after", "before"] as const

for (const { layer: database, name } of plannedDatabases) {
  for (const analyzed of times) {
    const filled = Layer.effectDiscard(Effect.gen(function*() {
      const client = yield* PgClient.PgClient
      const analyze = client.unsafe(`analyze ${tables.map((table) => `wac.${table}`).join(", ")}`)
      if (analyzed === "before") yield* analyze
      yield* client.withTransaction(Effect.gen(function*() {
        yield* client`set local statement_timeout = 0`
        for (const statement of fill) yield* client.unsafe(statement)
      }))
      if (analyzed === "after") yield* analyze
    }))

    layer(filled.pipe(Layer.provideMerge(database)), { excludeTestServices: true })(
      `${name}, statistics made ${analyzed} it is filled`,
      (it) => {
        /** The rows of posts and of bodies that a statement reads and writes. It must not scan either table. */
        const costOf = <E, R>(step: Effect.Effect<unknown, E, R>) =>
          Effect.map(touchedBy(step), (of) => {
            for (const table of tables) assert.strictEqual(of(table).scans, 0, `${table} was read from end to end`)
            return tables.map((table) => [of(table).read, of(table).written])
          })
        const claim = (at: number, posts: number, bytes = 1_000_000) =>
          costOf(carryOutAll(claimPosts(
            { provider: "whatsapp", token: "mine", now: at, leaseUntil: at + 15_000, limit: { posts, bytes } },
            at
          )))

        it.effect("a claim reads and writes only the posts that it claims", () =>
          Effect.gen(function*() {
            const [posts, bodies] = yield* claim(now, 64)
            assert.deepStrictEqual([posts![1], bodies![1]], [64, 0])
            // once to find it, once to lock it, once to write it
            assert.isAtMost(posts![0]!, 3 * 64)
            assert.isAtMost(bodies![0]!, 64)
            assert.deepStrictEqual(yield* claim(now - 2 * hour, 64), [[0, 0], [0, 0]])
          }))

        it.effect("storing or ending a post touches only its own rows", () =>
          Effect.gen(function*() {
            const client = yield* PgClient.PgClient
            const [row] = yield* client<{ readonly digest: string }>`
          select encode(digest, 'hex') as digest from wac.inbound_posts where due_at <= ${now} order by due_at limit 1`
            const own = row!.digest
            const post = { provider: "whatsapp", digest: new Uint8Array(32), body: new Uint8Array(3) }
            assert.deepStrictEqual(yield* costOf(carryOutAll([keep({ post, now })])), [[0, 1], [0, 1]])
            yield* client`update wac.inbound_posts set token = 'mine' where digest = decode(${own}, 'hex')`
            const end = { provider: "whatsapp", digest: own, token: "mine", now, ended: InboundPostStep.complete({}) }
            const [posts, bodies] = yield* costOf(carryOutAll(EndPosts.end.write([end], (asked) => asked)))
            assert.deepStrictEqual([posts![1], bodies], [1, [0, 0]])
            assert.isAtMost(posts![0]!, 2)
          }))

        it.effect("a sweep reads and writes only the posts that it deletes", () =>
          Effect.gen(function*() {
            const [posts, bodies] = yield* costOf(carryOutAll(sweepPosts(now, 500)))
            assert.deepStrictEqual([posts![1], bodies![1]], [500, 500])
            assert.isAtMost(posts![0]!, 3 * 500)
            assert.isAtMost(bodies![0]!, 2 * 500)
          }))

        it.effect("trying unreadable posts again reads and writes only posts with a problem", () =>
          Effect.gen(function*() {
            const [posts, bodies] = yield* costOf(carryOutAll(retryUnreadable("whatsapp", 64)))
            assert.deepStrictEqual([posts![1], bodies], [64, [0, 0]])
            assert.isAtMost(posts![0]!, 2 * 64 + 2 * 64)
          }))

        it.effect("the backlog is counted among waiting posts only", () =>
          Effect.gen(function*() {
            const [posts] = yield* costOf(carryOutAll(backlog))
            assert.isAtMost(posts![0]!, 5000 + 2 * 200 + 100)
          }))
      }
    )
  }
}
