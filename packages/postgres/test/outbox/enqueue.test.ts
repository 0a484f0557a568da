/**
 * The SQL function `enqueue` (contract §16), as hosts call it: in transactions and sessions of their own.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Id } from "@wac/core"
import { Cause, Clock, Context, Effect, Exit, Fiber, Layer, Option, Predicate, Redacted, type Scope } from "effect"
import * as Migrations from "../../src/Migrations.ts"
import * as PostgresClient from "../../src/PostgresClient.ts"
import { clients, emptyDatabase } from "../servers.ts"

const message = { to: "+491511234567", type: "text", text: { body: "Your order is confirmed." } }

type Run = (
  text: string,
  params?: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<Record<string, unknown>>, unknown>

/** A session of a host. */
const session = (url: Redacted.Redacted, setUp: ReadonlyArray<string> = []): Effect.Effect<Run, never, Scope.Scope> =>
  Effect.gen(function*() {
    const services = yield* Effect.orDie(Layer.build(Layer.fresh(PgClient.layer({ url, maxConnections: 1 }))))
    const client = Context.get(services, PgClient.PgClient)
    for (const text of setUp) yield* Effect.orDie(client.unsafe(text))
    return (text, params = []) => client.unsafe<Record<string, unknown>>(text, params)
  })

const migrate = (url: Redacted.Redacted, schema?: string) =>
  Effect.provide(
    Migrations.run(),
    PostgresClient.layer({ url, maxConnections: 1, ...schema === undefined ? {} : { schema } })
  )

const database = Effect.tap(emptyDatabase(), (url) => migrate(url))

interface Arguments {
  readonly workspaceId?: string
  readonly key?: string
  readonly message?: unknown
  readonly sendAt?: string | null
  readonly sendUntil?: string | null
  readonly schema?: string
}

const enqueue = (run: Run, given: Arguments = {}) =>
  Effect.map(
    run(
      `select ${
        given.schema ?? "wac"
      }.enqueue($1, $2, $3::text::jsonb, $4::text::timestamptz, $5::text::timestamptz) as id`,
      [
        given.workspaceId ?? "ws_01ARZ3NDEKTSV4RRFFQ69G5FAV",
        given.key ?? "order-1",
        typeof given.message === "string" ? given.message : JSON.stringify(given.message ?? message),
        given.sendAt ?? null,
        given.sendUntil ?? null
      ]
    ),
    ([row]) => row!["id"] as string
  )

const codeOf = (exit: Exit.Exit<unknown, unknown>): unknown => {
  if (Exit.isSuccess(exit)) return "none"
  const error = Option.getOrUndefined(Cause.findErrorOption(exit.cause))
  const cause = Predicate.hasProperty(error, "reason") && Predicate.hasProperty(error.reason, "cause")
    ? error.reason.cause
    : undefined
  return Predicate.hasProperty(cause, "code") ? cause.code : exit.cause
}

const failure = (effect: Effect.Effect<unknown, unknown>) => Effect.map(Effect.exit(effect), codeOf)

const rows = (run: Run, schema = "wac") =>
  Effect.map(
    run(`select message_id from ${schema}.outbox order by place`),
    (found) => found.map((row) => row["message_id"])
  )

for (const { layer, name } of clients) {
  it.live(`${name}: ids have the shape of ours, and sort in the order of the calls, as far as the clock tells them apart`, () =>
    Effect.gen(function*() {
      yield* Migrations.run()
      const client = yield* PgClient.PgClient
      const run: Run = (text, params) => client.unsafe<Record<string, unknown>>(text, params)
      const before = yield* Clock.currentTimeMillis
      const ids: Array<string> = []
      for (let i = 0; i < 20; i++) ids.push(yield* enqueue(run, { key: `key-${i}` }))
      for (const text of ids) {
        const id = Option.getOrThrow(Id.parse(Id.MessageId, text))
        assert.isAtLeast(Id.timeOf(id), before - 1000)
        assert.isAtMost(Id.timeOf(id), (yield* Clock.currentTimeMillis) + 1000)
      }
      // PGlite's clock has only milliseconds
      const times = ids.map((id) => id.slice(0, "msg_".length + 12))
      assert.deepStrictEqual([...times].sort(), times)
      assert.strictEqual(new Set(ids).size, ids.length)
      assert.deepStrictEqual(yield* rows(run), ids)
    }).pipe(Effect.provide(layer)))
}

it.live("an order and its message commit or roll back together", () =>
  Effect.gen(function*() {
    const run = yield* session(yield* database)
    yield* run("create table orders (id text primary key)")
    for (const [end, left] of [["rollback", 0], ["commit", 1]] as const) {
      yield* run("begin")
      yield* run("insert into orders values ('1')")
      yield* enqueue(run)
      yield* run(end)
      assert.strictEqual((yield* run("select from orders")).length, left)
      assert.strictEqual((yield* rows(run)).length, left)
    }
  }).pipe(Effect.scoped))

it.live("the same key with equal arguments returns the same id, and with any other argument raises 23505", () =>
  Effect.gen(function*() {
    const run = yield* session(yield* database)
    const at = "2030-01-01T00:00:00Z"
    const until = "2030-01-02T00:00:00Z"
    const asked = {
      message: "{\"to\":\"+491511234567\",\"type\":\"location\",\"n\":1.0}",
      sendAt: at,
      sendUntil: until
    }
    const id = yield* enqueue(run, asked)
    // equal as jsonb and as times, however they are written
    assert.strictEqual(
      yield* enqueue(run, {
        message: " {\"n\": 1, \"type\":\"location\", \"to\":\"+491511234567\" }",
        sendAt: "2030-01-01T01:00:00+01",
        sendUntil: until
      }),
      id
    )
    const others: ReadonlyArray<Arguments> = [
      { ...asked, message: { ...message, to: "+491511234568" } },
      { ...asked, sendAt: "2030-01-01T00:00:01Z" },
      { ...asked, sendAt: null },
      { ...asked, sendUntil: "2030-01-03T00:00:00Z" },
      { ...asked, sendUntil: null }
    ]
    for (const other of others) assert.strictEqual(yield* failure(enqueue(run, other)), "23505")
    // keys are of a workspace
    assert.notStrictEqual(yield* enqueue(run, { ...asked, workspaceId: "ws_other" }), id)
    assert.strictEqual((yield* rows(run)).length, 2)
  }).pipe(Effect.scoped))

it.live("what is no object with \"to\" and \"type\" raises 22023", () =>
  Effect.gen(function*() {
    const run = yield* session(yield* database)
    for (
      const bad of [
        "null",
        "1",
        "[]",
        "\"to type\"",
        "[\"to\",\"type\"]",
        "{}",
        "{\"to\":\"+4\"}",
        "{\"type\":\"text\"}"
      ]
    ) {
      assert.strictEqual(yield* failure(enqueue(run, { message: bad })), "22023", bad)
    }
    assert.strictEqual(yield* failure(run("select wac.enqueue('ws', 'key', null)")), "22023")
    assert.deepStrictEqual(yield* rows(run), [])
    // nothing else is decided
    yield* enqueue(run, { message: { to: null, type: 7 } })
  }).pipe(Effect.scoped))

it.live("times and the order of arguments may be left out", () =>
  Effect.gen(function*() {
    const run = yield* session(yield* database)
    const id = yield* enqueue(run)
    assert.deepStrictEqual(
      yield* run(
        "select wac.enqueue(message => $1::text::jsonb, idempotency_key => 'order-1', workspace_id => $2) as id",
        [
          JSON.stringify(message),
          "ws_01ARZ3NDEKTSV4RRFFQ69G5FAV"
        ]
      ),
      [{ id }]
    )
  }).pipe(Effect.scoped))

const isWaiting = (run: Run) =>
  Effect.map(
    run("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"),
    (found) => found.length > 0
  )

const isolations = ["read committed", "repeatable read", "serializable"] as const

for (const isolation of isolations) {
  for (const end of ["commit", "rollback"] as const) {
    it.live(`${isolation}: a transaction with a key waits for another with the same key, to its ${end}`, () =>
      Effect.gen(function*() {
        const url = yield* database
        const [one, other, look] = [yield* session(url), yield* session(url), yield* session(url)]
        for (const run of [one, other]) {
          yield* run(`begin isolation level ${isolation}`)
          yield* run("select 1")
        }
        const first = yield* enqueue(one)
        const waiting = yield* Effect.forkScoped(Effect.exit(enqueue(other)))
        while (!(yield* isWaiting(look)));
        yield* one(end)
        const second = yield* Fiber.join(waiting)
        if (end === "rollback") {
          assert.isTrue(Exit.isSuccess(second))
          assert.notStrictEqual(Exit.getSuccess(second).pipe(Option.getOrThrow), first)
        } else if (isolation === "read committed") assert.deepStrictEqual(second, Exit.succeed(first))
        // its snapshot is from before the other's commit: to be repeated, as the isolation level has it
        else assert.strictEqual(codeOf(second), "40001")
      }).pipe(Effect.scoped))
  }
}

it.live("hostile names on the caller's search_path change nothing", () =>
  Effect.gen(function*() {
    const url = yield* database
    const run = yield* session(url, [
      "create schema evil",
      "create table evil.outbox (like wac.outbox including all)",
      "create temporary table outbox (like wac.outbox including all)",
      "create temporary table pg_class (oid oid, relname name, relnamespace oid)",
      "create function evil.sha256(bytea) returns bytea language sql as $$ select '\\x00'::bytea $$",
      "create function evil.gen_random_uuid() returns uuid language sql as $$ select '00000000-0000-0000-0000-000000000000'::uuid $$",
      "create function evil.jsonb_typeof(jsonb) returns text language sql as $$ select 'object' $$",
      "create function evil.no(jsonb, text) returns boolean language sql as $$ select true $$",
      "create operator evil.? (leftarg = jsonb, rightarg = text, function = evil.no)",
      "create function evil.outbox_raise(text, text) returns text language sql as $$ select 'msg_evil' $$",
      "set search_path to evil, pg_catalog"
    ])
    const id = yield* enqueue(run)
    assert.match(id, /^msg_[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
    assert.strictEqual(yield* failure(enqueue(run, { message: {}, key: "other" })), "22023")
    assert.strictEqual(yield* failure(enqueue(run, { message: { ...message, type: "x" } })), "23505")
    assert.deepStrictEqual(yield* rows(run), [id])
    assert.deepStrictEqual(yield* rows(run, "evil"), [])
    assert.deepStrictEqual(yield* rows(run, "pg_temp"), [])
    yield* run("set search_path to ''")
    assert.strictEqual(yield* enqueue(run), id)
  }).pipe(Effect.scoped))

it.live("the function has its caller's rights, and needs no others than the guide names", () =>
  Effect.gen(function*() {
    const url = yield* database
    const role = `host_${new URL(Redacted.value(url)).pathname.slice(1)}`
    const admin = yield* session(url)
    yield* admin(`create role ${role}`)
    yield* Effect.addFinalizer(() =>
      Effect.orDie(Effect.andThen(admin(`drop owned by ${role}`), admin(`drop role ${role}`)))
    )
    const run = yield* session(url, [`set role ${role}`])
    for (
      const grant of [
        "usage on schema wac",
        "insert on wac.outbox",
        "select on wac.outbox"
      ]
    ) {
      assert.strictEqual(yield* failure(enqueue(run)), "42501", grant)
      yield* admin(`grant ${grant} to ${role}`)
    }
    const id = yield* enqueue(run)
    assert.strictEqual(yield* enqueue(run), id)
    for (const text of ["delete from wac.outbox", "update wac.outbox set key = 'k'", "select from wac.messages"]) {
      assert.strictEqual(yield* failure(run(text)), "42501", text)
    }
    yield* admin("revoke execute on all functions in schema wac from public")
    assert.strictEqual(yield* failure(enqueue(run)), "42501")
    yield* admin(`grant execute on all functions in schema wac to ${role}`)
    assert.strictEqual(yield* enqueue(run), id)
  }).pipe(Effect.scoped))

it.live("in any schema, and after the schema is renamed, a commit notifies the schema's own channel", () =>
  Effect.gen(function*() {
    const url = yield* emptyDatabase()
    yield* migrate(url, "msgs")
    const run = yield* session(url)
    yield* enqueue(run, { schema: "msgs" })
    yield* run("alter schema msgs rename to \"Our Messages\"")
    const schema = "\"Our Messages\""
    yield* enqueue(run, { schema, key: "order-2" })
    assert.strictEqual((yield* rows(run, schema)).length, 2)
    assert.strictEqual(yield* failure(enqueue(run, { schema, message: {} })), "22023")
    // what pg_dump writes down
    const [{ body } = { body: "" }] = yield* run(
      "select pg_get_functiondef(p.oid) as body from pg_proc p where proname = 'enqueue'"
    )
    assert.include(body as string, "\"Our Messages\".outbox")
  }).pipe(Effect.scoped))
