/**
 * Commands at which something throws, at each place where a command's content is handled: only the command at fault
 * fails, and no other command is written in part or twice.
 */
import { PgClient, PgTypes } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { type Step, StoreError } from "@wac/core"
import { Effect, Exit, Layer, Result } from "effect"
import { afterAll, beforeAll } from "vitest"
import { integer, row } from "../src/Columns.ts"
import { Database, type DirectOptions, type StepOptions } from "../src/Database.ts"
import { integers, jsons } from "../src/Parameter.ts"
import type { Statement } from "../src/Statement.ts"
import { clients } from "./servers.ts"

const fault = new RangeError("Maximum call stack size exceeded")

/** Throws when it is encoded as JSON. */
const unencodable = {
  toJSON: () => {
    throw fault
  }
}

/** The type whose values the client cannot decode in these tests: `tid`, which no table of ours has. */
const undecodable = 27

beforeAll(() =>
  PgTypes.register(undecodable, {
    encode: () => Result.fail(new PgTypes.CodecError({ message: "not needed" })),
    decode: () => {
      throw fault
    }
  })
)
afterAll(() => PgTypes.unregister(undecodable))

const bad = 13

/** Throws if the command at fault is among these. */
const throwing = (numbers: ReadonlyArray<number>): void => {
  if (numbers.includes(bad)) throw fault
}

const encoded = (numbers: ReadonlyArray<number>): Statement => ({
  text: "select $1::json[]",
  params: [jsons(numbers.map((n) => n === bad ? unencodable : n))]
})

/** Returns a row that the client cannot decode if the command at fault is among these: a `tid`. */
const decoded = (numbers: ReadonlyArray<number>): Statement => ({
  text: "select '(0,1)'::tid as place from unnest($1::integer[]) n where n = 13",
  params: [integers(numbers)]
})

const counted = (numbers: ReadonlyArray<number>): Statement => ({
  text: "insert into counted select n from unnest($1::integer[]) n",
  params: [integers(numbers)]
})

interface Loaded extends Step.Known {
  readonly isLoaded: true
}

type Places = Partial<
  Record<
    "load" | "loadStatement" | "read" | "decide" | "more" | "moreStatement" | "write",
    (numbers: ReadonlyArray<number>) => unknown
  >
>

/** Counts numbers in a step, and calls what a test has put at each place. */
const counting = (at: Places): StepOptions<number, Loaded, number, ReadonlyArray<number>, number> => {
  const statement = (
    place: "loadStatement" | "moreStatement",
    numbers: ReadonlyArray<number>
  ): ReadonlyArray<Statement> => at[place] === undefined ? [] : [at[place](numbers) as Statement]
  const asked = new WeakSet<Loaded>()
  return {
    load: (numbers) => {
      at.load?.(numbers)
      return statement("loadStatement", numbers)
    },
    read: (_, now, numbers) => {
      at.read?.(numbers)
      return { now, isLoaded: true }
    },
    decide: (loaded, numbers) => {
      at.decide?.(numbers)
      if ((at.more ?? at.moreStatement) !== undefined && !asked.has(loaded)) {
        asked.add(loaded)
        return { needs: numbers }
      }
      return { answers: numbers.map((n) => 2 * n), writes: numbers }
    },
    more: {
      load: (numbers) => statement("moreStatement", numbers),
      read: (loaded, numbers) => {
        at.more?.(numbers)
        return loaded
      }
    },
    // the statement at fault is between two that would succeed
    write: (numbers) => {
      const between = at.write?.(numbers) as Statement | undefined
      return [counted(numbers), ...between === undefined ? [] : [between, counted([])]]
    }
  }
}

const steps: { readonly [place: string]: Places } = {
  "while it is loaded": { load: throwing },
  "while a parameter of its load is encoded": { loadStatement: encoded },
  "while a row of its load is decoded": { loadStatement: decoded },
  "while its rows are read": { read: throwing },
  "while it is decided": { decide: throwing },
  "while a parameter of its second load is encoded": { moreStatement: encoded },
  "while a row of its second load is decoded": { moreStatement: decoded },
  "while its additional rows are read": { more: throwing },
  "while its writes are built": { write: throwing },
  "while a parameter of its writes is encoded": { write: encoded }
}

/** Counts numbers in one round trip. */
const direct: {
  readonly [place: string]: { readonly isWritten: boolean; readonly options: DirectOptions<number, number> }
} = {
  "while its statement is built": {
    isWritten: false,
    options: {
      write: (numbers) => {
        throwing(numbers)
        return [counted(numbers)]
      },
      read: () => (n) => 2 * n
    }
  },
  "while its parameter is encoded": {
    isWritten: false,
    options: { write: (numbers) => [counted(numbers), encoded(numbers)], read: () => (n) => 2 * n }
  },
  "while its row is read": {
    isWritten: true,
    options: {
      write: (numbers) => [counted(numbers)],
      read: () => (n) => {
        throwing([n])
        return 2 * n
      }
    }
  },
  "while its row is decoded, if the statements only read": {
    isWritten: false,
    options: { isReading: true, write: (numbers) => [decoded(numbers)], read: () => (n) => 2 * n }
  }
}

const commands = Array.from({ length: 20 }, (_, i) => i + 1)

const failed = (operation: string) => Exit.fail(new StoreError.StoreError({ operation, fault: "command" }))

const expected = (operation: string) => commands.map((n) => n === bad ? failed(operation) : Exit.succeed(2 * n))

const carryOut = (ask: (n: number) => Effect.Effect<number, StoreError.StoreError>) =>
  Effect.forEach(commands, (n) => Effect.exit(ask(n)), { concurrency: "unbounded" })

const fresh = Effect.flatMap(
  PgClient.PgClient,
  (client) =>
    client.unsafe("drop table if exists counted").pipe(
      Effect.andThen(client.unsafe("create table counted (n integer primary key)"))
    )
)

const numbered = row({ n: integer() })

const written = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query("Test.read", { text: "select n from counted order by n" }),
    (rows) => rows.map(numbered.read).map(({ n }) => n)
  ))

for (const { layer: client, name } of clients) {
  layer(Layer.provideMerge(Database.layer, client), { excludeTestServices: true })(name, (it) => {
    for (const [place, at] of Object.entries(steps)) {
      it.effect(`if something throws in a step ${place}, only the command at fault fails`, () =>
        Effect.gen(function*() {
          yield* fresh
          const count = yield* (yield* Database).stepped("Test.count", counting(at))
          assert.deepStrictEqual(yield* carryOut(count), expected("Test.count"))
          assert.deepStrictEqual(yield* written, commands.filter((n) => n !== bad))
        }))
    }

    for (const [place, { isWritten, options }] of Object.entries(direct)) {
      it.effect(`if something throws in a round trip ${place}, only the command at fault fails`, () =>
        Effect.gen(function*() {
          yield* fresh
          const count = yield* (yield* Database).direct("Test.count", options)
          assert.deepStrictEqual(yield* carryOut(count), expected("Test.count"))
          const isReading = options.isReading === true
          assert.deepStrictEqual(yield* written, isReading ? [] : commands.filter((n) => isWritten || n !== bad))
        }))
    }

    it.effect("a parameter that cannot be encoded and an invalid value are the command's own fault, not storage's", () =>
      Effect.gen(function*() {
        const { query } = yield* Database
        assert.deepStrictEqual(
          yield* Effect.exit(query("Test.encode", { text: "select $1::json", params: [PgTypes.json(unencodable)] })),
          failed("Test.encode")
        )
        assert.deepStrictEqual(
          yield* Effect.exit(query("Test.nul", { text: "select $1::text", params: ["\u0000"] })),
          failed("Test.nul")
        )
        assert.deepStrictEqual(
          yield* Effect.exit(query("Test.missing", { text: "select * from nowhere" })),
          Exit.fail(new StoreError.StoreError({ operation: "Test.missing" }))
        )
      }))
  })
}
