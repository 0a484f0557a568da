/**
 * Statements and their results.
 */

/** A statement and its parameters: values, or `Parameter`s with a named type. */
export interface Statement {
  readonly text: string
  readonly params?: ReadonlyArray<unknown>
}

/** A row by column name. A `bigint` column arrives as a `bigint`: cast it to `double precision`, or return JSON. */
export type Row = Readonly<Record<string, unknown>>

/** The rows that one statement returns. */
export type Rows = ReadonlyArray<Row>
