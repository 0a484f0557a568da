/**
 * Starts the server: reads the configuration, builds the services, and collects what is printed for the first owner.
 */
import { Provider, Storage } from "@wac/core"
import type { Composition } from "@wac/effect"
import { Effect, Layer, Schema } from "effect"
import { HttpServer } from "effect/http"
import * as Addresses from "./config/Addresses.ts"
import { refusedMediaStore, wrongMasterKey } from "./config/Storage.ts"
import { FirstOwner, type SignIn } from "./FirstOwner.ts"
import type { Guide } from "./Guide.ts"
import * as RateCardFile from "./RateCardFile.ts"
import * as Server from "./Server.ts"
import { fromEnvironment } from "./ServerConfig.ts"
import * as SetupFile from "./SetupFile.ts"
import * as Variable from "./Variable.ts"
import type * as VariableText from "./VariableText.ts"

/** The server cannot listen on the address. */
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

/**
 * What is printed if the first owner has not signed in yet: a guide for people or, if the log is JSON, a summary for
 * programs.
 */
interface Printed {
  readonly guide?: Guide
  readonly summary?: Omit<Guide, "signIn"> & {
    readonly signIn: SignIn | { readonly _tag: "SetupFile"; readonly path: string }
  }
}

/**
 * Runs the server in the current scope; completes when it listens. Returns its services and, if the first owner has not
 * signed in yet, the `guide` or `summary` to print.
 */
export const run = Effect.fnUntraced(function*(
  environment: VariableText.Environment,
  adapters?: Partial<Composition.Adapters>
) {
  const config = yield* fromEnvironment(environment)
  const rateCard = yield* RateCardFile.load(config.rateCardFile)
  const services = yield* Layer.build(Server.layer({ ...config, rateCard }, adapters)).pipe(
    Effect.catchTags({
      ServeError: ({ cause }) =>
        Effect.fail(new CannotListen({ host: config.host, port: config.port, why: codeOf(cause) })),
      UnreadableSecret: () => Effect.fail(wrongMasterKey),
      S3ClientMissing: (error) => Effect.fail(refusedMediaStore(error)),
      S3Refused: (error) => Effect.fail(refusedMediaStore(error))
    })
  )
  const printed: Printed = yield* Effect.gen(function*() {
    for (const name of Variable.unknown(Object.keys(environment))) {
      yield* Effect.logWarning(`${name} is not a variable of this service`)
    }
    const noSignIn = Addresses.noSignIn(config.publicUrl)
    if (noSignIn !== undefined) yield* Effect.logWarning(`PUBLIC_URL: ${noSignIn}`)
    const storage = yield* Storage.Storage
    if (!storage.durable) yield* Effect.logWarning(`storage is ${storage.name}: nothing survives a restart`)
    const { name: provider } = yield* Provider.Provider
    const { address } = yield* HttpServer.HttpServer
    const listening = HttpServer.formatAddress(address)
    const { signIn } = yield* FirstOwner
    yield* Effect.logInfo(`listening on ${listening}, storage ${storage.name}, provider ${provider}`)
    // a port that the system chose is known only now
    const own = config.port === 0 ? Addresses.ofThisMachine(new URL(listening)) : config.publicUrl
    const publicUrl = own.href.replace(/\/$/, "")
    if (signIn === undefined) {
      yield* Effect.logInfo(`sign in at ${publicUrl}/; the API is documented at ${publicUrl}/docs`)
      return {}
    }
    const facts = {
      listening,
      publicUrl,
      storage: storage.durable ? storage.name : `${storage.name} (nothing survives a restart)`,
      provider
    }
    if (config.logFormat === "pretty") return { guide: { ...facts, signIn } }
    if (signIn._tag === "Owner") return { summary: { ...facts, signIn } }
    const path = yield* SetupFile.keep(config.setupFile, `${publicUrl}/setup#${signIn.token}`)
    yield* Effect.logWarning(`there is no workspace yet: open the link in the file ${path} to create the owner`)
    return { summary: { ...facts, signIn: { _tag: "SetupFile" as const, path } } }
  }).pipe(Effect.provideContext(services))
  yield* Effect.addFinalizer(() =>
    Effect.provideContext(Effect.logInfo("stopping: requests, sends and deliveries in flight finish first"), services)
  )
  return { services, ...printed }
})
