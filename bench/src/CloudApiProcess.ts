/**
 * The simulated Cloud API in a child process, with a number of the highest throughput. It answers when each send came.
 */
import { CloudApi } from "@wac/simulator"
import { Context, Effect, Layer, ManagedRuntime } from "effect"
import * as Child from "./Child.ts"

export interface Ready {
  /** The variables that let a server use it. */
  readonly environment: { readonly [variable: string]: string }
}

/** Asks for all sends so far, or for their number, which takes no time from whatever is measured. */
export type Question = "arrivals" | "count"

/** A send, and when it came, in milliseconds. */
export type Arrival = CloudApi.Arrival

class Simulated extends Context.Service<Simulated, CloudApi.CloudApi>()("@wac/bench/CloudApiProcess/Simulated") {}

/** No reports, whose cost is that of other measurements, and no limit of a pair. */
const settings: CloudApi.Options["settings"] = {
  sentAfter: null,
  deliveredAfter: null,
  readAfter: null,
  pairLimit: false
}

const layer = Layer.effect(
  Simulated,
  Effect.gen(function*() {
    const api = yield* CloudApi.make({ settings })
    yield* api.changeNumber(api.identity.numbers[0].id, { throughput: { level: "HIGH" } })
    return api
  })
)

Child.serve<null, Question>(async () => {
  const runtime = ManagedRuntime.make(layer)
  const { arrivals, environment } = Context.get(await runtime.context(), Simulated)
  return {
    ready: { environment } satisfies Ready,
    answer: (question): Promise<ReadonlyArray<Arrival> | number> =>
      runtime.runPromise(Effect.map(arrivals, (all) => question === "count" ? all.length : all))
  }
})
