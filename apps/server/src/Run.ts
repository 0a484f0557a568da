/**
 * Starting: configuration, composition, first owner, and what the terminal says.
 */
import { Provider, Setup, Storage } from "@wac/core"
import { Documentation } from "@wac/http"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { HttpServer } from "effect/http"
import type { Composition } from "wac/effect"
import * as Server from "./Server.ts"
import { BadVariable, type Environment, fromEnvironment, type ServerConfig, unknownVariables } from "./ServerConfig.ts"

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

/** Creates the owner that the environment names, and says how to sign in; nothing once that is long done. */
const firstOwner = Effect.fnUntraced(function*(config: ServerConfig) {
  const setup = yield* Setup.Setup
  const token = yield* setup.token
  if (token === undefined) return undefined
  if (config.owner === undefined) {
    return {
      _tag: "SetupLink" as const,
      token: Redacted.value(token),
      suggestedPassword: Redacted.value(token).slice(-12)
    }
  }
  yield* setup.create(config.owner).pipe(Effect.catchTag("AlreadySetUp", () => Effect.void))
  return { _tag: "Owner" as const, email: config.owner.email }
})

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
      UnreadableSecret: () =>
        Effect.fail(
          new BadVariable({
            variable: "WAC_MASTER_KEY",
            expected: "the key that this storage's secrets are under, or that key in WAC_MASTER_KEY_PREVIOUS"
          })
        )
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
    const signIn = yield* firstOwner(config)
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
  return { services, guide }
})
