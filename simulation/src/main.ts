/**
 * The command line: `npm run simulate -- --seeds 100`. Runs seeds until one fails, then shrinks its plan and prints the
 * run as a table. The exit code is 1 if a promise was broken.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { History } from "@wac/checker"
import { Console, Effect, FileSystem, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Plan from "./Plan.ts"
import * as Shrink from "./Shrink.ts"
import * as Simulation from "./Simulation.ts"
import * as Table from "./Table.ts"

/** A promise was broken; the output has told of it. */
class PromiseBroken extends Schema.TaggedError<PromiseBroken>()("PromiseBroken", { seed: Schema.Int }) {
  override get message() {
    return `seed ${this.seed} breaks a promise of the contract: repeat it with --seed ${this.seed}`
  }
}

const whole = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))

const flags = {
  seeds: Flag.Int("seeds").pipe(
    Flag.withSchema(whole),
    Flag.withDefault(1),
    Flag.withDescription("How many seeds to run, one after the other")
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withSchema(whole),
    Flag.withDefault(1),
    Flag.withDescription("The first seed")
  ),
  history: Flag.String("history").pipe(
    Flag.optional,
    Flag.withDescription("A file for the history of the last run, as the checker reads it")
  )
}

const simulate = Command.make("simulate", flags, ({ history, seed: first, seeds }) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    for (let seed = first; seed < first + seeds; seed++) {
      const run = yield* Effect.promise(() => Simulation.run(Plan.make(seed)))
      const isLast = seed === first + seeds - 1
      if (Option.isSome(history) && (isLast || !run.verdict.ok)) {
        yield* files.writeFileString(history.value, History.print(run.history))
      }
      yield* Console.log(`seed ${seed}: ${run.history.entries.length} entries, ${run.verdict.ok ? "kept" : "BROKEN"}`)
      if (run.verdict.ok) continue
      const shrunk = yield* Effect.promise(() => Shrink.shrink(run.plan, Simulation.breaks(run)))
      yield* Console.log(Table.of(yield* Effect.promise(() => Simulation.run(shrunk))))
      return yield* new PromiseBroken({ seed })
    }
  })).pipe(Command.withDescription("Runs the whole service under seeds, and judges what was seen by the contract"))

Command.run(simulate, { version: "0.1.0" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
