/**
 * Finds out whether the database can be written, and leaves nothing behind.
 */
import type { StoreError } from "@wac/core"
import { Effect } from "effect"
import type { Rows } from "./Statement.ts"

/** A statement that reads whether the database accepts writes and contains the schema. It writes nothing. */
export const access = `select
  current_setting('transaction_read_only')::boolean as read_only,
  to_regclass('wac.schema_versions') is not null and to_regclass('wac.messages') is not null as has_schema`

/** Reads the result of {@link access}: a problem, or `undefined` if there is none. */
export const problemOf = ([row]: Rows): StoreError.Problem | undefined =>
  row?.["read_only"] !== false ? "read_only" : row["has_schema"] !== true ? "no_schema" : undefined

/**
 * A statement that reads whether the user has every right to the tables and sequences of the schema. Only migrations
 * write the table of versions, and the sequence of an identity column needs no right.
 */
const rights = `select bool_and(
    case relkind when 'S' then has_sequence_privilege(oid, 'usage') and has_sequence_privilege(oid, 'select') else
      has_table_privilege(oid, 'select') and has_table_privilege(oid, 'insert') and
      has_table_privilege(oid, 'update') and has_table_privilege(oid, 'delete')
    end
  ) as granted
  from pg_catalog.pg_class
  where relkind in ('r', 'p', 'S') and relname <> 'schema_versions'
    and relnamespace = (select relnamespace from pg_catalog.pg_class where oid = to_regclass('wac.messages'))
    and not exists (
      select from pg_catalog.pg_depend
      where classid = 'pg_catalog.pg_class'::regclass and objid = pg_catalog.pg_class.oid and relkind = 'S' and deptype = 'i'
    )`

/** A statement that allocates new pages on the disk, about 100 kB, and frees them. */
const trial = `create temporary table wac_write_probe on commit drop as
  select md5(i::text) as bytes from generate_series(1, 2000) as i`

/**
 * Finds why the database cannot be written, or `undefined` if it can. Run it if a write has failed: it writes. Fails if
 * the database does not respond.
 */
export const run = <E>(
  query: (text: string) => Effect.Effect<Rows, E>,
  of: (error: E) => StoreError.Problem | undefined
): Effect.Effect<StoreError.Problem | undefined, E> =>
  query(rights).pipe(
    Effect.flatMap(([row]): Effect.Effect<StoreError.Problem | undefined, E> =>
      row?.["granted"] === false ? Effect.succeed("not_permitted") : Effect.as(query(trial), undefined)
    ),
    Effect.catch((error) => {
      const problem = of(error)
      return problem === undefined
        ? Effect.fail(error)
        // without the right to make temporary tables, only the next write can tell
        : Effect.succeed(problem === "not_permitted" ? undefined : problem)
    })
  )
