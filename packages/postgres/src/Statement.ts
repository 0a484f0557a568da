/**
 * SQL statements, their named inputs, and the rows that they return.
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
 * An input of a statement, which fills `size` numbered parameters. `given` returns what the statement's text writes for
 * it, if its parameters begin at `$first`; `encode` returns the parameters.
 */
export interface Input<Value, Given> {
  readonly size: number
  readonly given: (first: number) => Given
  readonly encode: (value: Value) => ReadonlyArray<unknown>
}

/** The inputs of a statement, by name. */
export type Inputs = Readonly<Record<string, Input<never, unknown>>>

/** What a statement's text writes for each input. */
export type Given<I extends Inputs> = { readonly [Name in keyof I]: ReturnType<I[Name]["given"]> }

/** A value for each input. */
export type Values<I extends Inputs> = { readonly [Name in keyof I]: Parameters<I[Name]["encode"]>[0] }

/** A statement that waits for the values of its inputs. */
export interface Prepared<Value> {
  (values: Value): Required<Statement>
  readonly text: string
}

/** Combines named inputs into one input. */
export const combined = <I extends Inputs>(inputs: I): Input<Values<I>, Given<I>> => {
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

/** What the text of a statement with exactly these inputs writes for each. */
export const givenOf = <I extends Inputs>(inputs: I): Given<I> => combined(inputs).given(1)

/** Prepares a statement: writes its text once, with named inputs. */
export const statement = <I extends Inputs>(inputs: I, write: (given: Given<I>) => string): Prepared<Values<I>> => {
  const { encode } = combined(inputs)
  const text = write(givenOf(inputs))
  return Object.assign((values: Values<I>) => ({ text, params: encode(values) }), { text })
}

/**
 * The text of the parameter with this number, counted from 1. Only for definitions of inputs, which know their numbers.
 */
export const parameter = (number: number): string => `$${number}`

/** One value as an input, which the driver encodes. */
export const value = <Value>(): Input<Value, string> => ({
  size: 1,
  given: parameter,
  encode: (value) => [value]
})

/** What a statement's text writes for each optional input; a field is missing if the input is omitted. */
export type OptionalGiven<I extends Inputs> = { readonly [Name in keyof I]?: Given<I>[Name] }

/** A value for each optional input; `undefined` omits the input. */
export type OptionalValues<I extends Inputs> = { readonly [Name in keyof I]: Values<I>[Name] | undefined }

/** A statement that waits for the values of its inputs, some of which are optional. */
export type Variants<I extends Inputs, O extends Inputs> = (
  values: Values<I>,
  chosen: OptionalValues<O>
) => Required<Statement>

/**
 * Prepares a statement with optional inputs, such as filters. Each combination of them has its own text, which is
 * written when it is first used, and kept. The text without any of them is written immediately.
 */
export const variants = <I extends Inputs, O extends Inputs>(
  inputs: I,
  optional: O,
  write: (given: Given<I>, chosen: OptionalGiven<O>) => string
): Variants<I, O> => {
  const given = combined(inputs)
  const all = Object.entries<Input<never, unknown>>(optional)
  const prepare = (isChosen: (name: string) => boolean) =>
    statement(
      { given, chosen: combined(Object.fromEntries(all.filter(([name]) => isChosen(name)))) },
      ({ chosen, given }) => write(given, chosen as OptionalGiven<O>)
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

/** Writes a part of a text if an optional input is given; otherwise returns an empty text. */
export const ifGiven = (given: string | undefined, write: (given: string) => string): string =>
  given === undefined ? "" : write(given)

/** Makes a reader of the first row, if there is one. */
export const first = <A>(read: (row: Row) => A) => ([row]: Rows): Option.Option<A> =>
  Option.map(Option.fromUndefinedOr(row), read)

/** Whether a statement returned rows. */
export const isAny = (rows: Rows): boolean => rows.length > 0

/** Writes words as a list of SQL constants in parentheses, as for `in`. */
export const listOf = (words: ReadonlyArray<string>): string => `(${words.map((word) => `'${word}'`).join(", ")})`
