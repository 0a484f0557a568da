/**
 * Several processes on one database, and transactions that a test keeps open.
 */
import { PgClient } from "@effect/sql-pg"
import type { Event, Id, Ports, Time } from "@wac/core"
import { Fixture } from "@wac/testkit"
import { Context, Deferred, Effect, Fiber, Layer, type Redacted, type Scope } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { record as recordEvents } from "../../src/events/Recording.ts"
import { carryOutAll } from "../carryOut.ts"
import { freshDatabase, storageIn } from "../servers.ts"

/** Starts a process on the database. It ends with the scope. */
export const startProcess = (
  url: Redacted.Redacted
): Effect.Effect<Context.Context<Ports.Ports>, never, Scope.Scope> =>
  Effect.orDie(
    Layer.build(Layer.fresh(Layer.provide(storageIn(url), Fixture.timeOfAsker)))
  )

/** The database, and a second process on it. */
export class Other extends Context.Service<Other, {
  readonly url: Redacted.Redacted
  readonly process: Context.Context<Ports.Ports>
}>()("@wac/postgres/test/webhooks/DeliveryProcesses/Other") {}

/** A database with two processes. The ports are the first one's. */
export const layer = Layer.unwrap(Effect.map(freshDatabase(), (url) =>
  Layer.mergeAll(
    Layer.effectContext(startProcess(url)),
    Layer.effect(Other, Effect.map(startProcess(url), (process) => ({ url, process }))),
    Layer.orDie(PgClient.layer({ url, maxConnections: 20 })),
    Fixture.layer
  )))

/** Carries out a step in the other process. */
export const elsewhere = <A, E, R>(
  step: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Other | Exclude<R, Ports.Ports>> =>
  Effect.flatMap(Other, ({ process }) => Effect.provideContext(step, process))

/** A transaction that has done something and waits. */
export interface Open {
  readonly commit: Effect.Effect<void>
}

/** Does something in a transaction, and leaves the transaction open. */
export const open = <R>(
  step: Effect.Effect<unknown, unknown, R>
): Effect.Effect<Open, never, PgClient.PgClient | R | Scope.Scope> =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    const done = yield* Deferred.make<void>()
    const end = yield* Deferred.make<void>()
    const fiber = yield* Effect.forkScoped(Effect.orDie(client.withTransaction(
      Effect.andThen(step, Effect.andThen(Deferred.succeed(done, undefined), Deferred.await(end)))
    )))
    yield* Effect.raceFirst(Deferred.await(done), Fiber.join(fiber))
    return { commit: Effect.andThen(Deferred.succeed(end, undefined), Effect.asVoid(Fiber.join(fiber))) }
  })

/** Waits until `count` sessions wait for a lock, such as one of an {@link open} transaction. */
export const waiting = (count: number) =>
  Effect.gen(function*() {
    const client = yield* PgClient.PgClient
    for (;;) {
      const those = yield* client`select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      if (those.length >= count) return
    }
  })

/** Waits until a session waits for a lock. */
export const blocked = waiting(1)

/** An event to record, without an order unless it has an order key. */
export interface Recorded {
  readonly now?: Time.Instant
  readonly type?: Event.EventType
  readonly orderKey?: Id.MessageId
  readonly sequence?: number
  readonly data?: Event.Event["data"]
}

/** Records events with their deliveries in one step, as settling sends does. Returns the deliveries' ids. */
export const record = (
  { start, workspace }: Fixture.World,
  ...events: ReadonlyArray<Recorded>
): Effect.Effect<ReadonlyArray<Id.DeliveryId>, SqlError, Fixture.Services | PgClient.PgClient> =>
  Effect.gen(function*() {
    const rows = yield* Effect.forEach(
      events,
      (event) =>
        Effect.map(Effect.all([Fixture.id("evt"), Fixture.id("dlv")]), ([id, deliveryId]) => ({
          deliveryId,
          event: {
            id,
            workspaceId: workspace.id,
            type: event.type ?? "message.received",
            createdAt: event.now ?? start,
            orderKey: event.orderKey ?? null,
            sequence: event.sequence ?? null,
            data: event.data ?? {},
            trace: null
          } as Event.Event
        }))
    )
    yield* carryOutAll(recordEvents(rows))
    return rows.map(({ deliveryId }) => deliveryId)
  })
