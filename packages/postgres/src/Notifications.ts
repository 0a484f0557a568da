/**
 * Notifications from other processes (`LISTEN`), as hints: they survive reconnections but may be lost.
 */
import { PgConnection } from "@effect/sql-pg"
import { RepeatedFailure } from "@wac/core"
import { Context, Effect, Exit, Fiber, Layer, Queue, Schedule, Scope, Stream } from "effect"
import { describe } from "./SqlFailure.ts"

/** How many hints are kept for a reader. Beyond that the oldest are dropped, since one hint is as good as many. */
const mostHints = 256

/** The pause before reconnecting. Readers poll meanwhile. */
const pause = "500 millis"

/** How often readers without notifications look at everything. */
const lookEvery = "1 minute"

/** Listens for notifications of other processes. */
export class Notifications extends Context.Service<Notifications, {
  /** See `Database.listen`. */
  readonly listen: (channel: string) => Effect.Effect<Queue.Dequeue<string>, never, Scope.Scope>
}>()("@wac/postgres/Notifications") {
  /**
   * For databases without notifications: readers only poll. What they remember of the database may be untrue after a
   * crash or a failover, which nothing tells them, so they are told to look at everything once a minute.
   */
  static readonly layerNone: Layer.Layer<Notifications> = Layer.effect(
    Notifications,
    Effect.gen(function*() {
      const readers = new Readers()
      const tellAll = Effect.sync(() => {
        for (const channel of readers.channels()) readers.tell(channel, "")
      })
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(lookEvery), tellAll)))
      return Notifications.of({
        listen: (channel) => readers.add(channel, Effect.sync(() => readers.tell(channel, "")))
      })
    })
  )

  /** Listens over a separate connection, which is reopened whenever it is lost. */
  static readonly layerConnection = (config: PgConnection.Config): Layer.Layer<Notifications> =>
    Layer.effect(
      Notifications,
      Effect.gen(function*() {
        const readers = new Readers()
        const newChannels = yield* Queue.unbounded<string>()
        const log = RepeatedFailure.make()

        const follow = Effect.fnUntraced(function*(connection: PgConnection.PgConnection, channel: string) {
          const notifications = yield* connection.listen(channel)
          readers.tell(channel, "")
          return yield* Effect.forever(
            Effect.map(Queue.take(notifications), ({ payload }) => readers.tell(channel, payload))
          )
        })

        const session = Effect.gen(function*() {
          // closed before the listeners, which would otherwise send `UNLISTEN` and wait for the response
          const opened = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
          const own = yield* Scope.provide(PgConnection.make(config), opened)
          // pinned, so that several channels share one connection
          const connection = yield* own.pin
          // the connection may stay idle for long; behind a pooler no settings are sent when it starts
          yield* connection.query("set idle_session_timeout to 0", [], false)
          yield* Queue.clear(newChannels)
          yield* Queue.offerAll(newChannels, readers.channels())
          const following = yield* Effect.forkDetach(
            Stream.fromQueue(newChannels).pipe(
              Stream.mapEffect((channel) => follow(connection, channel), { concurrency: "unbounded" }),
              Stream.runDrain
            )
          )
          // a LISTEN that was sent, or that waits for another, ends only with its response or its connection
          yield* Effect.ensuring(
            Fiber.join(following),
            Effect.andThen(Scope.close(opened, Exit.void), Fiber.interrupt(following))
          )
        }).pipe(
          Effect.scoped,
          Effect.tapError((error) => log("lost", `the connection for notifications was lost: ${describe(error)}`))
        )

        yield* Effect.forkScoped(Effect.retry(session, Schedule.spaced(pause)))

        return Notifications.of({
          listen: (channel) => readers.add(channel, Effect.asVoid(Queue.offer(newChannels, channel)))
        })
      })
    )
}

/** The readers of each channel. */
export class Readers {
  readonly #queues = new Map<string, Set<Queue.Queue<string>>>()

  /** Adds a reader. The first reader of a channel starts listening to it. */
  add(
    channel: string,
    listen: Effect.Effect<void>
  ): Effect.Effect<Queue.Dequeue<string>, never, Scope.Scope> {
    return Effect.gen({ self: this }, function*() {
      const queue = yield* Queue.sliding<string>(mostHints)
      const queues = this.#queues.get(channel)
      if (queues === undefined) {
        this.#queues.set(channel, new Set([queue]))
        yield* listen
      } else {
        queues.add(queue)
        Queue.offerUnsafe(queue, "")
      }
      yield* Effect.addFinalizer(() =>
        Effect.andThen(Effect.sync(() => this.#queues.get(channel)?.delete(queue)), Queue.shutdown(queue))
      )
      return queue
    })
  }

  channels(): ReadonlyArray<string> {
    return [...this.#queues.keys()]
  }

  tell(channel: string, payload: string): void {
    for (const queue of this.#queues.get(channel) ?? []) Queue.offerUnsafe(queue, payload)
  }
}
