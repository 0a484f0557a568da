/**
 * The schema that holds everything of ours. Statements name it literally as `wac`, and are renamed where they go to the
 * client if it is another (docs/decisions/0051-schema.md).
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import * as tables from "./migrations/0001_tables.ts"
import { OpenError } from "./OpenError.ts"
import { longest, wrongName } from "./SchemaName.ts"
import { describe } from "./SqlFailure.ts"
import { statement, value } from "./Statement.ts"

/** A table, view or sequence of ours, as statements name it. */
export type Relation = `wac.${string}`

/** The schema, unless another is asked for. */
export const standard = "wac"

/** The schema of databases from before there was a choice. */
const former = "public"

/**
 * The number that distinguishes a schema's advisory locks with a single number from those of other schemas; added to
 * the lock's own, and a multiple of 2^42.
 */
export const lockOffset = "((hashtextextended('wac', 0) & 262143) << 42)"

export class Schema extends Context.Service<Schema, {
  readonly name: string
  /** As an identifier in statements. */
  readonly quoted: string
  /**
   * Renames a statement's text to this schema. `wac.` names a relation or another object of the schema, `wac:` is the
   * beginning of the name of an advisory lock or of a channel, and {@link lockOffset} part of a lock's number.
   */
  readonly named: (text: string) => string
}>()("@wac/postgres/Schema") {}

const part = /\bwac\.|\bwac:(\w+)|hashtextextended\('wac', 0\)/g

/** A schema of this name. */
export const make = (name: string): Schema["Service"] => {
  const quoted = `"${name}"`
  // versions that know no schema have locks and channels without one, and both versions run during an upgrade
  const isFormer = name === former
  const channel = (own: string): string => {
    const whole = `${name}:${own}`
    return isFormer
      ? own
      : Buffer.byteLength(whole) <= longest
      ? whole
      : createHash("sha256").update(whole).digest("hex").slice(0, longest)
  }
  const offset = isFormer ? "0::bigint" : `hashtextextended('${name}', 0)`
  const renamed = new Map<string, string>()
  return Schema.of({
    name,
    quoted,
    named: name === standard ? (text) => text : (text) => {
      let own = renamed.get(text)
      if (own === undefined) {
        own = text.replaceAll(
          part,
          (found: string, named: string | undefined) =>
            named === undefined ? found === "wac." ? `${quoted}.` : offset : channel(named)
        )
        renamed.set(text, own)
      }
      return own
    }
  })
}

/** The first migration's checksum: the mark by which a table of versions is ours. */
const mark = createHash("sha256").update(tables.sql).digest("hex")

/** The columns of the table of versions since the first version. */
const versionColumns = ["version", "name", "checksum", "applied_at"]

/** Whether a relation, by its oid, has the columns of our table of versions, and may be read. */
const looksOurs = (oid: string): string =>
  `(
    select count(*) = ${versionColumns.length} from pg_catalog.pg_attribute a
    where a.attrelid = ${oid} and not a.attisdropped
      and a.attname = any (array['${versionColumns.join("', '")}']::pg_catalog.name[])
  )`

/** The schemas, of those that are asked about, that have a table of versions of ours, as far as its columns tell. */
const candidates = statement(
  { schemas: value<ReadonlyArray<string>>() },
  ({ schemas }) =>
    `select n.nspname as schema, pg_catalog.has_schema_privilege(n.oid, 'usage')
    and pg_catalog.has_table_privilege(c.oid, 'select') as readable
  from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where c.relname = 'schema_versions' and c.relkind = 'r'
    and (n.nspname = any (${schemas}::text[]) or n.nspname = any (pg_catalog.current_schemas(false)))
    and ${looksOurs("c.oid")}`
)

/** Whether the first migration in a schema is ours. */
const isMarked = (schema: string) =>
  statement({ mark: value<string>() }, ({ mark }) =>
    `select exists (
      select from "${
      schema.replaceAll("\"", "\"\"")
    }".schema_versions s where s.version::text = '1' and s.checksum::text = ${mark}
    ) as ours`)

/** How an earlier database is moved to a schema. */
const howToMove = (to: string): string =>
  `To move them, stop every process of wac and follow "Move an earlier database to a schema" in ` +
  `docs/guides/postgresql.md; or set no schema${
    to === standard ? "" : ` instead of "${to}"`
  }, and they are used where they are`

/**
 * Finds the schema: the one that is asked for, else `public` if ours are there from before, else {@link standard}.
 * Fails if what is asked for would leave ours behind elsewhere. Changes nothing.
 */
const find = (asked: string | undefined): Effect.Effect<string, OpenError | SqlError, PgClient.PgClient> =>
  Effect.gen(function*() {
    const wrong = asked === undefined ? undefined : wrongName(asked)
    if (wrong !== undefined) return yield* new OpenError({ message: `the schema's name ${wrong}` })
    const client = yield* PgClient.PgClient
    const { params, text } = candidates({ schemas: [former, standard, ...asked === undefined ? [] : [asked]] })
    const found = yield* client.unsafe<{ schema: string; readable: boolean }>(text, params)
    const ours = new Set<string>()
    for (const { readable, schema } of found) {
      // one that was asked for, or is nobody else's, is read and judged by the migrations
      if (schema === asked || schema === standard) {
        ours.add(schema)
        continue
      }
      if (!readable) {
        if (schema !== former) continue
        return yield* new OpenError({
          message: `cannot tell whether the table schema_versions in the schema "${schema}" is of wac: ` +
            `the user needs the right usage on the schema and select on that table`
        })
      }
      const { params, text } = isMarked(schema)({ mark })
      const [row] = yield* client.unsafe<{ ours: boolean }>(text, params)
      if (row!.ours) ours.add(schema)
    }
    if (asked !== undefined) {
      if (ours.has(former) && !ours.has(asked)) {
        return yield* new OpenError({
          message: `the schema "${asked}" was asked for, but this database has the tables of wac in the schema ` +
            `"${former}". ${howToMove(asked)}`
        })
      }
      return asked
    }
    const places = [...ours]
    if (places.length > 1) {
      return yield* new OpenError({
        message: `this database has tables of wac in several schemas (${
          places.map((name) => `"${name}"`).join(", ")
        }): ` +
          "name the one to use (DATABASE_SCHEMA, or the option schema)"
      })
    }
    const [only] = places
    if (only === undefined || only === standard) return standard
    if (only !== former) {
      return yield* new OpenError({
        message: `this database has tables of wac in the schema "${only}", which the user's search_path names: ` +
          `stop every process of an earlier version, and name that schema (DATABASE_SCHEMA, or the option schema)`
      })
    }
    yield* Effect.logInfo(
      `the tables of wac stay in the schema "${former}", where an earlier version made them (docs/guides/postgresql.md)`
    )
    return former
  })

/** The schema of a database. */
export const layer = (asked?: string): Layer.Layer<Schema, OpenError, PgClient.PgClient> =>
  Layer.effect(Schema, Effect.map(find(asked), make)).pipe(
    Layer.catchTag(
      "SqlError",
      (error) =>
        Layer.effect(Schema, Effect.fail(new OpenError({ message: `cannot find the schema: ${describe(error)}` })))
    )
  )
