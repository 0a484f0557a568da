/**
 * Port: the storage as a whole, as an operator sees it.
 */
import { Context, type Effect } from "effect"
import type { StoreError } from "./StoreError.ts"

export class Storage extends Context.Service<Storage, {
  /** As the terminal and the log name it; holds no credentials. */
  readonly name: string
  /** Whether what it holds survives the process. */
  readonly durable: boolean
  /** Whether it can be reached at this moment, and written to. */
  readonly ping: Effect.Effect<void, StoreError>
}>()("@wac/core/Storage") {}
