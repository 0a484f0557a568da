/**
 * Columns of many rows as parameters: arrays of a named type, which a statement reads with `unnest`.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** Fails only for a type that has no array, and each of these has one. */
const array = (elementOid: number) => (values: ReadonlyArray<unknown>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, elementOid))

const strings = array(PgTypes.OID.text)

/** What PostgreSQL refuses in a text. */
const refused = "\u0000"

/** Texts. What UTF-8 cannot express would be kept as something else: PostgreSQL is given what it refuses instead. */
export const texts = (values: ReadonlyArray<string | null>): PgTypes.Parameter =>
  strings(values.map((value) => value === null || value.isWellFormed() ? value : refused))

export const booleans: (values: ReadonlyArray<boolean | null>) => PgTypes.Parameter = array(PgTypes.OID.bool)

/**
 * Whole numbers. Where one is not, or is too large, PostgreSQL is given them all as text: so it refuses that row, and not
 * we the statement, whose transaction would go on without it.
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

/** Each is any JSON; `null` is no JSON, and not that of `null`. */
export const jsons: (values: ReadonlyArray<unknown>) => PgTypes.Parameter = array(PgTypes.OID.json)

/** Instants, as `bigint`. */
export const instants = whole(PgTypes.OID.int8, 2 ** 63, BigInt)

export const bytes: (values: ReadonlyArray<Uint8Array>) => PgTypes.Parameter = array(PgTypes.OID.bytea)
