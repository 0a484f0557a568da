/**
 * The simulated Cloud API in a child process, with numbers of the highest throughput. It answers when each send came.
 */
import { CloudApi } from "@wac/simulator"
import { Context, Effect, Layer, ManagedRuntime } from "effect"
import * as Child from "./Child.ts"

export interface Ready {
  /** The variables that let a server use it. */
  readonly environment: { readonly [variable: string]: string }
}

export interface Options {
  /** Whether each message is reported as sent, delivered and read. */
  readonly reports: boolean
}

/**
 * Asks for all sends so far, or for their number, which takes no time from whatever is measured; or has reports posted
 * to a URL.
 */
export type Question = "arrivals" | "count" | { readonly subscribe: string }

/** A send, and when it came, in milliseconds. */
export type Arrival = CloudApi.Arrival

class Simulated extends Context.Service<Simulated, CloudApi.CloudApi>()("@wac/bench/CloudApiProcess/Simulated") {}

/** By default no reports, whose cost is that of other measurements. No limit of a pair. */
const settingsOf = ({ reports }: Options): NonNullable<CloudApi.Options["settings"]> =>
  reports
    ? { pairLimit: false, lanes: 8 }
    : { sentAfter: null, deliveredAfter: null, readAfter: null, pairLimit: false }

const layer = (options: Options) =>
  Layer.effect(
    Simulated,
    Effect.gen(function*() {
      const api = yield* CloudApi.make({ settings: settingsOf(options) })
      yield* Effect.forEach(api.identity.numbers, ({ id }) => api.changeNumber(id, { throughput: { level: "HIGH" } }), {
        discard: true
      })
      return api
    })
  )

Child.serve<Options, Question>(async (options) => {
  const runtime = ManagedRuntime.make(layer(options))
  const { arrivals, courier, environment, identity } = Context.get(await runtime.context(), Simulated)
  const answer = (question: Question) =>
    typeof question === "object"
      ? courier.subscribe(question.subscribe, identity.verifyToken)
      : Effect.map(arrivals, (all) => question === "count" ? all.length : all)
  return {
    ready: { environment } satisfies Ready,
    answer: (question) => runtime.runPromise<unknown, never>(answer(question))
  }
})
