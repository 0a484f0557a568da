/**
 * Counts how many connections of a pool are in use, since the pool itself does not report it.
 */
import { Effect } from "effect"

/** The counter of one pool. */
export interface PoolUse {
  /** The maximum number of connections. */
  readonly size: number
  /** Uses that have begun and not ended; those beyond {@link size} wait for a connection. */
  readonly asked: () => number
  /** Counts an effect that uses one connection from its beginning to its end. */
  readonly counting: <A, E, R>(use: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** The default of `PgPool.Config.maxConnections`. */
const defaultSize = 10

/** Creates a counter for a pool of this size. */
export const make = (size = defaultSize): PoolUse => {
  let asked = 0
  const end = () => {
    asked--
    return Effect.void
  }
  return {
    size,
    asked: () => asked,
    counting: (use) =>
      Effect.uninterruptibleMask((restore) => {
        asked++
        return Effect.onExit(restore(use), end)
      })
  }
}

/** How many connections are in use and idle, and how many uses wait for one. */
export const stateOf = ({ asked, size }: PoolUse) => {
  const inUse = Math.min(asked(), size)
  return { inUse, idle: size - inUse, waiting: asked() - inUse }
}
