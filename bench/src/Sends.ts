/**
 * The `sends` measurement. The stage `comparison` compares our server (a) with a service written by hand (b) and with
 * two limits: PostgreSQL alone (c, pgbench) and HTTP alone (d, an echo). The stage `batches` compares two ways to queue.
 */
import { Console, Effect, type Scope } from "effect"
import * as Batches from "./Batches.ts"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Contestant } from "./Contestant.ts"
import * as ContestantEcho from "./ContestantEcho.ts"
import * as ContestantFastify from "./ContestantFastify.ts"
import * as ContestantPgbench from "./ContestantPgbench.ts"
import * as ContestantWac from "./ContestantWac.ts"
import * as Database from "./Database.ts"
import * as Load from "./Load.ts"
import * as LoneCaller from "./LoneCaller.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"

/** The parts of the measurement. */
export const stages = ["comparison", "batches"] as const

export const run = (
  plan: Rounds.Plan,
  options: {
    readonly pgbench: boolean
    /** The only stage to measure; `undefined` measures all. */
    readonly stage: typeof stages[number] | undefined
  }
): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const cluster = yield* Database.cluster
    const loader = yield* Load.make
    yield* Console.log(Report.conditions(cluster, Report.sending(plan)))
    const measures = {
      comparison: comparison(cluster, loader, plan, options),
      batches: Batches.run(cluster, loader, plan)
    }
    for (const stage of options.stage === undefined ? stages : [options.stage]) yield* Effect.scoped(measures[stage])
  })

/** Measures our server beside the others, under load and with a lone caller. */
const comparison = (
  cluster: Database.Cluster,
  loader: Load.Loader,
  plan: Rounds.Plan,
  options: { readonly pgbench: boolean }
): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const wac = yield* ContestantWac.start(cluster, loader, { name: "wac", database: "wac_bench_wac" })
    const fastify = yield* ContestantFastify.start(cluster, loader)
    const pgbench = options.pgbench ? yield* ContestantPgbench.start(cluster) : undefined
    const echo = yield* ContestantEcho.start(loader)
    const contestants: ReadonlyArray<Contestant> = [
      wac.contestant,
      fastify.contestant,
      ...pgbench === undefined ? [] : [pgbench],
      echo
    ]
    const outcome = yield* Rounds.measure(cluster, contestants, plan)
    yield* Console.log(`\n${Report.results(cluster, outcome, { one: "send", many: "sends" })}\n`)
    const { measured } = outcome
    const [a, b] = measured
    yield* Console.log(Report.ratio("a/b", a!, b!, 2))
    if (pgbench !== undefined) yield* Console.log(Report.ratio("a/c", a!, measured[2]!, 1))
    yield* Console.log(Report.ratio(pgbench === undefined ? "a/c" : "a/d", a!, measured.at(-1)!))

    const alone = yield* LoneCaller.measure(wac, fastify, pgbench)
    yield* Console.log(`\n${Report.loneCaller(alone)}`)
  })
