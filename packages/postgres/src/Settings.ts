/**
 * Updates the operator's settings of a row: the given fields change, the others stay.
 */
import type { StoreError } from "@wac/core"
import { Effect, Struct } from "effect"
import type { Columns } from "./Columns.ts"
import type { Database } from "./Database.ts"
import type { Relation } from "./Schema.ts"
import { type OptionalValues, value, variants } from "./Statement.ts"

/** Creates an operation that sets the columns of the given fields in the row with an identifier. */
export const configuring = <A extends object>(
  query: Database["Service"]["query"],
  operation: string,
  table: Relation,
  columns: Columns<A>
) => {
  const set = variants({ id: value<string>() }, columns.each, ({ id }, changed) => {
    const changes = Struct.keys(changed).map((field) => `${columns.pick(field).names()} = ${changed[field]}`)
    return `update ${table} set ${changes.join(", ")} where id = ${id}`
  })
  return (
    id: string,
    settings: { readonly [Field in keyof A]?: A[Field] | undefined }
  ): Effect.Effect<void, StoreError.StoreError> =>
    Struct.keys(settings).every((field) => settings[field] === undefined)
      ? Effect.void
      : Effect.asVoid(query(operation, set({ id }, settings as OptionalValues<typeof columns.each>)))
}
