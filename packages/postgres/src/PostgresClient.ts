/**
 * The client of a PostgreSQL server.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
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

const nobody = new Error("nobody was connected to")

/**
 * Fails when the URL cannot be read, by the client's own reading of it, and connects to nobody. To the client this is a
 * failure like that of a server that is away, for which who migrates waits.
 */
const read = (config: PgConnection.Config) =>
  PgConnection.make({
    ...config,
    stream: () => {
      throw nobody
    }
  }).pipe(
    Effect.scoped,
    Effect.catchIf(({ reason }) => reason.cause === nobody, () => Effect.void)
  )

/**
 * Connects on first use, but refuses at once a URL that is none. Each statement has a connection to itself: pipelining
 * several over one (`multiplex`) saves round trips, but has batches wait for one another, and a statement on a shared
 * connection cannot be cancelled.
 */
export const layer = (options: Options): Layer.Layer<PgClient.PgClient | Notifications, OpenError> =>
  Layer.unwrap(Effect.gen(function*() {
    const deadline = yield* Deadline
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
    yield* read(config)
    return Layer.merge(PgClient.layer(config), Notifications.layerConnection(config))
  })).pipe(
    Layer.catchTag(
      "SqlError",
      (error) =>
        Layer.effectContext(Effect.fail(new OpenError({ message: `cannot use PostgreSQL: ${describe(error)}` })))
    )
  )
