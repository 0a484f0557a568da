/**
 * Port: the storage as a whole, as an operator sees it.
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "./StoreError.ts"

/** A database that is a standby, or set to take no writes, is `read_only`. */
export type Access = "writable" | "read_only"

export class Storage extends Context.Service<Storage, {
  /** As the terminal and the log name it; holds no credentials. */
  readonly name: string
  /** Whether what it holds survives the process. */
  readonly durable: boolean
  /** What may be done with it at this moment; fails where it cannot be reached. */
  readonly ping: Effect.Effect<Access, StoreError>
}>()("@wac/core/Storage") {}
