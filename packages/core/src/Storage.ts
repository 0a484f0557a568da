/**
 * Port: the storage as a whole, as operators see it, and its clock.
 */
import { Context, type Effect } from "effect"
import type { Problem, StoreError } from "./StoreError.ts"
import type { Instant } from "./Time.ts"

/** `writable`, or why not: `read_only` if the database is a standby or is set to refuse writes. */
export type Access = "writable" | Problem

/** The size of the database, and the connections to its server. */
export interface Measured {
  readonly bytes: number
  /** The connections of all programs, by state. */
  readonly connections: { readonly [state in ConnectionState]: number }
  /** The maximum number of connections; `null` if there is none. */
  readonly maxConnections: number | null
  /** The connections of this process. */
  readonly pools: { readonly [pool in Pool]: PoolState }
}

/** Connections for steps, which lock and write, and for single statements. */
export type Pool = "steps" | "statements"

/** How many connections of a pool are in use, how many could be, and how many operations wait for one. */
export interface PoolState {
  readonly inUse: number
  readonly idle: number
  readonly waiting: number
}

/** The state of a connection to the database server. `other` covers every state that is not listed. */
export type ConnectionState = "active" | "idle" | "idle_in_transaction" | "other"

/** The storage as a whole: its name, whether it can be written, its clock, and its measurements. */
export class Storage extends Context.Service<Storage, {
  /** The storage's name in the terminal and the log. Holds no credentials. */
  readonly name: string
  /** Whether the data survives the process. */
  readonly durable: boolean
  /**
   * Whether the storage accepts writes now: from what is known of it, and of the last result of each operation. If an
   * operation has failed because of a {@link Problem}, a write is tried. Fails if the storage is unreachable.
   */
  readonly ping: Effect.Effect<Access, StoreError>
  /**
   * The storage's time (`StorageTime`), for work that is not a step: deletions by age take their bound from it. `asked`
   * is the caller's time, which a storage returns if `StorageTime.JudgedBy` is `asker`.
   */
  readonly now: (asked: Instant) => Effect.Effect<Instant, StoreError>
  /** Measures the database. All but the pools may be a minute old. A storage without a database leaves this out. */
  readonly measured?: Effect.Effect<Measured, StoreError>
}>()("@wac/core/Storage") {}
