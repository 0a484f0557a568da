/**
 * `npm run bench -- sends` and `npm run bench -- growth`.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Growth from "./Growth.ts"
import * as Sends from "./Sends.ts"

const count = (name: string, fallback: number, description: string) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isGreaterThan(0))),
    Flag.withDefault(fallback),
    Flag.withDescription(description)
  )

const plan = {
  connections: count("connections", 64, "Callers at once"),
  rounds: count("rounds", 5, "Rounds of each contestant that count"),
  seconds: count("seconds", 5, "Length of a round"),
  warmUp: count("warm-up", 8, "Seconds that each contestant runs before the first round")
}

const sends = Command.make(
  "sends",
  {
    ...plan,
    pgbench: Flag.Boolean("pgbench").pipe(
      Flag.withDefault(true),
      Flag.withDescription("Measure pgbench too; it must be installed")
    )
  },
  ({ pgbench, ...plan }) => Effect.scoped(Sends.run(plan, { pgbench }))
).pipe(
  Command.withDescription(
    "Sends per second of our server, beside a Fastify service, pgbench and a bare node:http server"
  )
)

const sizesOf = (text: string): ReadonlyArray<number> => {
  const sizes = text.split(",").map(Number)
  if (sizes.length < 2 || !sizes.every((size) => Number.isSafeInteger(size) && size >= 0)) {
    throw new Error("two or more numbers with commas between")
  }
  return sizes
}

const growth = Command.make(
  "growth",
  {
    ...plan,
    stored: Flag.String("stored").pipe(
      Flag.withDefault("0,1000000,5000000"),
      Flag.mapTryCatch(sizesOf, (error) => error instanceof Error ? error.message : String(error)),
      Flag.withDescription("Messages stored in each database, commas between; ratios are to the first")
    )
  },
  ({ stored, ...plan }) => Effect.scoped(Growth.run(plan, stored))
).pipe(Command.withDescription("Sends per second of our server with messages stored"))

Command.make("bench").pipe(
  Command.withDescription(
    "Measurements, side by side, in one run; each needs PostgreSQL only, which it starts itself " +
      "unless BENCH_DATABASE_URL names one"
  ),
  Command.withSubcommands([sends, growth]),
  Command.run({ version: "0.1.0" }),
  Effect.catchTag("BenchFailed", ({ message }) =>
    Effect.andThen(
      Console.error(`The run is invalid: ${message}`),
      Effect.sync(() => {
        process.exitCode = 1
      })
    )),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
