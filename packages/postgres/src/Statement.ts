/**
 * Statements, and what they answer with.
 */

/** A statement and its parameters: values, or `Parameter`s whose type is named. */
export interface Statement {
  readonly text: string
  readonly params?: ReadonlyArray<unknown>
}

/** A row by column name. `bigint` comes as `bigint`: cast to `double precision` or answer in JSON. */
export type Row = Readonly<Record<string, unknown>>

/** What one statement answers with. */
export type Rows = ReadonlyArray<Row>
