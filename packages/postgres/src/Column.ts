/**
 * Reads columns of a row. The statements are ours, so the caller knows each column's type.
 */
import type { Time } from "@wac/core"
import type { Row } from "./Statement.ts"

/** A column that needs no conversion: text, boolean, integer, JSON, an array or bytes. */
export const plain = <A>(row: Row, name: string): A => row[name] as A

/** A `bigint` of milliseconds. */
export const instant = (row: Row, name: string): Time.Instant => Number(row[name])

/** A nullable `bigint` of milliseconds. */
export const instantOrNull = (row: Row, name: string): Time.Instant | null =>
  row[name] === null ? null : instant(row, name)
