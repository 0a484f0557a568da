/**
 * Contestant (d): a bare `node:http` server. It marks the upper limit for any service on Node.js.
 */
import { Effect, type Scope } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import { type Contestant, useOf } from "./Contestant.ts"
import type { Loader } from "./Load.ts"
import * as Workload from "./Workload.ts"

export const start = (loader: Loader): Effect.Effect<Contestant, BenchFailed, Scope.Scope> =>
  Effect.map(Child.start<{ readonly url: string }>("EchoProcess", null), ({ pid, ready }) => ({
    name: "node:http echo",
    round: (load) =>
      loader.run({ ...load, target: { url: ready.url, apiKey: "none" }, expected: Workload.template.name }),
    use: useOf(pid),
    database: undefined,
    complete: undefined
  }))
