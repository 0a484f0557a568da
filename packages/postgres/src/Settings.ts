/**
 * Updates the operator's settings of a row: the given fields change, the others stay.
 */
import type { StoreError } from "@wac/core"
import { Effect, Struct } from "effect"
import type { Columns } from "./Columns.ts"
import type { Database } from "./Database.ts"
import type { Relation } from "./Schema.ts"

/** Creates an operation that sets the columns of the given fields in the row with an identifier. */
export const configuring = <A extends object>(
  query: Database["Service"]["query"],
  operation: string,
  table: Relation,
  columns: Columns<A>
) =>
(
  id: string,
  settings: { readonly [Field in keyof A]?: A[Field] | undefined }
): Effect.Effect<void, StoreError.StoreError> => {
  const given = Struct.keys(settings).filter((field) => settings[field] !== undefined)
  if (given.length === 0) return Effect.void
  const changes = given.map((field, i) => `${columns.pick(field).names()} = $${i + 2}`).join(", ")
  return Effect.asVoid(
    query(operation, {
      text: `update ${table} set ${changes} where id = $1`,
      params: [id, ...given.map((field) => settings[field])]
    })
  )
}
