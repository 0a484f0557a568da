/**
 * A storage that fails towards one process as PostgreSQL does: connections that break before a statement or after it,
 * statements that are slow or take effect after their time is over, and notifications that are lost.
 */
import { Ports, StoreError } from "@wac/core"
import { Context, Effect, Layer } from "effect"
import type { Lane } from "./Timeline.ts"

type Service<Name extends Ports.Name> = Context.Service.Shape<(typeof Ports.all)[Name]>

/** The members of a port that never fail: waiting for a notification, and listening. */
type UnfailingOf<Shape> = {
  readonly [Member in keyof Shape & string]: Shape[Member] extends
    | Effect.Effect<infer _, infer E, infer _>
    | ((...given: never) => Effect.Effect<infer _, infer E, infer _>) ? [E] extends [never] ? Member : never
    : never
}[keyof Shape & string]

/** `Port.member` of each of them. */
type Unfailing = { readonly [Name in Ports.Name]: `${Name}.${UnfailingOf<Service<Name>>}` }[Ports.Name]

/** What reaches a process by a notification, or else is found by polling. */
const notified: Readonly<Record<Unfailing, true>> = {
  "ApiKeyStore.revocations": true,
  "ChangeStore.changes": true,
  "DeliveryStore.awaitHint": true,
  "InboundPostStore.awaitHint": true,
  "OutboxStore.awaitHint": true
}

/** What becomes of one operation. */
export type Fate =
  /** It is carried out. */
  | { readonly _tag: "Done" }
  /** The connection is lost before the operation: nothing has happened. */
  | { readonly _tag: "Refused" }
  /** The operation is carried out, and the answer is lost. */
  | { readonly _tag: "AnswerLost" }
  /** It waits before it is carried out, or before its answer arrives. */
  | { readonly _tag: "Slow"; readonly before: number; readonly after: number }
  /** It fails at its deadline, and is carried out nevertheless, later. */
  | { readonly _tag: "Late"; readonly failsAfter: number; readonly doneAfter: number }
  /** The process dies before the operation, or between the operation and its answer. */
  | { readonly _tag: "Killed"; readonly isDone: boolean }

/** Decides the fate of each operation. */
export interface Weather {
  /** The fate of an operation that can fail: `Port.member`. */
  readonly operation: (name: string) => Fate
  /** Whether a notification is lost. */
  readonly isHintLost: () => boolean
}

type Operation = Effect.Effect<unknown, unknown, unknown>

/** The ports of a storage, as one process reaches them. A dead process reaches nothing. */
export const layer = (
  storage: Context.Context<Ports.Ports>,
  lane: Lane,
  world: Lane,
  weather: Weather
): Layer.Layer<Ports.Ports> => {
  const operation = (name: string, carriedOut: Operation): Operation =>
    Effect.suspend(() => {
      if (lane.isDead()) return Effect.never
      const lost = Effect.suspend(() => Effect.fail(new StoreError.StoreError({ operation: name })))
      const fate = weather.operation(name)
      switch (fate._tag) {
        case "Done":
          return carriedOut
        case "Refused":
          return lost
        case "AnswerLost":
          return Effect.andThen(Effect.exit(carriedOut), lost)
        case "Slow":
          return Effect.tap(Effect.delay(carriedOut, fate.before), Effect.sleep(fate.after))
        case "Late":
          return Effect.flatMap(Effect.context<never>(), (context) => {
            Effect.runForkWith(Context.merge(context, world.context))(
              Effect.delay(Effect.exit(carriedOut as Effect.Effect<unknown, unknown>), fate.doneAfter)
            )
            return Effect.delay(lost, fate.failsAfter)
          })
        case "Killed": {
          const die = Effect.andThen(Effect.sync(lane.kill), Effect.never)
          return fate.isDone ? Effect.andThen(Effect.exit(carriedOut), die) : die
        }
      }
    })

  const notification = (waiting: Operation): Operation =>
    Effect.suspend(() => weather.isHintLost() ? Effect.andThen(waiting, Effect.never) : waiting)

  const wrapped = (port: string, service: object): object =>
    Object.fromEntries(
      Object.entries(service).map(([member, value]: [string, unknown]) => {
        const name = `${port}.${member}`
        const around = (effect: unknown): unknown => {
          if (!Effect.isEffect(effect)) return effect
          if (!Object.hasOwn(notified, name)) return operation(name, effect)
          return name.endsWith(".awaitHint") ? notification(effect) : effect
        }
        if (typeof value !== "function") return [member, around(value)]
        return [member, (...given: ReadonlyArray<unknown>) => around(value(...given))]
      })
    )

  let ports = Context.empty() as Context.Context<Ports.Ports>
  for (const [name, port] of Object.entries(Ports.all)) {
    const key = port as unknown as Context.Key<Ports.Ports, object>
    ports = Context.add(ports, key, wrapped(name, Context.get(storage, key)))
  }
  return Layer.succeedContext(ports)
}
