/**
 * Contestant (a)'s child process: the server of `apps/server` with a provider that accepts every message at once.
 */
import "../../apps/server/src/YoungObjects.ts"
import { PgClient } from "@effect/sql-pg"
import { ApiKeys, Capabilities, Id, Idempotency, Message, Messages, PhoneNumber, Provider } from "@wac/core"
import { Composition } from "@wac/effect"
import { Context, Effect, Layer, Logger, ManagedRuntime, Metric, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer } from "effect/http"
import { randomUUID } from "node:crypto"
import * as v8 from "node:v8"
import * as vm from "node:vm"
import { run } from "../../apps/server/src/Run.ts"
import { fromEnvironment } from "../../apps/server/src/ServerConfig.ts"
import * as Child from "./Child.ts"
import * as RoundTrips from "./RoundTrips.ts"
import { median } from "./Statistics.ts"
import * as Workload from "./Workload.ts"

/** The environment variables of the server. */
export interface Options {
  readonly [variable: string]: string
  readonly DATABASE_URL: string
}

/** Asks how long the same statement takes twice, through a PostgreSQL client like the server's. */
export interface TwoRoundTrips {
  readonly statement: string
  readonly repetitions: number
}

/** Asks how long consecutive sends through the core take in this process, without HTTP. */
export interface CoreSends {
  readonly apiKey: string
  readonly sends: number
}

/** Asks what the process holds in memory, in bytes, once all garbage is collected. */
export interface Memory {
  readonly memory: true
}

/** The flag comes too late for the global function, and in time for new contexts. */
const collect = (): void => {
  v8.setFlagsFromString("--expose-gc")
  vm.runInNewContext("gc")()
}

const memory = (): number => {
  collect()
  const { external, heapUsed } = process.memoryUsage()
  return heapUsed + external
}

const provider = Layer.succeed(Provider.Provider, {
  name: "bench",
  capabilities: Capabilities.all,
  send: () => Effect.sync(() => ({ _tag: "Accepted", providerMessageId: `wamid.${randomUUID()}` })),
  firstNumber: Effect.succeed({
    phoneNumber: "+12015550100",
    providerNumberId: "bench",
    providerAccountId: "bench",
    learned: PhoneNumber.unlearned
  }),
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

const coreSends = Effect.fnUntraced(function*({ apiKey, sends }: CoreSends, { begin, end }: RoundTrips.Watcher) {
  const random = yield* SecureRandom.SecureRandom
  const messages = yield* Messages.Messages
  const { key, workspace } = yield* ApiKeys.ApiKeys.use((keys) => keys.authenticate(apiKey))
  const times: Array<number> = []
  for (let i = 0; i < sends; i++) {
    const body = Workload.bodyTo(Workload.someCustomer())
    const idempotencyKey = Idempotency.IdempotencyKey.make(randomUUID())
    const before = performance.now()
    begin()
    yield* messages.send({
      workspaceId: workspace.id,
      apiKeyId: key.id,
      key: idempotencyKey,
      requestId: yield* Id.generate(random, "req"),
      message: yield* Schema.decodeUnknownEffect(Message.OutboundMessage)(JSON.parse(body))
    })
    end()
    times.push(performance.now() - before)
  }
  return median(times)
})

type Question = RoundTrips.Watch | TwoRoundTrips | CoreSends | Memory

Child.serve<Options, Question>(async (options) => {
  const watcher = RoundTrips.watcher(options.DATABASE_URL)
  const adapters = { ...Composition.standard, provider }
  const server = Layer.effectContext(Effect.map(run(options, adapters), ({ services }) => services))
  const client = PgClient.layer({ url: Redacted.make(options.DATABASE_URL) })
  const runtime = ManagedRuntime.make(Layer.merge(server, client))
  const { address } = Context.get(await runtime.context(), HttpServer.HttpServer)
  const core = ManagedRuntime.make(
    Layer.unwrap(Effect.map(fromEnvironment(options), (config) => Composition.layer(config, adapters))).pipe(
      Layer.provide(Layer.merge(Logger.layer([]), Layer.sync(Metric.MetricRegistry, () => new Map())))
    )
  )
  return {
    ready: { url: HttpServer.formatAddress(address) },
    answer: async (question) => {
      if ("watch" in question) return watcher.answer(question)
      if ("memory" in question) return memory()
      if ("statement" in question) return runtime.runPromise(twoRoundTrips(question))
      const send = await core.runPromise(coreSends(question, watcher))
      return { send, waited: watcher.waited() }
    }
  }
})
