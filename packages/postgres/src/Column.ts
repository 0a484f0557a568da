/**
 * Reading columns of a row. The statements are ours, so that a column's type is known where it is read.
 */
import type { Time } from "@wac/core"
import type { Row } from "./Statement.ts"

/** A column of a type that needs no reading: text, boolean, integer, JSON, an array or bytes. */
export const plain = <A>(row: Row, name: string): A => row[name] as A

/** A `bigint` of milliseconds. */
export const instant = (row: Row, name: string): Time.Instant => Number(row[name])

/** The same for a column that may be null. */
export const instantOrNull = (row: Row, name: string): Time.Instant | null =>
  row[name] === null ? null : instant(row, name)
