/**
 * A process of the service: the real composition and HTTP API over a storage that all processes share. It can be killed
 * at any storage operation, suspended, stopped and started again.
 */
import {
  Inbound,
  type InboundItem,
  Limits,
  Polling,
  type Ports,
  ReceiverGuard,
  Stopping,
  SubscriptionRunner
} from "@wac/core"
import { Composition } from "@wac/effect"
import { HttpApp, PublicUrl } from "@wac/http"
import { Context, Duration, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { HttpEffect, HttpRouter, HttpServer, type HttpServerRequest } from "effect/http"
import type { Chance } from "./Chance.ts"
import * as FaultyStorage from "./FaultyStorage.ts"
import * as SeededCryptography from "./SeededCryptography.ts"
import type { Lane } from "./Timeline.ts"
import type { World } from "./World.ts"

/** What surrounds the processes. */
export interface Surroundings {
  readonly world: World
  readonly storage: Context.Context<Ports.Ports>
  readonly provider: (lane: Lane) => Composition.Adapters["provider"]
  /** What every process handles the events of; `undefined` before there is a workspace. */
  readonly subscription: (lane: Lane) => SubscriptionRunner.Options | undefined
  /** Ports in front of the service's own: the transport to receivers, and a bug that a test plants. */
  readonly inFront: (lane: Lane) => Composition.InFront<never>
}

/** A response of the HTTP API. */
export interface Response {
  readonly status: number
  readonly text: string
  readonly isReplayed: boolean
}

/** A request to the HTTP API. */
export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Before a storage operation is carried out, or between that and its answer. */
type Point = "before" | "after"

/** One start of a process. */
export interface Started {
  readonly lane: Lane
  /** Sends a request. `null` if the process dies meanwhile. An interruption hangs up. */
  readonly request: (request: Request) => Effect.Effect<Response | null>
  /** Applies what the provider posts. False if it is not acknowledged. */
  readonly receive: (item: InboundItem.InboundItem) => Effect.Effect<boolean>
  /** Runs an effect with the services. `null` if it fails, or the process dies meanwhile. */
  readonly use: <A, E>(effect: Effect.Effect<A, E, Services>) => Effect.Effect<A | null>
  /** Has the process die at a storage operation, after so many others. */
  readonly dieAt: (point: Point, others: number) => void
  /** Stops the process gracefully, and kills it if that takes more than ten seconds, as operators do. */
  readonly stop: Effect.Effect<void>
}

/** How long the provider waits for an acknowledgement. */
const providerPatience = Duration.seconds(10)

const masterKey = Redacted.make(new Uint8Array(32).fill(7))

const composed = ({ inFront, world, provider, storage }: Surroundings, lane: Lane, weather: FaultyStorage.Weather) =>
  Composition.layer(
    {
      storage: FaultyStorage.layer(storage, lane, world.lane, weather),
      masterKey,
      previousMasterKey: undefined,
      limits: Limits.standard,
      receiverRules: { allowInsecure: false, allowedCidrs: [] }
    },
    { ...Composition.standard, provider: provider(lane) },
    Layer.merge(
      inFront(lane),
      Layer.succeed(ReceiverGuard.ReceiverGuard, { allowInsecure: false, check: () => Effect.void })
    ),
    SeededCryptography.layer(world.chance(`secrets of ${lane.name}`))
  )

/** The services of a process. */
type Services = Layer.Success<ReturnType<typeof composed>>

/** Operations that never return in good weather: what PostgreSQL's own deadline ends. */
const deadline = 5000

const fates = { Done: 300, Refused: 2, AnswerLost: 3, Slow: 6, Late: 1 }

const done: FaultyStorage.Fate = { _tag: "Done" }

/** What is noted of a fault. */
const words: Readonly<Partial<Record<FaultyStorage.Fate["_tag"], string>>> = {
  Refused: "the connection is lost before it",
  AnswerLost: "it is done, and the connection is lost",
  Late: "it fails at its deadline, and is done later",
  Killed: "the process is killed at it"
}

const fateOf = (chance: Chance): FaultyStorage.Fate => {
  const kind = chance.weighted(fates)
  switch (kind) {
    case "Slow":
      return { _tag: kind, before: chance.below(chance.oneIn(4) ? deadline : 200), after: chance.below(200) }
    case "Late":
      return { _tag: kind, failsAfter: deadline, doneAfter: deadline + chance.between(1, deadline) }
    default:
      return { _tag: kind }
  }
}

/** Begins a process. It fails to start if the storage fails it then: `null`. */
export const start = (
  surroundings: Surroundings,
  name: string,
  isAlone: boolean
): { readonly lane: Lane; readonly started: Effect.Effect<Started | null> } => {
  const { world, storage, subscription } = surroundings
  const lane = world.timeline.lane(name)
  const chance = world.chance(`storage of ${name}`)
  if (world.isFaultActive("clocks")) lane.setAhead(world.chance(`clock of ${name}`).between(-10_000, 10_000))
  let dying: { readonly point: Point; left: number } | undefined
  const weather: FaultyStorage.Weather = {
    operation: (operation) => {
      const fate = dying !== undefined && dying.left-- === 0
        ? { _tag: "Killed" as const, isDone: dying.point === "after" }
        : world.isFaultActive("storage")
        ? fateOf(chance)
        : done
      const word = words[fate._tag]
      if (word !== undefined) world.note(name, `${operation}: ${word}`)
      return fate
    },
    isHintLost: () => world.isFaultActive("hints") && chance.oneIn(10)
  }

  const subscribed = subscription(lane)
  const scope = Scope.makeUnsafe()
  const build = Layer.buildWithScope(
    (subscribed === undefined ? Layer.empty : Layer.effectDiscard(
      // as a program that subscribes does
      Effect.andThen(SubscriptionRunner.open(subscribed), SubscriptionRunner.start(subscribed))
    )).pipe(
      Layer.provideMerge(HttpApp.layer),
      Layer.provideMerge(HttpRouter.layer),
      Layer.provide(Layer.succeed(HttpRouter.RouterConfig, HttpApp.routerConfig)),
      Layer.provide(HttpServer.layerServices),
      Layer.provideMerge(composed(surroundings, lane, weather)),
      Layer.provide(Layer.succeed(PublicUrl.PublicUrl, new URL("https://wac.example"))),
      Layer.provideMerge(Layer.sync(Stopping.Stopping, Stopping.make)),
      // while other processes change the storage, no poll may be skipped
      Layer.provideMerge(
        Layer.succeed(Polling.Polling, isAlone ? Context.get(storage, Polling.Polling) : Polling.steady)
      )
    ),
    scope
  )

  /** Runs an effect in the process, for the world. */
  const inside = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<Exit.Exit<A, E> | null> =>
    Effect.callback((resume) => {
      if (lane.isDead()) return resume(Effect.succeed(null))
      const end = (exit: Exit.Exit<A, E> | null) => resume(Effect.as(Effect.yieldNow, exit))
      const forget = lane.onDeath(() => end(null))
      const fiber = lane.fork(effect)
      fiber.addObserver((exit) => {
        forget()
        end(exit)
      })
      return Effect.sync(() => {
        forget()
        lane.fork(Fiber.interrupt(fiber))
      })
    })

  const started = Effect.map(inside(build), (built): Started | null => {
    if (built === null || Exit.isFailure(built)) {
      lane.kill()
      return null
    }
    const services = Context.merge(lane.context, built.value)
    const handle = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(lane.context)(
      // the request waits for the process's turn
      Effect.andThen(Effect.yieldNow, Context.get(built.value, HttpRouter.HttpRouter).asHttpEffect())
    )
    const request = ({ body, headers = {}, method, path }: Request): Effect.Effect<Response | null> =>
      Effect.callback((resume) => {
        if (lane.isDead()) return resume(Effect.succeed(null))
        const end = (response: Response | null) => resume(Effect.as(Effect.yieldNow, response))
        const forget = lane.onDeath(() => end(null))
        const hangUp = new AbortController()
        const init = { method, headers, signal: hangUp.signal, ...(body === undefined ? {} : { body }) }
        const answered = async (): Promise<Response> => {
          const response = await handle(new globalThis.Request(`https://wac.example${path}`, init))
          return {
            status: response.status,
            text: await response.text(),
            isReplayed: response.headers.get("idempotent-replayed") === "true"
          }
        }
        // a response is cut off only for a caller that has hung up
        void answered().catch(() => null).then((response) => {
          forget()
          end(response)
        })
        return Effect.sync(() => {
          forget()
          lane.fork(Effect.sync(() => hangUp.abort()))
        })
      })
    const use: Started["use"] = (effect) =>
      Effect.map(
        inside(Effect.provideContext(effect, services)),
        (exit) => exit !== null && Exit.isSuccess(exit) ? exit.value : null
      )
    return {
      lane,
      request,
      use,
      receive: (item) =>
        use(Inbound.Inbound.use((inbound) => inbound.receive([item]))).pipe(
          Effect.timeoutOrElse({ duration: providerPatience, orElse: () => Effect.succeed(null) }),
          Effect.map((received) => received !== null)
        ),
      dieAt: (point, others) => {
        dying = { point, left: others }
      },
      stop: Effect.andThen(
        Effect.timeoutOrElse(inside(Scope.close(scope, Exit.void)), {
          duration: "10 seconds",
          orElse: () => Effect.succeed(null)
        }),
        Effect.sync(lane.kill)
      )
    }
  })
  return { lane, started }
}
