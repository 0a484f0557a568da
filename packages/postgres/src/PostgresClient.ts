/**
 * The client of a PostgreSQL server.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, type Redacted } from "effect"
import { Deadline } from "./Database.ts"
import { Notifications } from "./Notifications.ts"
import { OpenError } from "./OpenError.ts"
import { describe } from "./SqlFailure.ts"

export interface Options {
  /** `postgres://user:password@host:port/database?sslmode=…` */
  readonly url: Redacted.Redacted
  /** How many connections this process opens at most, beside one for notifications. 10 when left out. */
  readonly maxConnections?: number
}

/**
 * Connects on first use. Each statement has a connection to itself: pipelining several over one (`multiplex`) saves
 * round trips, but has batches wait for one another, and a statement on a shared connection cannot be cancelled.
 */
export const layer = (options: Options): Layer.Layer<PgClient.PgClient | Notifications, OpenError> =>
  Layer.unwrap(Effect.map(Deadline, (deadline) => {
    const config: PgClient.PgPoolConfig = {
      url: options.url,
      maxConnections: options.maxConnections ?? 10,
      minConnections: 1,
      applicationName: "wac",
      connectTimeout: "3 seconds",
      keepAlive: "30 seconds",
      startupParameters: {
        // before our own deadline, so that a slow statement is certainly undone when its caller is told
        statement_timeout: String(Math.round(deadline * 0.9)),
        // compiling a plan takes longer than any of our statements may
        jit: "off"
      }
    }
    return Layer.merge(
      Layer.catchTag(
        PgClient.layer(config),
        "SqlError",
        (error) =>
          Layer.effectContext(Effect.fail(new OpenError({ message: `cannot use PostgreSQL: ${describe(error)}` })))
      ),
      Notifications.layerConnection(config)
    )
  }))
