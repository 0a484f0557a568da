/**
 * Records as rows: a field `workspaceId` is the column `workspace_id`. One description of fields and types gives the
 * parameters of a statement, its lists of columns, and the reading of rows.
 */
import type { PgTypes } from "@effect/sql-pg"
import { booleans, bytes, doubles, instants, integers, jsons, texts } from "./Parameter.ts"
import type { Row } from "./Statement.ts"

const parameters = {
  text: texts,
  integer: integers,
  bigint: instants,
  "double precision": doubles,
  boolean: booleans,
  json: jsons,
  bytea: bytes
}

/** A type of PostgreSQL's. A `bigint` is an instant or another whole number. */
type Type = keyof typeof parameters

/** The types of all fields of a model. */
export type Fields<A> = { readonly [Field in keyof A]-?: Type }

type Types = Readonly<Record<string, Type>>

type Records<T extends Types> = { readonly [Field in keyof T]: Parameters<(typeof parameters)[T[Field]]>[0][number] }

/** Fields as columns. */
export interface Columns<T extends Types> {
  /** The columns, each of the table under that name if it is given. */
  readonly names: (table?: string) => string
  /** Assignments of all columns, but for those left out, from the table under that name. */
  readonly set: (from: string, ...leftOut: ReadonlyArray<keyof T>) => string
  /** The rows of the parameters, of which `$first` is the first, as a table under that name. */
  readonly rows: (name: string, first?: number) => string
  /** Writes the rows of the parameters into a table. */
  readonly insert: (table: string) => string
  readonly params: (records: ReadonlyArray<Records<T>>) => ReadonlyArray<PgTypes.Parameter>
  /** Reads a row that has at least these columns, or its JSON. */
  readonly read: (row: Row) => { readonly [Field in keyof T]: unknown }
  /** Some of the fields. */
  readonly pick: <Field extends keyof T>(...fields: ReadonlyArray<Field>) => Columns<Pick<T, Field>>
}

const columnOf = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

export const columns = <const T extends Types>(types: T): Columns<T> => {
  const all = Object.entries(types).map(([field, type]) => ({ field, type, column: columnOf(field) }))
  const unnest = (first: number): string => `unnest(${all.map(({ type }, i) => `$${first + i}::${type}[]`).join(", ")})`
  const names = (table?: string): string =>
    all.map(({ column }) => table === undefined ? column : `${table}.${column}`).join(", ")
  return {
    names,
    set: (from, ...leftOut) =>
      all.filter(({ field }) => !leftOut.includes(field)).map(({ column }) => `${column} = ${from}.${column}`).join(
        ", "
      ),
    rows: (name, first = 1) => `${unnest(first)} ${name} (${names()})`,
    insert: (table) => `insert into ${table} (${names()}) select * from ${unnest(1)}`,
    params: (records) =>
      all.map(({ field, type }) => {
        const encode: (values: ReadonlyArray<never>) => PgTypes.Parameter = parameters[type]
        return encode(records.map((record) => record[field] as never))
      }),
    read: (row) => {
      const record: Record<string, unknown> = {}
      for (const { column, field } of all) {
        const value = row[column]
        record[field] = typeof value === "bigint" ? Number(value) : value
      }
      return record as { readonly [Field in keyof T]: unknown }
    },
    pick: (...fields) =>
      columns(Object.fromEntries(fields.map((field) => [field, types[field]])) as Pick<T, (typeof fields)[number]>)
  }
}
