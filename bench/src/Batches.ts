/**
 * A stage of `sends`: messages that are queued in batches, beside messages that are queued by calls of their own.
 */
import { Console, Effect, type Scope } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Contestant } from "./Contestant.ts"
import * as ContestantWac from "./ContestantWac.ts"
import type { Cluster } from "./Database.ts"
import type { Loader } from "./Load.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as Workload from "./Workload.ts"

/** The goal for the processor time of a message in a batch, beside one with a call of its own. */
const most = 0.33

/** Measures and prints the results. Neither server sends what it has queued. */
export const run = (
  cluster: Cluster,
  loader: Loader,
  plan: Rounds.Plan
): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const start = (name: string, handover: Workload.Handover) =>
      Effect.map(
        ContestantWac.start(cluster, loader, { name, database: `wac_bench_${handover.toLowerCase()}`, handover }),
        ({ contestant }) => contestant
      )
    const calls = yield* start("each by a call", "Queue")
    const batches = yield* start(`${Workload.perBatch} in a batch`, "Batch")
    // one caller: more of them would have thousands of messages under way
    const alone: Contestant = { ...batches, round: (load) => batches.round({ ...load, connections: 1 }) }
    const outcome = yield* Rounds.measure(cluster, [calls, alone], plan)
    const [one, many] = outcome.measured
    yield* Console.log(
      `\n${Report.results(cluster, outcome, { one: "message", many: "queued" })}\n\n${
        Report.costRatio("processor time of a message in a batch / by a call", many!, one!, { most })
      }`
    )
  })
