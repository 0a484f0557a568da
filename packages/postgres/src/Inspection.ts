/**
 * The facts about a database that an operator should know before a server uses it. Changes nothing and creates nothing.
 */
import { PgClient } from "@effect/sql-pg"
import { Elapsed, type StoreError, Time } from "@wac/core"
import { Clock, Effect, Redacted, Result } from "effect"
import * as DataDirectory from "./DataDirectory.ts"
import * as Migrations from "./Migrations.ts"
import { OpenError } from "./OpenError.ts"
import * as PgliteClient from "./PgliteClient.ts"
import * as PostgresClient from "./PostgresClient.ts"
import * as Schema from "./Schema.ts"
import * as ServerUrl from "./ServerUrl.ts"
import { describe, problemOf } from "./SqlFailure.ts"
import { type Row as StatementRow, statement, value } from "./Statement.ts"
import * as WriteProbe from "./WriteProbe.ts"

/** A database as it was found. */
export interface Inspection {
  /** Such as `17.2`. */
  readonly version: string
  /** As a number that sorts: `170002`. */
  readonly versionNumber: number
  readonly isWritable: boolean
  /** Whether the connection to the server, or the pooler's, is encrypted. */
  readonly isEncrypted: boolean
  /** The `sslmode` of a connection to another machine whose identity is not verified; `undefined` if there is none. */
  readonly unprovenMode: string | undefined
  /**
   * Why a trial write failed; `undefined` if it succeeded, or if none was tried because there is no schema or the
   * database is read-only.
   */
  readonly problem: StoreError.Problem | undefined
  /** The database's role, and the rights that a server needs and the role lacks, such as `insert on wac.messages`. */
  readonly role: string
  readonly missingRights: ReadonlyArray<string>
  /** The schema's version (0 before the first migration) and the version that this code needs. */
  readonly schemaVersion: number
  readonly neededSchemaVersion: number
  /** How far the database's clock is certainly ahead of this machine's, in milliseconds (`Time.certainLead`). */
  readonly clockAhead: number
  /** How long one statement took, in milliseconds. */
  readonly roundTrip: number
  readonly connections: number
  readonly maxConnections: number
  readonly bytes: number
  /** Settings that decide whether what was acknowledged survives a crash, and whether tables stay small. */
  readonly settings: {
    readonly fsync: string
    readonly full_page_writes: string
    readonly synchronous_commit: string
    readonly autovacuum: string
  }
}

interface Row extends Record<keyof Inspection["settings"], string> {
  readonly version: string
  readonly version_number: number
  readonly read_only: boolean
  readonly encrypted: boolean
  readonly now: number
  readonly connections: number
  readonly max_connections: number
  readonly bytes: number
}

/**
 * The rights that the role lacks, known from the catalogs, which any role may read. Only migrations write the table of
 * versions, and the sequence of an identity column needs no right.
 */
const rights = statement({ schema: value<string>() }, ({ schema }) =>
  `select current_user::text as role, array(
    select r.missing from (
      select format('usage on schema %I', n.nspname) as missing where not pg_catalog.has_schema_privilege(n.oid, 'usage')
      union all
      select format('%s on %I.%I', p.privilege, n.nspname, c.relname)
      from pg_catalog.pg_class c cross join lateral unnest(
        case
          when c.relkind = 'S' then array['usage', 'select']
          when c.relname = 'schema_versions' then array['select']
          else array['select', 'insert', 'update', 'delete']
        end
      ) p (privilege)
      where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'S')
        and not exists (
          select from pg_catalog.pg_depend d
          where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and c.relkind = 'S' and d.deptype = 'i'
        )
        and not case
          when c.relkind = 'S' then pg_catalog.has_sequence_privilege(c.oid, p.privilege)
          else pg_catalog.has_table_privilege(c.oid, p.privilege)
        end
    ) r order by 1
  ) as missing
  from (values (${schema}::text)) s (name) left join pg_catalog.pg_namespace n on n.nspname = s.name`)

const inspect = Effect.gen(function*() {
  const client = yield* PgClient.PgClient
  const { name, named } = yield* Schema.Schema
  const { params, text } = rights({ schema: name })
  const [granted] = yield* client.unsafe<{ role: string; missing: ReadonlyArray<string> }>(text, params)
  const { missing: missingRights, role } = granted!
  const unusable = missingRights.find((right) => right.startsWith("usage on schema"))
  if (unusable !== undefined) {
    return yield* new OpenError({
      message: `the role ${role} lacks a right: ${unusable}`,
      problem: "not_permitted"
    })
  }
  const schemaVersion = yield* Migrations.version
  const begun = yield* Clock.currentTimeMillis
  const sent = yield* Elapsed.now
  const [row] = yield* client<Row>`select
    current_setting('server_version') as version,
    current_setting('server_version_num')::integer as version_number,
    current_setting('transaction_read_only')::boolean as read_only,
    coalesce((select ssl from pg_catalog.pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted,
    (extract(epoch from clock_timestamp()) * 1000)::float8 as now,
    (select count(*)::integer from pg_catalog.pg_stat_activity where backend_type = 'client backend') as connections,
    current_setting('max_connections')::integer as max_connections,
    pg_database_size(current_database())::float8 as bytes,
    current_setting('fsync') as fsync,
    current_setting('full_page_writes') as full_page_writes,
    current_setting('synchronous_commit') as synchronous_commit,
    current_setting('autovacuum') as autovacuum`
  const roundTrip = Math.round((yield* Elapsed.now) - sent)
  const ended = yield* Clock.currentTimeMillis
  const problem = schemaVersion === 0 || row!.read_only
    ? undefined
    : yield* WriteProbe.run((text) => client.unsafe<StatementRow>(named(text)), problemOf)
  const { autovacuum, fsync, full_page_writes, synchronous_commit, ...found } = row!
  const inspection: Omit<Inspection, "unprovenMode"> = {
    version: found.version,
    versionNumber: found.version_number,
    isWritable: !found.read_only,
    isEncrypted: found.encrypted,
    problem,
    role,
    missingRights,
    schemaVersion,
    neededSchemaVersion: Migrations.all.length,
    clockAhead: Time.certainLead({ at: found.now, resolution: 1 }, { begun, ended }),
    roundTrip,
    connections: found.connections,
    maxConnections: found.max_connections,
    bytes: found.bytes,
    settings: { fsync, full_page_writes, synchronous_commit, autovacuum }
  }
  return inspection
}).pipe(
  Effect.catchTag(
    "SqlError",
    (error) => Effect.fail(new OpenError({ message: `cannot inspect the database: ${describe(error)}` }))
  )
)

/** Inspects a server. Waits up to 10 seconds for one that does not respond. */
export const ofServer = (options: PostgresClient.Options): Effect.Effect<Inspection, OpenError> =>
  Effect.map(Effect.provide(inspect, PostgresClient.layer(options)), (found) => ({
    ...found,
    unprovenMode: Result.getOrUndefined(
      Result.map(ServerUrl.parse(Redacted.value(options.url)), ServerUrl.unprovenMode)
    )
  }))

/** What distinguishes a database: a copy of a server's files keeps `system_identifier`, and a standby has it too. */
const identity = Effect.map(
  PgClient.PgClient.use((client) =>
    client<Record<"server" | "name", string> & { standby: boolean }>`
    select (select system_identifier::text from pg_catalog.pg_control_system()) as server,
      current_database()::text as name, pg_catalog.pg_is_in_recovery() as standby`
  ),
  ([row]) => `${row!.server} ${row!.standby} ${row!.name}`
).pipe(
  Effect.catchTag(
    "SqlError",
    (error) => Effect.fail(new OpenError({ message: `cannot inspect the database: ${describe(error)}` }))
  )
)

/**
 * Whether `listenUrl` leads to the same database as `url`, and not to a standby of it. Fails if a connection by either
 * fails.
 */
export const isSame = (
  { listenUrl, url }: { readonly listenUrl: Redacted.Redacted; readonly url: Redacted.Redacted }
): Effect.Effect<boolean, OpenError> =>
  Effect.gen(function*() {
    const [listened, used] = yield* Effect.forEach(
      [{ url: listenUrl }, { url, listenUrl }],
      (options) => Effect.provide(identity, PostgresClient.layer({ ...options, maxConnections: 2 }))
    )
    return listened === used
  })

/** Inspects an embedded database; `undefined` if there is none yet. Fails if a process uses it. */
export const ofEmbedded = (
  options: PgliteClient.Options & { readonly directory: string }
): Effect.Effect<Inspection | undefined, OpenError> =>
  Effect.suspend(() =>
    DataDirectory.holdsDatabase(options.directory)
      ? Effect.map(
        Effect.provide(inspect, PgliteClient.layer(options)),
        (found) => ({ ...found, unprovenMode: undefined })
      )
      : Effect.undefined
  )
