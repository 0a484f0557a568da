/**
 * Maps records to rows: the field `workspaceId` is the column `workspace_id`. One description of a record's fields,
 * which the compiler compares with the record's type, yields the column lists of statements, their parameters, and the
 * reader of their rows.
 */
import * as Parameter from "./Parameter.ts"
import { type Input, parameter, type Row, type Statement, statement } from "./Statement.ts"

/**
 * Encodes many values of a type as one parameter. Values that are arrays cannot be encoded: `unnest` would join them.
 */
const arrays = {
  text: Parameter.texts,
  integer: Parameter.integers,
  bigint: Parameter.instants,
  "double precision": Parameter.doubles,
  boolean: Parameter.booleans,
  json: Parameter.jsons,
  bytea: Parameter.bytes,
  "text[]": (): never => {
    throw noArrays()
  }
}

const noArrays = (): Error => new Error("a table of parameters cannot have a column of arrays")

/** The name of a PostgreSQL type. A `bigint` holds an instant or another whole number. */
type Type = keyof typeof arrays

/** The PostgreSQL types that can hold values of the type `V`. A column holds null, never `undefined`. */
type TypeOf<V> = unknown extends V ? "json"
  : undefined extends V ? never
  : [NonNullable<V>] extends [string] ? "text"
  : [NonNullable<V>] extends [number] ? "integer" | "bigint" | "double precision"
  : [NonNullable<V>] extends [boolean] ? "boolean"
  : [NonNullable<V>] extends [Uint8Array] ? "bytea"
  : [NonNullable<V>] extends [ReadonlyArray<string>] ? "text[]" | "json"
  : "json"

/** Reads records from rows. */
export interface Reader<A> {
  /** Reads a row that has at least the record's columns, or its JSON. */
  readonly read: (row: Row) => A
}

type ColumnName<Field> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${ColumnName<Rest>}`
  : ""

/** Names of columns that do not follow from their field. None may be the default name of another field's column. */
type Names<A, N> = {
  readonly [Field in keyof N]: N[Field] extends ColumnName<Exclude<keyof A, Field>> ? never : N[Field]
}

/**
 * Writes given records into a statement as a table with the alias `name`. If `place` is given, the table has a column
 * of that name with the number of each row, counted from 1.
 */
export type Table = (name: string, place?: string) => string

/** A field and its column. */
interface Field {
  readonly field: string
  readonly column: string
  readonly type: Type
}

/**
 * The fields of a record as columns, from which statements and readers are built. As an input of a statement, it is a
 * table of given records.
 */
export interface Columns<A> extends Reader<A>, Input<ReadonlyArray<A>, Table> {
  /** The column list, qualified by the table if given. */
  readonly names: (table?: string) => string
  /** An expression for each column, in the order of the column list. */
  readonly values: (expressions: { readonly [Field in keyof A]: string }) => string
  /** The condition that a row of the table has these values. */
  readonly are: (table: string, expressions: { readonly [Field in keyof A]: string }) => string
  /** The assignments of an `update`: all columns except `leftOut`, from the table `from`. */
  readonly set: (from: string, ...leftOut: ReadonlyArray<keyof A>) => string
  /**
   * An expression for the columns as a JSON array, which is half as long as an object, and the reader of that array.
   */
  readonly array: {
    readonly text: (table: string) => string
    readonly read: (values: ReadonlyArray<unknown>) => A
  }
  /** The columns with a prefix before their names, to select them beside columns of the same names. */
  readonly prefixed: (prefix: string) => Reader<A> & { readonly names: (table: string) => string }
  /** One record as an input of a statement, with a parameter for each field. */
  readonly one: Input<A, { readonly [Field in keyof A]: string }>
  /** For each field, an input for a value of that field. */
  readonly each: { readonly [Field in keyof A]: Input<A[Field], string> }
  /** Only the given fields. */
  readonly pick: <Field extends keyof A>(...fields: ReadonlyArray<Field>) => Columns<Pick<A, Field>>
  /** All fields except the given ones. */
  readonly omit: <Field extends keyof A>(...fields: ReadonlyArray<Field>) => Columns<Omit<A, Field>>
  /** These fields and the fields of `others`. */
  readonly and: <B>(others: Columns<B>) => Columns<A & B>
  readonly "~fields": ReadonlyArray<Field>
}

const columnOf = (field: string): string => field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Throws if the row lacks the column, so that no record lacks a field. */
const cell = (row: Row, column: string): unknown => {
  const value = row[column]
  if (value === undefined) throw new Error(`the row has no column ${column}`)
  return typeof value === "bigint" ? Number(value) : value
}

/** An empty record with all fields. Copying and filling it is faster than adding fields one by one. */
const shapeOf = (fields: ReadonlyArray<{ readonly field: string }>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(fields.map(({ field }) => [field, null]))

/** Encodes a value of a column as a parameter. */
const encoded = (type: Type, value: unknown): unknown => {
  if (value === null) return null
  return type === "json"
    ? JSON.stringify(value)
    : type === "text[]"
    ? Parameter.texts(value as ReadonlyArray<string>)
    : value
}

const typedParameter = (type: Type, number: number): string => `${parameter(number)}::${type}`

const inputOf = (type: Type): Input<unknown, string> => ({
  size: 1,
  given: (first) => typedParameter(type, first),
  encode: (value) => [encoded(type, value)]
})

/** Throws if two fields have the same column. */
const make = <A>(fields: ReadonlyArray<Field>): Columns<A> => {
  const twice = fields.find(({ column }, i) => fields.findIndex((other) => other.column === column) !== i)
  if (twice !== undefined) throw new Error(`two fields have the column ${twice.column}`)
  const names = (table?: string): string =>
    fields.map(({ column }) => table === undefined ? column : `${table}.${column}`).join(", ")
  const values = (expressions: { readonly [Field in keyof A]: string }): string =>
    fields.map(({ field }) => expressions[field as keyof A]).join(", ")
  const shape = shapeOf(fields)
  const chosen = <B>(isChosen: (field: string) => boolean) => make<B>(fields.filter(({ field }) => isChosen(field)))
  return {
    names,
    values,
    are: (table, expressions) => `(${names(table)}) = (${values(expressions)})`,
    set: (from, ...leftOut) =>
      fields.filter(({ field }) => !leftOut.some((other) => other === field)).map(({ column }) =>
        `${column} = ${from}.${column}`
      ).join(", "),
    size: fields.length,
    given: (first) => {
      const values = fields.map(({ type }, i) => `${parameter(first + i)}::${type}[]`).join(", ")
      return (name, place) => {
        if (fields.some(({ type }) => type === "text[]")) throw noArrays()
        return place === undefined
          ? `unnest(${values}) ${name} (${names()})`
          : `unnest(${values}) with ordinality ${name} (${names()}, ${place})`
      }
    },
    encode: (records) =>
      fields.map(({ field, type }) => {
        const encode: (values: ReadonlyArray<never>) => unknown = arrays[type]
        return encode(records.map((record) => record[field as keyof A] as never))
      }),
    one: {
      size: fields.length,
      given: (first) =>
        Object.fromEntries(fields.map(({ field, type }, i) => [field, typedParameter(type, first + i)])) as {
          readonly [Field in keyof A]: string
        },
      encode: (record) => fields.map(({ field, type }) => encoded(type, record[field as keyof A]))
    },
    each: Object.fromEntries(fields.map(({ field, type }) => [field, inputOf(type)])) as {
      readonly [Field in keyof A]: Input<A[Field], string>
    },
    array: {
      text: (table) => `json_build_array(${names(table)})`,
      read: (values) => {
        const record = { ...shape }
        for (let i = 0; i < fields.length; i++) record[fields[i]!.field] = values[i]
        return record as A
      }
    },
    read: (row) => {
      const record = { ...shape }
      for (const { column, field } of fields) record[field] = cell(row, column)
      return record as A
    },
    prefixed: (prefix) => {
      const named = make<A>(fields.map(({ column, ...field }) => ({ ...field, column: `${prefix}_${column}` })))
      return {
        names: (table) => fields.map(({ column }) => `${table}.${column} as ${prefix}_${column}`).join(", "),
        read: named.read
      }
    },
    pick: (...picked) => chosen((field) => picked.some((other) => other === field)),
    omit: (...omitted) => chosen((field) => !omitted.some((other) => other === field)),
    and: (others) => make([...fields, ...others["~fields"]]),
    "~fields": fields
  }
}

/**
 * Describes a record of a known type: the PostgreSQL type of each field, and the names of columns that do not follow
 * from their field.
 */
export const columns = <A, N extends { readonly [Field in keyof A]?: string } = {}>(
  types: { readonly [Field in keyof A]-?: TypeOf<A[Field]> },
  ...[names]: {} extends N ? [] : [names: Names<A, N>]
): Columns<A> => {
  const renamed: Readonly<Record<string, unknown>> = names ?? {}
  return make(
    Object.entries<Type>(types).map(([field, type]) => ({
      field,
      type,
      column: `${renamed[field] ?? columnOf(field)}`
    }))
  )
}

/** A column whose values have the type `V`. */
interface Typed<V> {
  readonly type: Type
  readonly "~value"?: V
}

const typed = <Base>(type: Type) => <V extends Base | null = Base>(): Typed<NoInfer<V>> => ({ type })

/** The columns of a {@link row}: each takes the type of its values. */
export const text = typed<string>("text")
export const texts = typed<ReadonlyArray<string>>("text[]")
export const integer = typed<number>("integer")
export const bigint = typed<number>("bigint")
export const double = typed<number>("double precision")
export const boolean = typed<boolean>("boolean")
export const json = typed<unknown>("json")
export const bytes = typed<Uint8Array>("bytea")

type Described<T> = { readonly [Field in keyof T]: T[Field] extends Typed<infer V> ? V : never }

/** Describes a record that has no type of its own: its type follows from the columns. */
export const row = <T extends Readonly<Record<string, Typed<unknown>>>>(types: T): Columns<Described<T>> =>
  make(Object.entries(types).map(([field, { type }]) => ({ field, type, column: columnOf(field) })))

/** How a result's field is read: as a value, a record in JSON, or an array of records in JSON. */
type Reading<V> =
  | TypeOf<V>
  | (undefined extends V ? never : Reader<NonNullable<V>>)
  | (NonNullable<V> extends ReadonlyArray<infer Each> ? readonly [Reader<Each>] : never)

/** Describes a row that a statement returns and that is not a row of a table. Its fields may be records, as JSON. */
export const result = <A>(readings: { readonly [Field in keyof A]-?: Reading<A[Field]> }): Reader<A> => {
  const fields = Object.entries<Type | Reader<unknown> | readonly [Reader<unknown>]>(readings).map((
    [field, reading]
  ) => ({ field, column: columnOf(field), reading }))
  const shape = shapeOf(fields)
  return {
    read: (row) => {
      const record = { ...shape }
      for (const { column, field, reading } of fields) {
        const value = cell(row, column)
        record[field] = value === null || typeof reading === "string"
          ? value
          : "read" in reading
          ? reading.read(value as Row)
          : (value as ReadonlyArray<Row>).map(reading[0].read)
      }
      return record as A
    }
  }
}

/** An array of values as an input of a statement. */
export const list = <V>(type: TypeOf<V> & Type): Input<ReadonlyArray<V>, string> => {
  const encode: (values: ReadonlyArray<never>) => unknown = arrays[type]
  return {
    size: 1,
    given: (first) => `${parameter(first)}::${type}[]`,
    encode: (values) => [encode(values as ReadonlyArray<never>)]
  }
}

/** A value as an input of a statement, in JSON: for records with arrays, which a table of parameters cannot hold. */
export const inJson = <V>(): Input<V, string> => ({
  size: 1,
  given: (first) => `${parameter(first)}::text::json`,
  encode: (value) => [JSON.stringify(value)]
})

/** Builds a statement for given records, or no statement if there are none. */
export const unlessEmpty = <A, Given>(
  input: Input<ReadonlyArray<A>, Given>,
  text: (given: Given) => string
): (records: ReadonlyArray<A>) => ReadonlyArray<Statement> => {
  const some = statement({ records: input }, ({ records }) => text(records))
  return (records) => records.length === 0 ? [] : [some({ records })]
}
