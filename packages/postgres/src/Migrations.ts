/**
 * The schema: numbered, forward-only migrations of tables and data only; statements live beside the stores
 * (docs/decisions/0023-steps.md). A migration never changes: `test/frozen-migrations.test.ts` records each. A further
 * change is a new migration, written so that the previous version of the code still runs with it.
 */
import { PgClient } from "@effect/sql-pg"
import { Duration, Effect, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import * as IndexBuild from "./IndexBuild.ts"
import * as tables from "./migrations/0001_tables.ts"
import * as inboundPosts from "./migrations/0002_inbound_posts.ts"
import * as people from "./migrations/0003_people.ts"
import * as portal from "./migrations/0004_portal.ts"
import * as lists from "./migrations/0005_lists.ts"
import * as kinds from "./migrations/0006_kinds.ts"
import * as campaigns from "./migrations/0007_campaigns.ts"
import * as media from "./migrations/0008_media.ts"
import * as retention from "./migrations/0009_retention.ts"
import * as campaignResults from "./migrations/0010_campaign_results.ts"
import * as portfolios from "./migrations/0011_portfolios.ts"
import * as heartbeats from "./migrations/0012_heartbeats.ts"
import * as quietHours from "./migrations/0013_quiet_hours.ts"
import * as forecasts from "./migrations/0014_forecasts.ts"
import * as frequencyCap from "./migrations/0015_frequency_cap.ts"
import * as prices from "./migrations/0016_prices.ts"
import * as variants from "./migrations/0017_variants.ts"
import * as customerNames from "./migrations/0018_customer_names.ts"
import * as contactNames from "./migrations/0019_contact_names.ts"
import * as invitationMakers from "./migrations/0020_invitation_makers.ts"
import * as corrections from "./migrations/0021_corrections.ts"
import * as untoldPrices from "./migrations/0022_untold_prices.ts"
import * as identities from "./migrations/0023_identities.ts"
import * as optOuts from "./migrations/0024_opt_outs.ts"
import * as keyScopes from "./migrations/0025_key_scopes.ts"
import * as keptAnswers from "./migrations/0026_kept_answers.ts"
import * as eventTraces from "./migrations/0027_event_traces.ts"
import * as provenSessions from "./migrations/0028_proven_sessions.ts"
import * as conversations from "./migrations/0029_conversations.ts"
import * as keyBindings from "./migrations/0030_key_bindings.ts"
import * as autovacuum from "./migrations/0031_autovacuum.ts"
import * as queue from "./migrations/0032_queue.ts"
import * as subscriptions from "./migrations/0033_subscriptions.ts"
import * as outbox from "./migrations/0034_outbox.ts"
import * as failedMessages from "./migrations/0035_failed_messages.ts"
import * as requestDetails from "./migrations/0036_request_details.ts"
import * as unstartedCampaigns from "./migrations/0037_unstarted_campaigns.ts"
import * as secondFactors from "./migrations/0038_second_factors.ts"
import * as campaignTimelines from "./migrations/0039_campaign_timelines.ts"
import * as passkeys from "./migrations/0040_passkeys.ts"
import * as usageTimings from "./migrations/0041_usage_timings.ts"
import * as requestValues from "./migrations/0042_request_values.ts"
import * as usageWaiting from "./migrations/0043_usage_waiting.ts"
import * as outboxLines from "./migrations/0044_outbox_lines.ts"
import * as alertNotifications from "./migrations/0045_alert_notifications.ts"
import * as waitingBodies from "./migrations/0046_waiting_bodies.ts"
import * as erasedEntries from "./migrations/0047_erased_entries.ts"
import * as outboxFresh from "./migrations/0048_outbox_fresh.ts"
import * as outboxAgain from "./migrations/0049_outbox_again.ts"
import * as retriedReplays from "./migrations/0050_retried_replays.ts"
import * as skippedAndOptedOut from "./migrations/0051_skipped_and_opted_out.ts"
import * as fullBuckets from "./migrations/0052_full_buckets.ts"
import * as blockBasis from "./migrations/0053_block_basis.ts"
import { OpenError } from "./OpenError.ts"
import * as Schema from "./Schema.ts"
import { describe, isPassing, problemOf } from "./SqlFailure.ts"
import { statement, value } from "./Statement.ts"
import * as TimeLimits from "./TimeLimits.ts"

/** A migration, which never changes. */
export interface Migration {
  readonly name: string
  /** Statements, separated by `;`, run in one transaction. */
  readonly sql: string
  /**
   * Whether the previous version of the code still runs with the migrated schema: the migration adds only tables, or
   * columns that inserts may omit. Only then can an upgrade be undone without a backup.
   */
  readonly additive?: boolean
  /**
   * Indexes of tables that may be large. They are built before the migration, outside of its transaction; `sql` creates
   * those that are missing.
   */
  readonly index?: IndexBuild.Index | ReadonlyArray<IndexBuild.Index>
}

/** In order. The first one is version 1. */
export const all: ReadonlyArray<Migration> = [
  { name: "tables", sql: tables.sql },
  { name: "inbound posts", sql: inboundPosts.sql },
  { name: "people", sql: people.sql },
  { name: "portal", sql: portal.sql },
  { name: "lists", sql: lists.sql },
  { name: "kinds", sql: kinds.sql },
  { name: "campaigns", sql: campaigns.sql },
  { name: "media", sql: media.sql },
  { name: "retention", sql: retention.sql },
  { name: "campaign results", sql: campaignResults.sql },
  { name: "portfolios", sql: portfolios.sql },
  { name: "heartbeats", sql: heartbeats.sql },
  { name: "quiet hours", sql: quietHours.sql },
  { name: "forecasts", sql: forecasts.sql },
  { name: "frequency cap", sql: frequencyCap.sql },
  { name: "prices", sql: prices.sql },
  { name: "variants", sql: variants.sql, additive: true },
  { name: "customer names", sql: customerNames.sql, additive: true },
  { name: "contact names", sql: contactNames.sql, additive: true },
  { name: "invitation makers", sql: invitationMakers.sql, additive: true },
  { name: "corrections", sql: corrections.sql, additive: true },
  { name: "untold prices", sql: untoldPrices.sql, additive: true },
  { name: "identities", sql: identities.sql, additive: true },
  { name: "opt outs", sql: optOuts.sql, additive: true },
  { name: "key scopes", sql: keyScopes.sql, additive: true },
  { name: "kept answers", sql: keptAnswers.sql, additive: true },
  { name: "event traces", sql: eventTraces.sql, additive: true },
  { name: "proven sessions", sql: provenSessions.sql, additive: true },
  { name: "conversations", sql: conversations.sql, additive: true },
  { name: "key bindings", sql: keyBindings.sql, additive: true },
  { name: "autovacuum", sql: autovacuum.sql, additive: true },
  { name: "queue", sql: queue.sql, additive: true },
  { name: "subscriptions", sql: subscriptions.sql, additive: true },
  { name: "outbox", sql: outbox.sql, additive: true },
  { name: "failed messages", sql: failedMessages.sql, index: failedMessages.index, additive: true },
  { name: "request details", sql: requestDetails.sql, additive: true },
  { name: "unstarted campaigns", sql: unstartedCampaigns.sql, index: unstartedCampaigns.index, additive: true },
  { name: "second factors", sql: secondFactors.sql, additive: true },
  { name: "campaign timelines", sql: campaignTimelines.sql, additive: true },
  { name: "passkeys", sql: passkeys.sql, additive: true },
  { name: "usage timings", sql: usageTimings.sql, additive: true },
  { name: "request values", sql: requestValues.sql, additive: true },
  { name: "usage waiting", sql: usageWaiting.sql, additive: true },
  { name: "outbox lines", sql: outboxLines.sql, index: outboxLines.index, additive: true },
  { name: "alert notifications", sql: alertNotifications.sql, additive: true },
  { name: "waiting bodies", sql: waitingBodies.sql, additive: true },
  { name: "erased entries", sql: erasedEntries.sql, additive: true },
  { name: "outbox fresh", sql: outboxFresh.sql, index: outboxFresh.index, additive: true },
  { name: "outbox again", sql: outboxAgain.sql, index: outboxAgain.index, additive: true },
  { name: "retried replays", sql: retriedReplays.sql, index: retriedReplays.index, additive: true },
  { name: "skipped and opted out", sql: skippedAndOptedOut.sql, index: skippedAndOptedOut.indexes, additive: true },
  { name: "full buckets", sql: fullBuckets.sql, index: fullBuckets.index, additive: true },
  { name: "block basis", sql: blockBasis.sql, additive: true }
]

/** Serializes the migrations of a schema. The number is arbitrary but must stay the same. */
const lock = `select pg_advisory_xact_lock(7305148209 + ${Schema.lockOffset})`

const checksum = ({ sql }: Migration): string => createHash("sha256").update(sql).digest("hex")

/** The schema's version before and after. */
export interface Migrated {
  readonly before: number
  readonly after: number
}

/**
 * Brings the schema up to date. Any number of processes may do this concurrently. Fails if the schema is newer than
 * this code, unless all that is newer is additive.
 */
export const run = (
  migrations: ReadonlyArray<Migration> = all
): Effect.Effect<Migrated, OpenError, PgClient.PgClient | Schema.Schema | TimeLimits.Unlimited> =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const transaction = <A, E extends OpenError | SqlError, R>(effect: Effect.Effect<A, E, R>) =>
      client.withTransaction(Effect.andThen(alone, effect)).pipe(
        Effect.retry({ while: (error) => error._tag === "SqlError" && isLocked(error), schedule: givenWay }),
        Effect.retry({ while: (error) => error._tag === "SqlError" && isPassing(error), schedule: again })
      )
    const next = transaction(step(migrations))
    // the tables of a new schema are empty, so an index is made with them
    const built = Effect.flatMap(versionOf(migrations), (version) => {
      const indexes = version === 0 ? [] : [migrations[version]?.index ?? []].flat()
      return Effect.forEach(
        indexes,
        (index) => IndexBuild.build(index, (effect) => transaction(Effect.andThen(givingWay, effect))),
        { discard: true }
      )
    })
    yield* built
    const before = yield* next
    let after = before
    while (after < migrations.length) {
      if (before > 0) yield* built
      after = yield* next
    }
    return { before, after }
  }).pipe(Effect.catchTag("SqlError", cannotRead))

/** Fails if the schema is older than this code, or newer in a way that is not additive. Changes nothing. */
export const check = (
  migrations: ReadonlyArray<Migration> = all
): Effect.Effect<void, OpenError, PgClient.PgClient | Schema.Schema> =>
  Effect.gen(function*() {
    const version = yield* versionOf(migrations)
    if (version < migrations.length) {
      return yield* new OpenError({
        message: version === 0
          ? "the database does not contain the schema of this service: see that its name is right, or migrate it first"
          : `the database has schema version ${version}, but this wac needs ${migrations.length}: migrate it first`
      })
    }
  }).pipe(Effect.catchTag("SqlError", cannotRead))

/** The schema's version; 0 before the first migration. Fails if this code does not know it. Changes nothing. */
export const version: Effect.Effect<number, OpenError, PgClient.PgClient | Schema.Schema> = Effect.suspend(() =>
  versionOf(all)
).pipe(
  Effect.catchTag("SqlError", (error) => cannotRead(error))
)

/** A server that starts at the same time as this process may take a while to respond. */
const again = Schedule.upTo(Schedule.spaced("200 millis"), { duration: "10 seconds" })

/**
 * How long a migration waits for the lock of a table. Other statements on the table queue behind it meanwhile, so after
 * this time the migration gives way, and tries again.
 */
const lockTimeout = Duration.millis(500)

/**
 * How often and how long the migration tries again. A backup may hold its locks for longer: then the migration fails
 * with that reason.
 */
const givenWay = Schedule.upTo(Schedule.spaced("200 millis"), { duration: "1 minute" })

const isLocked = ({ reason }: SqlError): boolean => reason._tag === "LockTimeoutError"

const cannotRead = (error: SqlError) =>
  Effect.fail(new OpenError({ message: `cannot prepare the database: ${describe(error)}` }))

/**
 * Waits without a time limit until no other process migrates, and holds the lock until the transaction ends. With an
 * isolation level above `read committed`, the transaction would see the schema as it was before it waited.
 */
const alone = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  yield* client`set transaction isolation level read committed`
  yield* client.unsafe(TimeLimits.liftLocally)
  const { named } = yield* Schema.Schema
  yield* client.unsafe(named(lock))
})

const givingWay = PgClient.PgClient.use((client) =>
  client.unsafe(`set local lock_timeout = ${Duration.toMillis(lockTimeout)}`)
)

const record = statement(
  {
    version: value<number>(),
    name: value<string>(),
    checksum: value<string>(),
    additive: value<boolean>()
  },
  ({ additive, checksum, name, version }) =>
    `insert into wac.schema_versions (version, name, checksum, additive)
  values (${version}, ${name}, ${checksum}, ${additive})`
)

/** Runs the first missing migration, if any. Returns the version before that. */
const step = Effect.fnUntraced(function*(migrations: ReadonlyArray<Migration>) {
  const client = yield* PgClient.PgClient
  const schema = yield* Schema.Schema
  const ours = (text: string, params?: ReadonlyArray<unknown>) => client.unsafe(schema.named(text), params)
  const version = yield* versionOf(migrations)
  const next = migrations[version]
  if (next === undefined) return version
  if (version === 0) {
    yield* made(schema)
    yield* ours(`create table wac.schema_versions (
      version integer primary key,
      name text not null,
      checksum text not null,
      applied_at timestamptz not null default now()
    )`)
    yield* ours(`comment on table wac.schema_versions is
      'The steps that made this schema; another checksum under a known name is of another build, and refused'`)
  }
  // the texts of migrations never change and name no schema, so the search path makes them use only this one
  yield* client.unsafe(`set local search_path to ${schema.quoted}`)
  yield* givingWay
  // the wire protocol with parameters allows one statement; a dynamic statement may contain many
  yield* client.unsafe(`do $step$ begin execute $statements$${next.sql}$statements$; end $step$`).pipe(
    Effect.mapError((error) =>
      isPassing(error) || isLocked(error)
        ? error
        : new OpenError({ message: `cannot migrate to version ${version + 1} (${next.name}): ${describe(error)}` })
    )
  )
  // the table of an earlier version has no such column
  yield* ours("alter table wac.schema_versions add column if not exists additive boolean not null default false")
  const { params, text } = record({
    version: version + 1,
    name: next.name,
    checksum: checksum(next),
    additive: next.additive === true
  })
  yield* ours(text, params)
  return version
})

/** Creates the schema if it is missing. Only then does the role need the right to create one. */
const made = Effect.fnUntraced(function*({ name, quoted }: Schema.Schema["Service"]) {
  const client = yield* PgClient.PgClient
  const [{ found, role }] = (yield* client`select current_user::text as role,
    exists (select from pg_catalog.pg_namespace where nspname = ${name}) as found`) as unknown as readonly [
    { readonly role: string; readonly found: boolean }
  ]
  if (found) return
  yield* client.unsafe(`create schema ${quoted}`).pipe(
    Effect.mapError((error) =>
      problemOf(error) === "not_permitted"
        ? new OpenError({
          message: `cannot create the schema ${quoted}: ${describe(error)}. ` +
            `Run this as the owner of the database: create schema ${quoted} authorization "${role}"`
        })
        : error
    )
  )
})

/** The schema's version. Fails if this code does not know it. */
const versionOf = Effect.fnUntraced(function*(migrations: ReadonlyArray<Migration>) {
  const client = yield* PgClient.PgClient
  const { name, named } = yield* Schema.Schema
  // read from the catalogs, since a session that has looked up a missing name may not notice for a while that it exists
  // now
  const [database] = yield* client<{ encoding: string; found: boolean }>`
    select current_setting('server_encoding') as encoding, exists (
      select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where n.nspname = ${name} and c.relname = 'schema_versions'
    ) as found`
  const { encoding, found } = database!
  if (encoding !== "UTF8") {
    return yield* new OpenError({
      message: `the database's encoding is ${encoding}, and wac needs UTF8: create another`
    })
  }
  if (!found) return 0
  const applied = yield* client.unsafe<{ version: number; name: string; checksum: string; additive: boolean }>(named(
    `select s.version, s.name, s.checksum, coalesce((to_jsonb(s)->>'additive')::boolean, false) as additive
    from wac.schema_versions s order by s.version`
  ))
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
  const unknown = applied.filter(({ version }) => version > migrations.length)
  if (newest !== undefined && unknown.some(({ additive }) => !additive)) {
    return yield* new OpenError({
      message: `the database has schema version ${newest.version} (${newest.name}), ` +
        `newer than this wac, which knows ${migrations.length}: start a newer wac`
    })
  }
  return Math.min(newest?.version ?? 0, migrations.length)
})
