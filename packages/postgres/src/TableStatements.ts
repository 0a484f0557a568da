/**
 * Statements that need no text of their own: they insert records into a table, or select or delete rows by their key,
 * from the description of the columns.
 */
import { type Columns, unlessEmpty } from "./Columns.ts"
import type { Relation } from "./Schema.ts"
import { type Statement, statement } from "./Statement.ts"

/**
 * Inserts records into a table; no statement if there are none. `further` is appended to the text, such as `on
 * conflict`.
 */
export const insert = <A>(columns: Columns<A>, table: Relation, further = "") =>
  unlessEmpty(
    columns,
    (given) => `insert into ${table} (${columns.names()}) select * from ${given("g")}${further}`
  )

/** Builds a statement for one given record. */
const ofOne = <A>(
  columns: Columns<A>,
  text: (one: { readonly [Field in keyof A]: string }) => string
): (record: A) => Statement => {
  const prepared = statement({ one: columns.one }, ({ one }) => text(one))
  return (one) => prepared({ one })
}

/** Inserts one record into a table. */
export const insertOne = <A>(columns: Columns<A>, table: Relation, further = "") =>
  ofOne(columns, (one) => `insert into ${table} (${columns.names()}) values (${columns.values(one)})${further}`)

/** Selects the rows of a table with a key. */
export const select = <A, Key>(columns: Columns<A>, table: Relation, key: Columns<Key>) =>
  ofOne(key, (one) => `select ${columns.names("t")} from ${table} t where ${key.are("t", one)}`)

/** Deletes the rows of a table with a key, and returns a row for each. */
export const remove = <Key>(table: Relation, key: Columns<Key>) =>
  ofOne(key, (one) => `delete from ${table} t where ${key.are("t", one)} returning 1`)
