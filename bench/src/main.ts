/**
 * The command line of the benchmarks, such as `npm run bench -- sends`: parses the options, runs the measurement, and
 * prints its errors.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Console, Effect, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import * as Campaign from "./Campaign.ts"
import * as Capacity from "./Capacity.ts"
import * as CapacityDays from "./CapacityDays.ts"
import * as Deliveries from "./Deliveries.ts"
import * as Embed from "./Embed.ts"
import * as FakeDays from "./FakeDays.ts"
import * as Growth from "./Growth.ts"
import * as Held from "./Held.ts"
import * as Interactions from "./Interactions.ts"
import * as Neighbours from "./Neighbours.ts"
import * as Queue from "./Queue.ts"
import type * as Rounds from "./Rounds.ts"
import * as Sends from "./Sends.ts"
import * as Starts from "./Starts.ts"
import * as Strangers from "./Strangers.ts"
import * as Verifications from "./Verifications.ts"

const count = (name: string, fallback: number, description: string) =>
  Flag.Int(name).pipe(
    Flag.withSchema(Schema.Int.check(Schema.isGreaterThan(0))),
    Flag.withDefault(fallback),
    Flag.withDescription(description)
  )

const rounds = count("rounds", 5, "Rounds of each contestant that count")

const plan = {
  connections: count("connections", 64, "Callers at once"),
  rounds,
  seconds: count("seconds", 5, "Length of a round"),
  warmUp: count("warm-up", 8, "Seconds that each contestant runs before the first round")
}

const planOf = (
  { seconds, warmUp, ...plan }: {
    readonly connections: number
    readonly rounds: number
    readonly seconds: number
    readonly warmUp: number
  }
): Rounds.Plan => ({ ...plan, until: { seconds }, warmUp: { seconds: warmUp } })

const stage = <const Stages extends ReadonlyArray<string>>(stages: Stages) =>
  Flag.Literals("stage", stages).pipe(Flag.withDefault(undefined), Flag.withDescription("The only part to measure"))

const sends = Command.make(
  "sends",
  {
    ...plan,
    pgbench: Flag.Boolean("pgbench").pipe(
      Flag.withDefault(true),
      Flag.withDescription("Measure pgbench too; it must be installed")
    ),
    stage: stage(Sends.stages)
  },
  ({ pgbench, stage, ...plan }) => Effect.scoped(Sends.run(planOf(plan), { pgbench, stage }))
).pipe(
  Command.withDescription(
    "Sends per second of our server, beside a Fastify service, pgbench and a bare node:http server"
  )
)

const numbersOf = (least: number) => (text: string): ReadonlyArray<number> => {
  const numbers = text.split(",").map(Number)
  if (numbers.length < least || !numbers.every((number) => Number.isSafeInteger(number) && number >= 0)) {
    throw new Error(`${least} or more numbers with commas between`)
  }
  return numbers
}

const growth = Command.make(
  "growth",
  {
    ...plan,
    stored: Flag.String("stored").pipe(
      Flag.withDefault("0,1000000,5000000"),
      Flag.mapTryCatch(numbersOf(2), (error) => error instanceof Error ? error.message : String(error)),
      Flag.withDescription("Messages stored in each database, commas between; ratios are to the first")
    )
  },
  ({ stored, ...plan }) => Effect.scoped(Growth.run(planOf(plan), stored))
).pipe(Command.withDescription("Sends per second of our server with messages stored"))

const perSecond = count("per-second", 200, "Events per second at the steady rate")

const deliveries = Command.make(
  "deliveries",
  {
    webhooks: count("webhooks", 64, "Webhooks, each of a workspace of its own"),
    events: count("events", 20_000, "Events of a backlog"),
    rounds,
    perSecond,
    seconds: count("seconds", 10, "Length of a round at the steady rate"),
    bullmq: Flag.Boolean("bullmq").pipe(
      Flag.withDefault(true),
      Flag.withDescription("Measure BullMQ too; redis-server must be installed")
    ),
    stage: stage(Deliveries.stages)
  },
  ({ bullmq, stage, ...plan }) => Effect.scoped(Deliveries.run(plan, { bullmq, stage }))
).pipe(
  Command.withDescription(
    "Deliveries per second of our engine, beside graphile-worker, pg-boss, BullMQ and a bare undici loop"
  )
)

const neighbours = Command.make(
  "neighbours",
  {
    healthy: count("healthy", 200, "Webhooks that answer"),
    dead: Flag.String("dead").pipe(
      Flag.withDefault("50,500"),
      Flag.mapTryCatch(numbersOf(1), (error) => error instanceof Error ? error.message : String(error)),
      Flag.withDescription("Webhooks that do not, commas between; each number is a stage")
    ),
    backlog: count("backlog", 100_000, "Events that wait for the dead ones"),
    perSecond,
    seconds: count("seconds", 60, "Length of a stage")
  },
  (plan) => Neighbours.run(plan)
).pipe(Command.withDescription("How long the events of healthy webhooks take beside dead ones with a backlog"))

const held = Command.make(
  "held",
  {
    retries: count("retries", 1_000_000, "Deliveries that wait to be tried again"),
    held: count("held", 1_000_000, "Deliveries that a paused webhook holds"),
    seconds: count("seconds", 30, "How long the memory is looked at, without the retries and with them"),
    repetitions: count("repetitions", 20, "How often it is paused, resumed and looked at")
  },
  (plan) => Held.run(plan)
).pipe(Command.withDescription("What a million waiting retries, and a million held deliveries, cost our server"))

const queue = Command.make(
  "queue",
  {
    seconds: count("seconds", 30, "Length of each stage, which its rounds share"),
    rounds: count("rounds", 10, "Rounds of each stage that has any"),
    waiting: count("waiting", 1_000_000, "Messages that wait, for later and all due at once"),
    stage: stage(Queue.stages)
  },
  (plan) => Queue.run(plan)
).pipe(
  Command.withDescription("How punctual queued messages are, and what a million of them cost sends of callers")
)

const dashboard = Command.make(
  "dashboard",
  {
    stored: count("stored", 1_000_000, "Messages stored, with an event and a delivery each"),
    repetitions: count("repetitions", 10, "How often each list is read, and each interaction made")
  },
  (plan) => Effect.scoped(Interactions.run(plan))
).pipe(Command.withDescription("How long lists take over HTTP, and interactions in Chromium, with messages stored"))

const strangers = Command.make(
  "strangers",
  {
    connections: count("connections", 300, "Connections of strangers"),
    seconds: count("seconds", 20, "How long each kind of them stays")
  },
  (plan) => Effect.scoped(Strangers.run(plan))
).pipe(Command.withDescription("How long a caller with a key waits beside connections of strangers"))

const campaign = Command.make(
  "campaign",
  {
    processes: count("processes", 3, "Server processes"),
    rounds,
    seconds: count("seconds", 10, "Length of each turn in a round"),
    recipients: Flag.String("recipients").pipe(
      Flag.withDefault("1000,100000,1000000"),
      Flag.mapTryCatch(numbersOf(2), (error) => error instanceof Error ? error.message : String(error)),
      Flag.withDescription("Recipients of campaigns whose memory is compared, commas between; each number is a stage")
    ),
    kills: count("kills", 15, "Processes that are killed beside a campaign")
  },
  (plan) => Effect.scoped(Campaign.run(plan))
).pipe(Command.withDescription("The pace, cost and memory of a campaign, and how long other sends wait beside it"))

const capacity = Command.make(
  "capacity",
  {
    messages: count("messages", 10_000, "Messages that are sent, reported on and delivered"),
    days: Flag.Int("days").pipe(
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: CapacityDays.most }))),
      Flag.withDefault(CapacityDays.most),
      Flag.withDescription("Days with so many messages, of which all but the first are copies")
    )
  },
  (plan) => Effect.scoped(Capacity.run(plan))
).pipe(
  Command.withDescription("What a message costs in disk space and write-ahead log, and what deleting messages costs")
)

const verify = Command.make(
  "verify",
  {
    rounds: count("rounds", 15, "Rounds that count"),
    milliseconds: count("milliseconds", 100, "Length of each contestant's turn in a round")
  },
  (plan) => Verifications.run(plan)
).pipe(
  Command.withDescription("What verifying a delivery costs, beside the packages stripe, standardwebhooks and svix")
)

const embed = Command.make(
  "embed",
  {
    rounds: count("rounds", 15, "Rounds of each contestant that count"),
    calls: count("calls", 2000, "Calls of each contestant in a round"),
    callers: count("callers", 16, "Calls at once")
  },
  (plan) => Effect.scoped(Embed.run(plan))
).pipe(
  Command.withDescription("What the façade adds to a send of the core, and its fetch handler to the server's route")
)

const clock = Command.make("clock", { rounds: count("rounds", 5, "Rounds of each span that count") }, FakeDays.run)
  .pipe(
    Command.withDescription("How long a fake hour, day and week take in memory")
  )

const start = Command.make(
  "start",
  {
    rounds: count("rounds", 5, "Rounds that count"),
    idle: count("idle", 10, "Seconds before the memory of a process is read")
  },
  (plan) => Effect.scoped(Starts.run(plan))
).pipe(Command.withDescription("From the command to the first response, and the memory of the idle process"))

Command.make("bench").pipe(
  Command.withDescription(
    "Measurements, side by side, in one run; PostgreSQL is started for it " +
      "unless BENCH_DATABASE_URL names one"
  ),
  Command.withSubcommands([
    sends,
    growth,
    deliveries,
    neighbours,
    held,
    queue,
    campaign,
    capacity,
    dashboard,
    strangers,
    embed,
    clock,
    verify,
    start
  ]),
  Command.run({ version: "0.1.0" }),
  Effect.tapErrorTag("BenchFailed", ({ message }) => Console.error(`The run is invalid: ${message}`)),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
