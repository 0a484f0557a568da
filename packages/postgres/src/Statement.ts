/**
 * Statements and their results.
 */

import { Option } from "effect"

/** A statement and its parameters: values, or `Parameter`s with a named type. */
export interface Statement {
  readonly text: string
  readonly params?: ReadonlyArray<unknown>
}

/** A row by column name. A `bigint` column arrives as a `bigint`: cast it to `double precision`, or return JSON. */
export type Row = Readonly<Record<string, unknown>>

/** The rows that one statement returns. */
export type Rows = ReadonlyArray<Row>

/**
 * A parameter of a statement, under a name. Its parameters are `size` in number, from `$first` on; `given` is how the
 * statement's text names them.
 */
export interface Input<Value, Given> {
  readonly size: number
  readonly given: (first: number) => Given
  readonly encode: (value: Value) => ReadonlyArray<unknown>
}

/** The parameters of a statement, by name. */
export type Inputs = Readonly<Record<string, Input<never, unknown>>>

/** How its text names them. */
export type Given<I extends Inputs> = { readonly [Name in keyof I]: ReturnType<I[Name]["given"]> }

/** Their values. */
export type Values<I extends Inputs> = { readonly [Name in keyof I]: Parameters<I[Name]["encode"]>[0] }

/** A statement whose values are still to be given. */
export interface Prepared<Value> {
  (values: Value): Required<Statement>
  readonly text: string
}

/** Inputs under names, as one. */
export const together = <I extends Inputs>(inputs: I): Input<Values<I>, Given<I>> => {
  const all = Object.entries<Input<never, unknown>>(inputs)
  return {
    size: all.reduce((size, [, input]) => size + input.size, 0),
    given: (first) => {
      let next = first
      const given = all.map(([name, input]) => {
        next += input.size
        return [name, input.given(next - input.size)]
      })
      return Object.fromEntries(given) as Given<I>
    },
    encode: (values) => {
      const params: Array<unknown> = []
      for (const [name, input] of all) params.push(...input.encode(values[name] as never))
      return params
    }
  }
}

/** How a statement that is given these inputs names them. */
export const givenOf = <I extends Inputs>(inputs: I): Given<I> => together(inputs).given(1)

/** Writes a statement's text once, with its inputs by name. */
export const statement = <I extends Inputs>(inputs: I, write: (given: Given<I>) => string): Prepared<Values<I>> => {
  const { encode } = together(inputs)
  const text = write(givenOf(inputs))
  return Object.assign((values: Values<I>) => ({ text, params: encode(values) }), { text })
}

/** One value as an input, which the driver encodes. */
export const value = <Value>(): Input<Value, string> => ({
  size: 1,
  given: (first) => `$${first}`,
  encode: (value) => [value]
})

/** Reads the first row, if there is one. */
export const first = <A>(read: (row: Row) => A) => ([row]: Rows): Option.Option<A> =>
  Option.map(Option.fromUndefinedOr(row), read)

/** Whether a statement returned rows. */
export const isAny = (rows: Rows): boolean => rows.length > 0

/** A list of the core's as constants. */
export const listOf = (words: ReadonlyArray<string>): string => `(${words.map((word) => `'${word}'`).join(", ")})`
