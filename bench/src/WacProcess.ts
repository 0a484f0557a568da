/**
 * Our server in a process of its own: composed as `apps/server` is, over PostgreSQL and with a provider that accepts
 * at once.
 */
import { NodeCrypto, NodeHttpServer } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import {
  ApiKeys,
  Inbound,
  Limits,
  LocalAuthenticator,
  Messages,
  MessageSweeper,
  Password,
  Provider,
  Setup,
  Templates,
  Vault,
  Webhooks,
  WebhookScheduler
} from "@wac/core"
import { HttpApp, PublicUrl, ReceiverGuardDns, WebhookTransportUndici } from "@wac/http"
import { PostgresStorage } from "@wac/postgres"
import { SandboxProvider } from "@wac/sandbox"
import { Effect, Layer, ManagedRuntime, Redacted, References } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { randomBytes, randomUUID } from "node:crypto"
import { createServer } from "node:http"
import * as Child from "./Child.ts"
import { median } from "./Statistics.ts"
import * as Workload from "./Workload.ts"

export interface Options {
  readonly databaseUrl: string
  readonly owner: { readonly email: string; readonly password: string }
  readonly limits: Limits.Limits
}

/** Asks how long the same statement twice takes, through the kind of client that the server uses. */
export interface TwoRoundTrips {
  readonly statement: string
  readonly repetitions: number
}

/** It accepts at once. */
const provider = Layer.succeed(Provider.Provider, {
  name: "bench",
  send: () => Effect.sync(() => ({ _tag: "Accepted", providerMessageId: `wamid.${randomUUID()}` })),
  templates: () =>
    Effect.succeed([{
      providerTemplateId: "bench",
      name: Workload.template.name,
      language: Workload.template.language,
      category: "utility",
      status: "approved",
      parameterFormat: "positional",
      components: [{ type: "BODY", text: Workload.template.body }],
      quality: null,
      rejectionReason: null
    }])
})

const receivers = { allowInsecure: false, allowedCidrs: [] }

const services = ({ databaseUrl, limits }: Options) =>
  Layer.mergeAll(ApiKeys.ApiKeys.layer, Messages.Messages.layer, Webhooks.Webhooks.layer, LocalAuthenticator.layer)
    .pipe(
      Layer.provideMerge(Setup.Setup.layer(SandboxProvider.firstNumber)),
      Layer.provideMerge(Layer.mergeAll(Templates.Templates.layer, Password.Passwords.layer)),
      Layer.provideMerge(provider),
      Layer.provideMerge(Inbound.Inbound.layer),
      Layer.provideMerge(Vault.Vault.layer({ current: Redacted.make(randomBytes(32)) })),
      Layer.provideMerge(Layer.merge(ReceiverGuardDns.layer(receivers), WebhookTransportUndici.layer(receivers))),
      Layer.provideMerge(PostgresStorage.layerServer({ url: Redacted.make(databaseUrl) })),
      Layer.provideMerge(NodeCrypto.layer),
      Layer.provideMerge(Layer.succeed(Limits.CurrentLimits, limits))
    )

const server = (options: Options) =>
  HttpRouter.serve(HttpApp.layer, {
    disableLogger: true,
    disableListenLog: true,
    routerConfig: HttpApp.routerConfig
  }).pipe(
    Layer.provideMerge(Layer.merge(MessageSweeper.layer, WebhookScheduler.layer)),
    Layer.provideMerge(services(options)),
    Layer.provide(Layer.succeed(PublicUrl.PublicUrl, new URL("http://127.0.0.1"))),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
    Layer.provideMerge(PgClient.layer({ url: Redacted.make(options.databaseUrl) })),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "Warn"))
  )

const twoRoundTrips = Effect.fnUntraced(function*({ repetitions, statement }: TwoRoundTrips) {
  const client = yield* PgClient.PgClient
  const times: Array<number> = []
  for (let i = 0; i < repetitions; i++) {
    const before = performance.now()
    yield* client.unsafe(statement)
    yield* client.unsafe(statement)
    times.push(performance.now() - before)
  }
  return median(times)
})

Child.serve<Options, TwoRoundTrips>(async (options) => {
  const runtime = ManagedRuntime.make(server(options))
  const url = await runtime.runPromise(Effect.gen(function*() {
    const { email, password } = options.owner
    yield* Setup.Setup.use((setup) =>
      setup.create({ email, password: Redacted.make(password), workspaceName: "bench" })
    )
    return HttpServer.formatAddress((yield* HttpServer.HttpServer).address)
  }))
  return { ready: { url }, answer: (question) => runtime.runPromise(twoRoundTrips(question)) }
})
