/**
 * Maps records to rows: the field `workspaceId` is the column `workspace_id`. One description of fields and types
 * yields a statement's parameters, its column lists, and the reader of its rows.
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

/** A PostgreSQL type. A `bigint` is an instant or another whole number. */
type Type = keyof typeof parameters

/** The types of all fields of a model. */
export type Fields<A> = { readonly [Field in keyof A]-?: Type }

type Types = Readonly<Record<string, Type>>

type Records<T extends Types> = { readonly [Field in keyof T]: Parameters<(typeof parameters)[T[Field]]>[0][number] }

/** A set of fields, as columns. */
export interface Columns<T extends Types> {
  /** The column list, qualified by the table if given. */
  readonly names: (table?: string) => string
  /** The assignments of all columns except `leftOut`, from the table `from`. */
  readonly set: (from: string, ...leftOut: ReadonlyArray<keyof T>) => string
  /** The parameters' rows as a table called `name`; `$first` is the first parameter. */
  readonly rows: (name: string, first?: number) => string
  /** An insert of the parameters' rows into a table. */
  readonly insert: (table: string) => string
  readonly params: (records: ReadonlyArray<Records<T>>) => ReadonlyArray<PgTypes.Parameter>
  /** Reads a row that has at least these columns, or its JSON. */
  readonly read: (row: Row) => { readonly [Field in keyof T]: unknown }
  /** A subset of the fields. */
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
