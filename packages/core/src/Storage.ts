/**
 * Port: the storage as a whole, as operators see it.
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "./StoreError.ts"

/** `read_only` if the database is a standby or is set to refuse writes. */
export type Access = "writable" | "read_only"

export class Storage extends Context.Service<Storage, {
  /** The storage's name in the terminal and the log. Holds no credentials. */
  readonly name: string
  /** Whether the data survives the process. */
  readonly durable: boolean
  /** Whether the storage accepts writes now. Fails if it is unreachable. */
  readonly ping: Effect.Effect<Access, StoreError>
}>()("@wac/core/Storage") {}
