/**
 * A host's own transaction, by the shape of what its library hands over: no library is loaded.
 */
import { Predicate } from "effect"

/** Runs a statement with parameters `$1`, `$2` … in a transaction, and resolves to its rows. */
export type Query = (
  text: string,
  params: ReadonlyArray<string | null>
) => Promise<ReadonlyArray<object> | { readonly rows: ReadonlyArray<object> }>

/** An open transaction of PostgreSQL, as the host's library has it. */
export type Transaction =
  | Query
  /** A connected client of `pg`, after `BEGIN`. */
  | { readonly query: (text: string, values: Array<string | null>) => PromiseLike<unknown> }
  /** The `sql` of `sql.begin` in postgres.js. */
  | { readonly unsafe: (text: string, params: Array<string | null>) => PromiseLike<unknown> }
  /** The `tx` of `db.transaction` in Drizzle. */
  | { readonly execute: (query: never) => PromiseLike<unknown> }
  /** The `trx` of `db.transaction().execute` in Kysely. */
  | { readonly executeQuery: (query: never) => PromiseLike<unknown> }
  /** The `tx` of an interactive `prisma.$transaction`. */
  | { readonly $queryRawUnsafe: (text: string, ...values: Array<string | null>) => PromiseLike<unknown> }

type Method = (...given: Array<unknown>) => PromiseLike<unknown>

/** One library. */
interface Library {
  /** The method by which a transaction is known. */
  readonly method: string
  /** A sign of what belongs to a pool, and not to a transaction: what runs there is committed by itself. */
  readonly isPool: (tx: { readonly [name: string]: unknown }) => boolean
  readonly given: (text: string, params: ReadonlyArray<string | null>) => Array<unknown>
}

const has = (name: string): Library["isPool"] => (tx) => tx[name] !== undefined

/** In this order: some have a method of others too. */
const libraries: ReadonlyArray<Library> = [
  { method: "$queryRawUnsafe", isPool: has("$connect"), given: (text, params) => [text, ...params] },
  {
    method: "executeQuery",
    isPool: ({ isTransaction }) => isTransaction === false,
    given: (sql, parameters) => [{
      sql,
      parameters,
      query: { kind: "RawNode", sqlFragments: [sql], parameters: [] },
      queryId: { queryId: crypto.randomUUID() }
    }]
  },
  { method: "unsafe", isPool: has("begin"), given: (text, params) => [text, [...params]] },
  {
    method: "execute",
    isPool: has("$client"),
    given: (sql, params) => [{ getSQL: () => ({ toQuery: () => ({ sql, params: [...params] }) }) }]
  },
  { method: "query", isPool: has("totalCount"), given: (text, params) => [text, [...params]] }
]

/** Why something is not a transaction: `unknown`, or it is a `pool`. */
export type Fault = "pool" | "unknown"

/** How statements run in a transaction. */
export const queryOf = (tx: unknown): Query | Fault => {
  if (!Predicate.isObject(tx) && typeof tx !== "function") return "unknown"
  const given = tx as unknown as { readonly [name: string]: unknown }
  const library = libraries.find(({ method }) => typeof given[method] === "function")
  if (library === undefined) return typeof tx === "function" ? tx as Query : "unknown"
  if (library.isPool(given)) return "pool"
  return async (text, params) =>
    await (given[library.method] as Method).apply(tx, library.given(text, params)) as Awaited<ReturnType<Query>>
}

/** The deepest error within another. */
const deepest = 8

/** What is not a code of Prisma's, such as `P2010`. */
const isState = (code: unknown): code is string =>
  typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !/^P\d{4}$/.test(code)

/**
 * The SQLSTATE of an error of any of the libraries, in the error itself or in what it wraps: Prisma has it as `meta.code`,
 * or as `originalCode` of the error of its adapter.
 */
export const stateOf = (error: unknown): string | undefined => {
  let found: ReadonlyArray<unknown> = [error]
  for (let depth = 0; depth < deepest; depth++) {
    const errors = found.filter(Predicate.isObject) as ReadonlyArray<{ readonly [name: string]: unknown }>
    const state = errors.flatMap(({ code, originalCode }) => [code, originalCode]).find(isState)
    if (state !== undefined) return state
    found = errors.flatMap(({ cause, driverAdapterError, meta }) => [meta, driverAdapterError, cause])
  }
  return undefined
}
