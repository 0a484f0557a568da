/**
 * Runs statements in a host's own transaction. Its library is recognized by the shape of the transaction, so that no
 * library is loaded.
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

/** How transactions of one library are recognized and used. */
interface Library {
  /** The method that runs a statement, by which a transaction is recognized. */
  readonly method: string
  /** Whether an object is a pool and not a transaction: a statement there would be committed on its own. */
  readonly isPool: (tx: { readonly [name: string]: unknown }) => boolean
  /** The arguments of the method, for a statement. */
  readonly given: (text: string, params: ReadonlyArray<string | null>) => Array<unknown>
}

const has = (name: string): Library["isPool"] => (tx) => tx[name] !== undefined

/** The libraries in the order in which they are tried: some also have the method of a later one. */
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

/** Returns the function that runs statements in a transaction, or why `tx` is not one. A function is used as it is. */
export const queryOf = (tx: unknown): Query | Fault => {
  if (!Predicate.isObject(tx) && typeof tx !== "function") return "unknown"
  const given = tx as unknown as { readonly [name: string]: unknown }
  const library = libraries.find(({ method }) => typeof given[method] === "function")
  if (library === undefined) return typeof tx === "function" ? tx as Query : "unknown"
  if (library.isPool(given)) return "pool"
  return async (text, params) =>
    await (given[library.method] as Method).apply(tx, library.given(text, params)) as Awaited<ReturnType<Query>>
}

/** How many levels of errors within errors are searched. */
const deepest = 8

/** Whether a code is an SQLSTATE, and not a code of Prisma's own, such as `P2010`. */
const isState = (code: unknown): code is string =>
  typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && !/^P\d{4}$/.test(code)

/**
 * The SQLSTATE of an error of any of the libraries, in the error itself or in what it wraps: Prisma has it as
 * `meta.code`, or as `originalCode` of the error of its adapter.
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
