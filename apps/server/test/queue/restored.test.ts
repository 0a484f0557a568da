/**
 * A restored copy of the database sends no queued message unasked, and a host that slept goes on by itself (contract
 * §15).
 */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import * as checks from "../checks.ts"
import { call, hello, ready } from "../harness.ts"
import { freshDatabase, masterKey, postgres, sql } from "../processes.ts"

/** A stopped server with a message that has become due since, and what else happened to its database. */
const stopped = Effect.fnUntraced(function*(...happened: ReadonlyArray<string>) {
  const database = yield* Effect.flatMap(postgres, freshDatabase)
  const variables = { ...checks.unlimited, DATABASE_URL: database, WAC_MASTER_KEY: masterKey() }
  const queued = yield* Effect.scoped(Effect.gen(function*() {
    const { key, url } = yield* ready({ environment: variables })
    const { body, text } = yield* call(`${url}/v1/messages`, {
      headers: { authorization: `Bearer ${key.apiKey}`, "idempotency-key": "k" },
      body: { ...hello(), send_at: checks.timeIn(3_600_000) }
    })
    assert.strictEqual(body.status, "queued", text)
    return body.message_id as string
  }))
  yield* Effect.forEach([
    "update wac.messages set send_at = 0",
    "update wac.send_queue set due_at = 0",
    "update wac.send_lanes set work_at = 0",
    ...happened
  ], (statement) => sql(database, statement))
  return { variables, queued, database }
})

const statusOf = (database: string) =>
  Effect.map(sql<{ readonly status: string }>(database, "select status from wac.messages"), ([row]) => row!.status)

const isSent = (status: string) => status === "sent" || status === "delivered" || status === "read"

it.live("a copy on another PostgreSQL server holds the queue until a person releases it on the page", () =>
  Effect.gen(function*() {
    const { database, queued, variables } = yield* stopped("update wac.heartbeats set server = 'another'")
    const { session, url } = yield* ready({ environment: variables })
    const state = call(`${url}/internal/queue`, { headers: session })
    const held = yield* checks.until(state, ({ body }) => body.heldSince !== null)
    assert.deepInclude(held.body, { queued: 1, oldestDueAt: "1970-01-01T00:00:00.000Z" })
    // longer than it takes to send
    yield* Effect.sleep("2 seconds")
    assert.strictEqual(yield* statusOf(database), "queued")
    const released = yield* call(`${url}/internal/queue/release`, { method: "POST", headers: session })
    assert.deepInclude(released.body, { heldSince: null })
    yield* checks.until(statusOf(database), isSent)
    const { body } = yield* call(`${url}/internal/messages/${queued}`, { headers: session })
    assert.isTrue(isSent(body.status))
    const audit = yield* call(`${url}/internal/audit`, { headers: session })
    assert.include(audit.body.data.map(({ action }: { readonly action: string }) => action), "queue.release")
  }).pipe(Effect.scoped))

it.live("the page counts the messages that hosts enqueued before the queue was held, until it is released", () =>
  Effect.gen(function*() {
    const enqueue = (key: string) =>
      `select wac.enqueue(id, '${key}', $json$${JSON.stringify(hello())}$json$::jsonb) from wac.workspaces`
    // as behind a blocked number, none is queued for a year
    const wait = "update wac.outbox set tries = 1, due_at = (extract(epoch from now()) * 1000)::bigint + 31536000000"
    const { database, variables } = yield* stopped(enqueue("a"), enqueue("b"), wait)
    const { services, session, url } = yield* ready({ environment: variables })
    const state = Effect.map(call(`${url}/internal/queue`, { headers: session }), ({ body }) => body)
    assert.deepInclude(yield* state, { heldSince: null, enqueued: 0 })
    yield* checks.holdQueues({ services })
    const held = yield* state
    assert.isNotNull(held.heldSince)
    assert.strictEqual(held.enqueued, 2)
    yield* sql(database, enqueue("c"))
    assert.strictEqual((yield* state).enqueued, 2)
    const released = yield* call(`${url}/internal/queue/release`, { method: "POST", headers: session })
    assert.deepInclude(released.body, { heldSince: null, enqueued: 0 })
  }).pipe(Effect.scoped))

it.live("a database in which nothing ran for a day goes on sending what was queued", () =>
  Effect.gen(function*() {
    const { database, variables } = yield* stopped("update wac.heartbeats set beat_at = beat_at - 86400000")
    yield* ready({ environment: variables })
    yield* checks.until(statusOf(database), isSent)
  }).pipe(Effect.scoped))
