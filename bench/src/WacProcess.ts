/**
 * Our server in a process of its own: that of `apps/server`, but for a provider that accepts at once.
 */
import { PgClient } from "@effect/sql-pg"
import { PhoneNumber, Provider } from "@wac/core"
import { Context, Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { randomUUID } from "node:crypto"
import { Composition } from "wac/effect"
import { run } from "../../apps/server/src/Run.ts"
import * as Child from "./Child.ts"
import { median } from "./Statistics.ts"
import * as Workload from "./Workload.ts"

/** Environment variables of the server. */
export interface Options {
  readonly [variable: string]: string
  readonly DATABASE_URL: string
}

/** Asks how long the same statement twice takes, through a client of the kind that the server uses. */
export interface TwoRoundTrips {
  readonly statement: string
  readonly repetitions: number
}

const provider = Layer.succeed(Provider.Provider, {
  name: "bench",
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

Child.serve<Options, TwoRoundTrips>(async (options) => {
  const server = Layer.effectContext(
    Effect.map(run(options, { ...Composition.standard, provider }), ({ services }) => services)
  )
  const client = PgClient.layer({ url: Redacted.make(options.DATABASE_URL) })
  const runtime = ManagedRuntime.make(Layer.merge(server, client))
  const { address } = Context.get(await runtime.context(), HttpServer.HttpServer)
  return {
    ready: { url: HttpServer.formatAddress(address) },
    answer: (question) => runtime.runPromise(twoRoundTrips(question))
  }
})
