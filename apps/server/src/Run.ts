/**
 * Starting: configuration, composition, first owner, and what the terminal says.
 */
import { Provider, Storage } from "@wac/core"
import { Documentation } from "@wac/http"
import { Duration, Effect, Layer, Schema } from "effect"
import { HttpServer } from "effect/http"
import type { Composition } from "wac/effect"
import { FirstOwner } from "./FirstOwner.ts"
import * as Server from "./Server.ts"
import { type Environment, fromEnvironment, unknownVariables, wrongMasterKey } from "./ServerConfig.ts"

/** Nobody else may have the address. */
class CannotListen extends Schema.TaggedError<CannotListen>()("CannotListen", {
  host: Schema.String,
  port: Schema.Int,
  why: Schema.String
}) {
  override get message() {
    return `PORT, HOST: cannot listen on ${this.host}:${this.port} (${this.why})`
  }
}

const codeOf = (cause: unknown): string =>
  typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : "unknown error"

/** The documentation is made once whoever waited for the start has been served. */
const documentationAfter = Duration.seconds(1)

/** Of the address that means all of a machine's, the one by which programs on it keep a session's cookie. */
const pasteable = (url: string): string => url.replace(/^http:\/\/(0\.0\.0\.0|\[::\])(?=[:/]|$)/, "http://localhost")

/**
 * Runs the server in the present scope; done when it listens. Gives its services, and what to say on the terminal if
 * somebody still has to sign in for the first time.
 */
export const run = Effect.fnUntraced(function*(
  environment: Environment,
  adapters?: Partial<Composition.Adapters>
) {
  const config = yield* fromEnvironment(environment)
  const services = yield* Layer.build(Server.layer(config, adapters)).pipe(
    Effect.catchTags({
      ServeError: ({ cause }) =>
        Effect.fail(new CannotListen({ host: config.host, port: config.port, why: codeOf(cause) })),
      UnreadableSecret: () => Effect.fail(wrongMasterKey)
    })
  )
  const guide = yield* Effect.gen(function*() {
    for (const name of unknownVariables(Object.keys(environment))) {
      yield* Effect.logWarning(`${name} is not a variable of this service`)
    }
    const storage = yield* Storage.Storage
    if (!storage.durable) yield* Effect.logWarning(`storage is ${storage.name}: nothing survives a restart`)
    const { name: provider } = yield* Provider.Provider
    const { address } = yield* HttpServer.HttpServer
    const listening = HttpServer.formatAddress(address)
    const { signIn } = yield* FirstOwner
    yield* Effect.logInfo(`listening on ${listening}, storage ${storage.name}, provider ${provider}`)
    // a port that the system chose is known only now
    const publicUrl = pasteable(config.port === 0 ? listening : config.publicUrl.href.replace(/\/$/, ""))
    if (signIn === undefined) {
      yield* Effect.logInfo(`sign in by POST ${publicUrl}/internal/session; all of the API is at ${publicUrl}/docs`)
      return undefined
    }
    return {
      listening,
      publicUrl,
      storage: storage.durable ? storage.name : `${storage.name} (nothing survives a restart)`,
      provider,
      signIn
    }
  }).pipe(Effect.provideContext(services))
  yield* Effect.forkScoped(Effect.delay(Documentation.prepare, documentationAfter))
  yield* Effect.addFinalizer(() =>
    Effect.provideContext(Effect.logInfo("stopping: what is in flight is finished first"), services)
  )
  return { services, guide }
})
