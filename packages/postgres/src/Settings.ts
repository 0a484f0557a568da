/**
 * Updates the operator's settings of a row: the given fields change, the others stay.
 */
import type { StoreError } from "@wac/core"
import { Effect } from "effect"
import type { Database } from "./Database.ts"

/** Creates an operation that sets the columns of the given fields in the row with an identifier. */
export const configuring = <Field extends string>(
  query: Database["Service"]["query"],
  operation: string,
  table: string,
  columns: Readonly<Record<Field, string>>
) =>
(id: string, settings: Readonly<Partial<Record<Field, unknown>>>): Effect.Effect<void, StoreError.StoreError> => {
  const given = (Object.keys(columns) as Array<Field>).filter((field) => settings[field] !== undefined)
  if (given.length === 0) return Effect.void
  const changes = given.map((field, i) => `${columns[field]} = $${i + 2}`).join(", ")
  return Effect.asVoid(
    query(operation, `update ${table} set ${changes} where id = $1`, [id, ...given.map((field) => settings[field])])
  )
}
