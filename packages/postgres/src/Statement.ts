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

/** The parameter of this number, counted from 1. Only inputs count. */
export const parameter = (number: number): string => `$${number}`

/** One value as an input, which the driver encodes. */
export const value = <Value>(): Input<Value, string> => ({
  size: 1,
  given: parameter,
  encode: (value) => [value]
})

/** How a text names inputs that may be left out. */
export type Perhaps<I extends Inputs> = { readonly [Name in keyof I]?: Given<I>[Name] }

/** The values of inputs that may be left out: `undefined` leaves one out. */
export type Chosen<I extends Inputs> = { readonly [Name in keyof I]: Values<I>[Name] | undefined }

/** A statement whose values are still to be given, some of which may be left out. */
export type Variants<I extends Inputs, O extends Inputs> = (
  values: Values<I>,
  chosen: Chosen<O>
) => Required<Statement>

/**
 * A statement with inputs that may be left out, such as filters. Each choice of them has a text of its own, which is
 * written when it is first made, and kept. The text without any of them is written immediately.
 */
export const variants = <I extends Inputs, O extends Inputs>(
  inputs: I,
  optional: O,
  write: (given: Given<I>, chosen: Perhaps<O>) => string
): Variants<I, O> => {
  const given = together(inputs)
  const all = Object.entries<Input<never, unknown>>(optional)
  const prepare = (isChosen: (name: string) => boolean) =>
    statement(
      { given, chosen: together(Object.fromEntries(all.filter(([name]) => isChosen(name)))) },
      ({ chosen, given }) => write(given, chosen as Perhaps<O>)
    )
  const prepared = new Map([[0, prepare(() => false)]])
  return (values, chosen) => {
    const isChosen = (name: string): boolean => chosen[name] !== undefined
    const choice = all.reduce((bits, [name], i) => isChosen(name) ? bits | 1 << i : bits, 0)
    const known = prepared.get(choice) ?? prepare(isChosen)
    prepared.set(choice, known)
    return known({ given: values, chosen: chosen as Readonly<Record<string, never>> })
  }
}

/** A part of a text that is there only if the input is. */
export const ifGiven = (given: string | undefined, write: (given: string) => string): string =>
  given === undefined ? "" : write(given)

/** Reads the first row, if there is one. */
export const first = <A>(read: (row: Row) => A) => ([row]: Rows): Option.Option<A> =>
  Option.map(Option.fromUndefinedOr(row), read)

/** Whether a statement returned rows. */
export const isAny = (rows: Rows): boolean => rows.length > 0

/** A list of the core's as constants. */
export const listOf = (words: ReadonlyArray<string>): string => `(${words.map((word) => `'${word}'`).join(", ")})`
