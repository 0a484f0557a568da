/**
 * Finds and follows the primary among several hosts, like libpq's `target_session_attrs=read-write`.
 */
import { PgConnection } from "@effect/sql-pg"
import { Effect, FiberSet, Schedule, type Scope } from "effect"
import { ConnectionError, SqlError } from "effect/sql/SqlError"
import type { Duplex } from "node:stream"
import type { Target } from "./Target.ts"
import * as Timeout from "./Timeout.ts"

/**
 * How often the current primary is asked whether it still accepts writes, and the time limit for its response in
 * milliseconds.
 */
const interval = "1 second"
const patience = 2000

/** The pause before all hosts are asked again if none accepts writes. */
const pause = "500 millis"

interface Host {
  readonly target: Target
  /** The target's configuration. It records open connections in `sockets`. */
  readonly config: PgConnection.Config
  readonly sockets: Set<Duplex>
}

const hostOf = (target: Target): Host => {
  const sockets = new Set<Duplex>()
  const stream = (): Duplex => {
    const socket = target.connect()
    sockets.add(socket)
    socket.once("close", () => sockets.delete(socket))
    return socket
  }
  return { target, config: extended(target.config, { stream }), sockets }
}

/**
 * Returns a configuration whose connections go to the current primary, since each connection reads it again. When the
 * primary changes, connections to the previous one are closed, because they might wait forever. Fails if no host
 * accepts writes.
 */
export const follow = Effect.fnUntraced(function*(
  targets: ReadonlyArray<Target>
): Effect.fn.Return<PgConnection.Config, SqlError, Scope.Scope> {
  const fork = yield* FiberSet.makeRuntime<never>()
  const hosts = targets.map(hostOf)

  /** Fails if the host does not accept writes or does not respond in time. */
  const writable = (connection: PgConnection.PgConnection): Effect.Effect<void, SqlError> =>
    Effect.callback<void, SqlError>((resume) => {
      const asked = fork(Effect.exit(connection.query("show transaction_read_only", [], false)))
      const leave = Timeout.watch(asked, patience, (end) => {
        const answer = end !== "late" && end._tag === "Success" ? end.value : undefined
        resume(
          answer?._tag === "Failure"
            ? Effect.failCause(answer.cause)
            : answer?.value.rows[0]?.["transaction_read_only"] === "off"
            ? Effect.void
            : Effect.fail(notWritable)
        )
      })
      return Effect.sync(leave)
    })

  const open = (host: Host) => PgConnection.make(host.target.config)

  const find = Effect.suspend(() =>
    Effect.raceAll(hosts.map((host) => open(host).pipe(Effect.flatMap(writable), Effect.scoped, Effect.as(host))))
  )

  let primary = yield* find

  const stay = Effect.scoped(
    Effect.flatMap(
      Effect.suspend(() => open(primary)),
      (connection) => Effect.repeat(writable(connection), Schedule.spaced(interval))
    )
  )
  const move = Effect.gen(function*() {
    const found = yield* Effect.retry(find, Schedule.spaced(pause))
    if (found === primary) return
    const left = primary
    primary = found
    yield* Effect.logWarning("a different host of PostgreSQL is now the primary")
    for (const socket of left.sockets) socket.destroy()
  })
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.ignore(stay), move)))

  // each property is read from the configuration of the current primary
  return new Proxy<PgConnection.Config>(primary.config, {
    get: (_, name) => Reflect.get(primary.config, name)
  })
})

const notWritable = new SqlError({
  reason: new ConnectionError({
    cause: new Error("no host can be written to"),
    message: "no host can be written to",
    operation: "connect"
  })
})

/** Extends a configuration that changes with the primary: its own properties are still read at each connection. */
export const extended = <More extends object>(config: PgConnection.Config, more: More): PgConnection.Config & More =>
  Object.create(config, Object.getOwnPropertyDescriptors(more)) as PgConnection.Config & More
