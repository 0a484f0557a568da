/**
 * Orders that are placed with a message each in one transaction, by programs that are killed at each point between: an
 * order and its message commit or roll back together, and each message of a committed order is sent once or named as
 * unknown (contract §16).
 */
import { assert, it } from "@effect/vitest"
import * as Extent from "@wac/testbed/Extent"
import * as PrismaClient from "@wac/testbed/PrismaClient"
import { Effect } from "effect"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createWac, postgres as storage } from "wac"
import * as checks from "../checks.ts"
import { freshDatabase, launch, masterKey, postgres, sql } from "../processes.ts"
import { noted } from "./noted.ts"

/** The version of Prisma, which npm installs for the full form. */
const prisma = Extent.of<string | undefined>(undefined, "7.10.0")

const libraries = ["pg", "postgres.js", "drizzle", "kysely", ...prisma === undefined ? [] : ["prisma"]]
const points = ["begin", "insert", "enqueue", "commit", "after"]

/** One order of three is rolled back. */
const orders = Extent.of(60, 1000 * libraries.length)
const kills = Extent.of(4, 50 * libraries.length)

/** Where each kill comes: after 25 of them every library has met every point. */
const victims = Array.from({ length: kills }, (_, i) => {
  const first = Math.floor(i * orders / kills)
  const library = i % libraries.length
  return {
    order: first + (library - first % libraries.length + libraries.length) % libraries.length,
    point: points[(i + Math.floor(i / libraries.length)) % points.length]!
  }
})

interface Row {
  readonly id: string
  readonly to: string
  readonly status: string
  /** The reason of its error. */
  readonly reason: string | null
}

it.live(
  "kill -9 between an order, its message and the commit leaves both or neither, and sends nothing twice",
  () =>
    Effect.gen(function*() {
      const database = yield* Effect.flatMap(postgres, freshDatabase)
      const key = masterKey()
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "wac-outbox-"))),
        (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
      )
      const sent = join(folder, "sent")
      const rolledBack = join(folder, "rolled-back")
      yield* Effect.promise(() => Promise.all([sent, rolledBack].map((file) => writeFile(file, ""))))
      // it takes up what the killed programs leave behind
      yield* Effect.acquireRelease(
        Effect.promise(() => createWac({ storage: storage(database), provider: noted(sent), masterKey: key })),
        (wac) => Effect.promise(wac.close)
      )
      yield* sql(database, "create table orders (id text primary key)")
      const client = prisma === undefined
        ? []
        : [
          (yield* Effect.acquireRelease(
            Effect.promise(() => PrismaClient.generate(prisma)),
            ({ remove }) => Effect.promise(remove)
          )).module
        ]

      const all = Array.from({ length: orders }, (_, n) => ({
        id: `${n}`,
        phone: `+49151${10_000_000 + n}`,
        end: n % 3 === 0 ? "rollback" : "commit",
        library: libraries[n % libraries.length]!
      }))
      const placed = join(folder, "orders")
      yield* Effect.promise(() =>
        writeFile(placed, all.map(({ end, id, library, phone }) => `${id} ${phone} ${end} ${library}`).join(","))
      )
      for (let i = 0; i <= kills; i++) {
        const victim = victims[i]
        const { ended, output } = yield* launch({}, "shop", [
          database,
          key,
          sent,
          rolledBack,
          placed,
          victim === undefined ? "none" : all[victim.order]!.id,
          victim?.point ?? "none",
          ...client
        ])
        if (victim === undefined) {
          yield* checks.until(Effect.sync(() => output.stdout + output.stderr), (text) => text !== "")
          assert.include(output.stdout, "all placed", output.stderr)
        } else {
          assert.deepStrictEqual(yield* Effect.promise(() => ended), { code: null, signal: "SIGKILL" })
        }
      }

      const waiting = sql<{ readonly waiting: number }>(
        database,
        `select (
          (select count(*) from wac.outbox where moved_at is null)
            + (select count(*) from wac.messages where status in ('queued', 'sending'))
        )::integer as waiting`
      )
      yield* checks.until(Effect.delay(waiting, "300 millis"), ([row]) => row!.waiting === 0)

      const committed = all.filter(({ end }) => end === "commit")
      const found = yield* sql<{ readonly id: string }>(database, "select id from orders")
      assert.sameMembers(found.map(({ id }) => id), committed.map(({ id }) => id))
      const messages = yield* sql<Row>(
        database,
        `select m.id, m.content->>'to' as "to", m.status, m.error->>'reason' as reason from wac.messages m join wac.outbox o on o.message_id = m.id`
      )
      assert.sameMembers(messages.map(({ to }) => to), committed.map(({ phone }) => phone))
      const [{ entries } = { entries: 0 }] = yield* sql<{ entries: number }>(
        database,
        "select count(*)::integer as entries from wac.outbox"
      )
      assert.strictEqual(entries, committed.length)
      const sentTo = (yield* Effect.promise(() => readFile(sent, "utf8"))).split("\n").filter((line) => line !== "")
      assert.strictEqual(new Set(sentTo).size, sentTo.length, "a message was sent twice")
      // after ten minutes an unknown outcome is a failure of that name
      const statuses = new Map(
        messages.map(({ reason, status, to }) => [to, reason === "delivery_unknown" ? "unknown" : status])
      )
      const lastKill = Math.max(...victims.map(({ order }) => order))
      for (const { id, phone } of committed) {
        // a program that was killed while it sent, several at once on a busy machine, leaves it open whether it did
        if (statuses.get(phone) === "unknown" && Number(id) <= lastKill) continue
        assert.strictEqual(statuses.get(phone), "sent", phone)
        assert.include(sentTo, phone)
      }
      for (const to of sentTo) assert.isTrue(statuses.has(to), to)
      const unknown = [...statuses.values()].filter((status) => status === "unknown").length
      yield* Effect.logInfo(`${committed.length} orders, ${kills} kills, ${unknown} unknown`)
    }).pipe(Effect.scoped),
  Extent.of(600_000, 3_600_000)
)
