/**
 * What somebody sees who has the whole database.
 */
import { Effect } from "effect"
import { sql } from "../processes.ts"

/** Every row of every table, as text. */
export const everything = Effect.fnUntraced(function*(database: string) {
  const tables = yield* sql<{ readonly name: string }>(
    database,
    "select table_name as name from information_schema.tables where table_schema = 'wac' order by 1"
  )
  const rows = yield* Effect.forEach(
    tables,
    ({ name }) => sql<{ readonly row: string }>(database, `select to_jsonb(t)::text as row from wac."${name}" t`)
  )
  return rows.flat().map(({ row }) => row).join("\n")
})

/** A secret as it would stand in a row: as text, or as bytes, which PostgreSQL writes in hex. */
export const written = (secret: string): ReadonlyArray<string> => {
  const bytes = Buffer.from(secret)
  return [secret, bytes.toString("hex"), bytes.toString("base64").replace(/=+$/, "")]
}
