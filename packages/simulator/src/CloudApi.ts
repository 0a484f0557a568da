/**
 * A simulated WhatsApp Cloud API: an HTTP server on loopback that answers sends as documented, reports message statuses
 * by signed webhooks, and fails on demand.
 *
 * Message statuses, webhook retries and limits use the `Clock` that it is built with; network behaviour (slow
 * responses, timeouts) uses real time. A random result depends only on the seed and on the message or call it concerns.
 */
import { Effect, FiberSet, type Scope } from "effect"
import * as Server from "./CloudApiServer.ts"
import * as Simulation from "./CloudApiSimulation.ts"
import * as Control from "./control/CloudApiControl.ts"
import * as Faults from "./control/CloudApiFaults.ts"
import type { Patch } from "./control/CloudApiSettings.ts"
import * as Inbounds from "./webhooks/CloudApiInbound.ts"

export type { Behaviour } from "./control/CloudApiBehaviour.ts"
export type { Fault, Plan } from "./control/CloudApiFaults.ts"
export type { Arrival, Call, Tally } from "./control/CloudApiLog.ts"
export type { Line, Rate } from "./messages/CloudApiBill.ts"
export type { Inbound, InboundFile } from "./webhooks/CloudApiInbound.ts"

/** Options of a simulated Cloud API. */
export interface Options {
  /** The random seed; 1 by default. */
  readonly seed?: number
  /** The port to listen on; a free one by default. */
  readonly port?: number
  readonly settings?: Patch
  readonly identity?: Partial<Simulation.Identity>
  /** Where webhooks are posted without verification. For a verified URL see `courier.subscribe`. */
  readonly callback?: string
  /** Moves the clock forward by milliseconds; without it, `POST /_sim/clock` is refused. */
  readonly advance?: (millis: number) => void
}

export interface CloudApi extends Simulation.Simulation {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly port: number
  readonly identity: Simulation.Identity
  /** The variables with which a service uses this API. */
  readonly environment: { readonly [name: string]: string }
  /** Breaks every connection and refuses new ones. */
  readonly refuseConnections: Effect.Effect<void>
  readonly acceptConnections: Effect.Effect<void>
}

/** The kinds of messages that customers can send ({@link Simulation.Simulation.receive}). */
export const kinds: ReadonlyArray<string> = Object.keys(Inbounds.kinds)

/** One fault of each kind. */
export const faults = Faults.ofEveryKind

/** Waits in real time. */
const real = (millis: number): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/** The default identity. */
export const identity: Simulation.Identity = {
  account: "102290129340398",
  accessToken: "EAAsimulatedToken",
  appSecret: "simulated-app-secret",
  verifyToken: "simulated-verify-token",
  numbers: [
    { id: "106540352242922", display: "+1 555-078-3881" },
    { id: "106540352242923", display: "+1 555-078-3882" }
  ]
}

/** Listens until the scope closes, which breaks every connection. Fails with a description if the port is in use. */
export const make = Effect.fnUntraced(function*(
  options: Options = {}
): Effect.fn.Return<CloudApi, string, Scope.Scope> {
  const who = { ...identity, ...options.identity }
  const run = yield* FiberSet.makeRuntime<never, void, never>()
  let url = ""
  const { breaksUnread, handle, simulation } = yield* Simulation.make(
    who,
    options.seed ?? 1,
    options.settings ?? {},
    () => url
  )
  const control: (call: Server.Incoming) => Effect.Effect<Server.Outgoing> = Control.make(simulation, {
    verifyToken: who.verifyToken,
    refuseFor: (millis) =>
      Effect.sync(() => {
        // after the response to this call is sent
        run(
          real(10).pipe(
            Effect.andThen(server.refuse),
            Effect.andThen(real(millis)),
            Effect.andThen(server.accept)
          )
        )
      }),
    advance: options.advance
  })
  const server: Server.Server = yield* Server.make({
    port: options.port ?? 0,
    breaksUnread,
    handle: (call) => call.target.startsWith("/_sim") ? control(call) : handle(call)
  })
  url = server.url
  if (options.callback !== undefined) simulation.courier.post(options.callback)

  return {
    ...simulation,
    url,
    port: server.port,
    identity: who,
    environment: {
      PROVIDER: "whatsapp",
      WHATSAPP_BASE_URL: url,
      WHATSAPP_API_VERSION: "v25.0",
      WHATSAPP_ACCESS_TOKEN: who.accessToken,
      WHATSAPP_PHONE_NUMBER_ID: who.numbers[0].id,
      WHATSAPP_BUSINESS_ACCOUNT_ID: who.account,
      WHATSAPP_APP_SECRET: who.appSecret,
      WHATSAPP_VERIFY_TOKEN: who.verifyToken
    },
    refuseConnections: server.refuse,
    acceptConnections: server.accept
  }
})
