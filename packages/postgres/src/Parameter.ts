/**
 * Columns of many rows as parameters: arrays of a named type, which a statement reads with `unnest`.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** Throws only for a type without an array type, and each of these has one. */
const array = (elementOid: number) => (values: ReadonlyArray<unknown>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, elementOid))

const strings = array(PgTypes.OID.text)

/** A character that PostgreSQL refuses in a text. */
const refused = "\u0000"

/**
 * Texts. Text that UTF-8 cannot express would be stored as something else, so it is replaced by text that PostgreSQL
 * refuses.
 */
export const texts = (values: ReadonlyArray<string | null>): PgTypes.Parameter =>
  strings(values.map((value) => value === null || value.isWellFormed() ? value : refused))

export const booleans: (values: ReadonlyArray<boolean | null>) => PgTypes.Parameter = array(PgTypes.OID.bool)

/**
 * Whole numbers. If one is fractional or too large, all are passed as text, so that PostgreSQL refuses that row. If
 * encoding threw, the transaction would continue without the statement.
 */
const whole = (elementOid: number, limit: number, encode: (value: number) => unknown) => {
  const elements = array(elementOid)
  return (values: ReadonlyArray<number | null>): PgTypes.Parameter =>
    values.every((value) => value === null || Number.isInteger(value) && value >= -limit && value < limit)
      ? elements(values.map((value) => value === null ? null : encode(value)))
      : texts(values.map((value) => value === null ? null : String(value)))
}

export const integers = whole(PgTypes.OID.int4, 2 ** 31, (value) => value)

export const doubles: (values: ReadonlyArray<number | null>) => PgTypes.Parameter = array(PgTypes.OID.float8)

/** Each is any JSON value. `null` is SQL's null, not JSON's. */
export const jsons: (values: ReadonlyArray<unknown>) => PgTypes.Parameter = array(PgTypes.OID.json)

/** Instants, as `bigint`. */
export const instants = whole(PgTypes.OID.int8, 2 ** 63, BigInt)

export const bytes: (values: ReadonlyArray<Uint8Array>) => PgTypes.Parameter = array(PgTypes.OID.bytea)
