/**
 * The `growth` measurement: our server with stored messages compared with our server without.
 */
import { Console, Effect, type Scope } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import * as ContestantWac from "./ContestantWac.ts"
import * as Database from "./Database.ts"
import * as Load from "./Load.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as SeededMessages from "./SeededMessages.ts"

export const run = (
  plan: Rounds.Plan,
  sizes: ReadonlyArray<number>
): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const cluster = yield* Database.cluster
    const loader = yield* Load.make
    yield* Console.log(Report.conditions(cluster, Report.sending(plan)))
    const contestants = yield* Effect.forEach(sizes, (size, i) =>
      Effect.gen(function*() {
        const name = `${size.toLocaleString("en-US")} messages`
        const { contestant, database } = yield* ContestantWac.start(cluster, loader, {
          name,
          database: `wac_bench_growth_${i}`
        })
        if (size > 0) yield* Console.log(`storing ${name}`)
        yield* SeededMessages.insert(database, size)
        return contestant
      }))
    const outcome = yield* Rounds.measure(cluster, contestants, plan)
    yield* Console.log(`\n${Report.results(cluster, outcome, { one: "send", many: "sends" })}\n`)
    const [first, ...others] = outcome.measured
    for (const [i, other] of others.entries()) {
      const size = sizes[i + 1]!
      yield* Console.log(
        Report.ratio(`${other.name} / ${first!.name}`, other, first!, size === 5_000_000 ? 0.9 : undefined)
      )
    }
  })
