/**
 * The command line: `npm run simulate -- --seeds 100`. Runs seeds until one fails, then shrinks its plan and prints the
 * run as a table. The exit code is 1 if a promise was broken.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { History } from "@wac/checker"
import { Console, Effect, FileSystem, Option, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import * as Judge from "./Judge.ts"
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
    Flag.withDescription("How many seeds to run, on all processors")
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withSchema(whole),
    Flag.withDefault(1),
    Flag.withDescription("The first seed")
  ),
  quiet: Flag.Boolean("quiet").pipe(
    Flag.withDefault(false),
    Flag.withDescription("Print no line for a seed that keeps every promise")
  ),
  history: Flag.String("history").pipe(
    Flag.optional,
    Flag.withDescription("A file for the history of the last run, as the checker reads it")
  )
}

const day = 24 * 60 * 60 * 1000

/** How much was judged, together. */
const summary = (judged: ReadonlyArray<Judge.Judged>): string => {
  const sum = (of: (one: Judge.Judged) => number) => judged.reduce((sum, one) => sum + of(one), 0)
  const days = Math.round(sum(({ millis }) => millis) / day)
  return `seeds: ${judged.length}, entries: ${sum(({ entries }) => entries)}, virtual days: ${days}`
}

const simulate = Command.make("simulate", flags, ({ history, quiet, seed: first, seeds }) =>
  Effect.gen(function*() {
    const files = yield* FileSystem.FileSystem
    const judged: Array<Judge.Judged> = []
    yield* Judge.all(Array.from({ length: seeds }, (_, index) => first + index)).pipe(
      Stream.takeUntil(({ isKept }) => !isKept),
      Stream.runForEach((one) => {
        judged.push(one)
        if (quiet && one.isKept) return Effect.void
        return Console.log(`seed ${one.seed}: ${one.entries} entries, ${one.isKept ? "kept" : "BROKEN"}`)
      })
    )
    yield* Console.log(summary(judged))
    const { isKept, seed } = judged.at(-1)!
    if (isKept && Option.isNone(history)) return
    // the same seed gives the same run here as in its thread
    const last = yield* Effect.promise(() => Simulation.run(Plan.make(seed)))
    if (Option.isSome(history)) yield* files.writeFileString(history.value, History.print(last.history))
    if (isKept) return
    const shrunk = yield* Effect.promise(() => Shrink.shrink(last.plan, Simulation.breaks(last)))
    yield* Console.log(Table.of(yield* Effect.promise(() => Simulation.run(shrunk))))
    return yield* new PromiseBroken({ seed })
  })).pipe(Command.withDescription("Runs the whole service under seeds, and judges what was seen by the contract"))

Command.run(simulate, { version: "0.1.0" }).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
