/**
 * The schema: numbered steps, forward only, of tables and data alone: whatever is asked of them is in statements beside the
 * stores (docs/decisions/0023-steps.md). A step that has been released never changes; what comes after it is a new
 * step, written so that the code before it still runs beside it.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import * as tables from "./migrations/0001_tables.ts"
import * as inboundPosts from "./migrations/0002_inbound_posts.ts"
import * as people from "./migrations/0003_people.ts"
import * as portal from "./migrations/0004_portal.ts"
import * as lists from "./migrations/0005_lists.ts"
import * as kinds from "./migrations/0006_kinds.ts"
import { OpenError } from "./OpenError.ts"
import { describe, isPassing } from "./SqlFailure.ts"

/** One step of the schema, which never changes once it is released. */
export interface Migration {
  readonly name: string
  /** Statements, divided by `;`, carried out in one transaction. */
  readonly sql: string
}

/** In order; the first is version 1. */
export const all: ReadonlyArray<Migration> = [
  { name: "tables", sql: tables.sql },
  { name: "inbound posts", sql: inboundPosts.sql },
  { name: "people", sql: people.sql },
  { name: "portal", sql: portal.sql },
  { name: "lists", sql: lists.sql },
  { name: "kinds", sql: kinds.sql }
]

/** What processes that migrate at once wait for; the number is arbitrary, and only has to stay. */
const lock = 7_305_148_209

const checksum = ({ sql }: Migration): string => createHash("sha256").update(sql).digest("hex")

/** The schema's version when we first looked, and now. */
export interface Migrated {
  readonly before: number
  readonly after: number
}

/** Brings the schema up to date. Any number of processes may do so at once. Refuses one that is newer. */
export const run = (
  migrations: ReadonlyArray<Migration> = all
): Effect.Effect<Migrated, OpenError, PgClient.PgClient> =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const next = Effect.retry(client.withTransaction(Effect.andThen(alone, step(migrations))), {
      while: (error) => error._tag === "SqlError" && isPassing(error),
      schedule: again
    })
    const before = yield* next
    let after = before
    while (after < migrations.length) after = yield* next
    return { before, after }
  }).pipe(Effect.catchTag("SqlError", cannotRead))

/** Refuses a schema that is not exactly the one that this code was written for; changes nothing. */
export const check = (
  migrations: ReadonlyArray<Migration> = all
): Effect.Effect<void, OpenError, PgClient.PgClient> =>
  Effect.gen(function*() {
    const version = yield* versionOf(migrations)
    if (version < migrations.length) {
      return yield* new OpenError({
        message: `the database has schema version ${version}, and this wac needs ${migrations.length}: migrate it first`
      })
    }
  }).pipe(Effect.catchTag("SqlError", cannotRead))

/** A server that is started together with us may take a while to answer. */
const again = Schedule.upTo(Schedule.spaced("200 millis"), { duration: "10 seconds" })

const cannotRead = (error: SqlError) =>
  Effect.fail(new OpenError({ message: `cannot prepare the database: ${describe(error)}` }))

/** Waits, as long as it takes, until no other process migrates; holds until the end of the transaction. */
const alone = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  yield* client`set local statement_timeout = 0`
  yield* client`select pg_advisory_xact_lock(${lock})`
})

/** Carries out the first step that is missing, if one is; answers with the version that was there before. */
const step = Effect.fnUntraced(function*(migrations: ReadonlyArray<Migration>) {
  const client = yield* PgClient.PgClient
  const version = yield* versionOf(migrations)
  const next = migrations[version]
  if (next === undefined) return version
  if (version === 0) {
    yield* client`create table schema_versions (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`
    yield* client`comment on table schema_versions is
      'The steps that made this schema; another checksum under a known name is of another build, and refused'`
  }
  // the wire protocol of parameters takes one statement at a time; a dynamic one may hold many
  yield* client.unsafe(`do $step$ begin execute $statements$${next.sql}$statements$; end $step$`).pipe(
    Effect.mapError((error) =>
      new OpenError({ message: `cannot migrate to version ${version + 1} (${next.name}): ${describe(error)}` })
    )
  )
  const row = { version: version + 1, name: next.name, checksum: checksum(next) }
  yield* client`insert into schema_versions ${client.insert(row)}`
  return version
})

/** The schema's version, if it is one that this code knows. */
const versionOf = Effect.fnUntraced(function*(migrations: ReadonlyArray<Migration>) {
  const client = yield* PgClient.PgClient
  const [database] = yield* client<{ encoding: string; found: boolean }>`
    select current_setting('server_encoding') as encoding, to_regclass('schema_versions') is not null as found`
  const { encoding, found } = database!
  if (encoding !== "UTF8") {
    return yield* new OpenError({
      message: `the database's encoding is ${encoding}, and wac needs UTF8: create another`
    })
  }
  if (!found) return 0
  const applied = yield* client<{ version: number; name: string; checksum: string }>`
    select version, name, checksum from schema_versions order by version`
  const newest = applied.at(-1)
  const changed = applied.find(({ checksum: known, version }) => {
    const migration = migrations[version - 1]
    return migration !== undefined && known !== checksum(migration)
  })
  if (changed !== undefined) {
    return yield* new OpenError({
      message:
        `the database's schema version ${changed.version} (${changed.name}) is not the one that this wac knows ` +
        "under that number: it was made by another build, so start with an empty database or stay on that build"
    })
  }
  if (newest !== undefined && newest.version > migrations.length) {
    return yield* new OpenError({
      message: `the database has schema version ${newest.version} (${newest.name}), ` +
        `newer than this wac, which knows ${migrations.length}: start a newer wac`
    })
  }
  return newest?.version ?? 0
})
