/**
 * Finds the schema of a database when it is opened, even one that an earlier version made in `public`.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { createHash } from "node:crypto"
import * as tables from "./migrations/0001_tables.ts"
import { OpenError } from "./OpenError.ts"
import { former, make, Schema, standard } from "./Schema.ts"
import { wrongName } from "./SchemaName.ts"
import { describe } from "./SqlFailure.ts"
import { statement, value } from "./Statement.ts"

/** The checksum of the first migration. A table `schema_versions` that records it was made by wac. */
const mark = createHash("sha256").update(tables.sql).digest("hex")

/** The columns that `schema_versions` has had since wac's first version. */
const versionColumns = ["version", "name", "checksum", "applied_at"]

/** An SQL condition: whether the relation with this oid has the columns of `schema_versions`. */
const looksOurs = (oid: string): string =>
  `(
    select count(*) = ${versionColumns.length} from pg_catalog.pg_attribute a
    where a.attrelid = ${oid} and not a.attisdropped
      and a.attname = any (array['${versionColumns.join("', '")}']::pg_catalog.name[])
  )`

/**
 * Finds the schemas with a table that has the name and columns of wac's `schema_versions`, among the given schemas and
 * those of the search path. `readable` is whether the user may read that table.
 */
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

/** Whether `schema_versions` of a schema records wac's first migration. */
const isMarked = (schema: string) =>
  statement({ mark: value<string>() }, ({ mark }) =>
    `select exists (
      select from "${
      schema.replaceAll("\"", "\"\"")
    }".schema_versions s where s.version::text = '1' and s.checksum::text = ${mark}
    ) as ours`)

/** The end of an error message: how to move an earlier database to a schema. */
const howToMove = (to: string): string =>
  `To move them, stop every process of wac and follow "Move an earlier database to a schema" in ` +
  `docs/guides/postgresql.md; or set no schema${
    to === standard ? "" : ` instead of "${to}"`
  }, and they are used where they are`

/**
 * Chooses the schema: the requested one; else `public` if an earlier version made the tables there; else
 * {@link standard}. Fails if the requested schema has no tables of wac but `public` has some; without a request, if
 * several schemas have some, or only another schema of the search path. Changes nothing.
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
      // the requested schema and `wac` are not judged here: the migrations read and judge them
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

/** The schema of a database, chosen when the layer is built. */
export const layer = (asked?: string): Layer.Layer<Schema, OpenError, PgClient.PgClient> =>
  Layer.effect(Schema, Effect.map(find(asked), make)).pipe(
    Layer.catchTag(
      "SqlError",
      (error) =>
        Layer.effect(Schema, Effect.fail(new OpenError({ message: `cannot find the schema: ${describe(error)}` })))
    )
  )
