/**
 * Columns of many rows as parameters: arrays of a named type, which a statement reads with `unnest`.
 */
import { PgTypes } from "@effect/sql-pg"
import { Result } from "effect"

/** Fails only for a type that has no array, and each of these has one. */
const array = (elementOid: number) => (values: ReadonlyArray<unknown>): PgTypes.Parameter =>
  Result.getOrThrow(PgTypes.array(values, elementOid))

export const texts: (values: ReadonlyArray<string | null>) => PgTypes.Parameter = array(PgTypes.OID.text)

export const booleans: (values: ReadonlyArray<boolean | null>) => PgTypes.Parameter = array(PgTypes.OID.bool)

export const integers: (values: ReadonlyArray<number | null>) => PgTypes.Parameter = array(PgTypes.OID.int4)

/** Each is any JSON; `null` is no JSON, and not that of `null`. */
export const jsons: (values: ReadonlyArray<unknown>) => PgTypes.Parameter = array(PgTypes.OID.json)

const bigints = array(PgTypes.OID.int8)

/** Instants, as `bigint`. */
export const instants = (values: ReadonlyArray<number | null>): PgTypes.Parameter =>
  bigints(values.map((value) => value === null ? null : BigInt(value)))

export const bytes: (values: ReadonlyArray<Uint8Array>) => PgTypes.Parameter = array(PgTypes.OID.bytea)
