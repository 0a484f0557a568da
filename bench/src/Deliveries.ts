/**
 * The `deliveries` measurement: our delivery engine compared with job queues.
 */
import { WebhookScheduler } from "@wac/core"
import { Console, Effect, type Scope } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import * as Database from "./Database.ts"
import * as DeliveryContestant from "./DeliveryContestant.ts"
import * as DeliveryReport from "./DeliveryReport.ts"
import type { Name } from "./Engines.ts"
import * as LiveRounds from "./LiveRounds.ts"
import * as Receiver from "./Receiver.ts"
import * as Redis from "./Redis.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as SteadyRounds from "./SteadyRounds.ts"

/** The number of concurrent attempts: our server's, and so every contestant's. */
const concurrency = WebhookScheduler.maxInFlight.healthy

/** The parts of the measurement. */
export const stages = ["backlog", "steady", "live"] as const

export const run = (
  plan: DeliveryReport.Plan,
  options: {
    readonly bullmq: boolean
    /** The only stage to measure; `undefined` measures all. */
    readonly stage: typeof stages[number] | undefined
  }
): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const cluster = yield* Database.cluster
    const redis = options.bullmq ? yield* Redis.start : undefined
    const receiver = yield* Receiver.make
    const site = { cluster, receiver, webhooks: plan.webhooks }
    yield* Console.log(Report.conditions(cluster, DeliveryReport.load(plan, concurrency, redis)))

    const engine = (name: Name, redis?: Redis.Redis) =>
      DeliveryContestant.engine(site, { name, concurrency, ...(redis === undefined ? {} : { redis }) })
    const wac = yield* DeliveryContestant.wac(site)
    const engines = [
      yield* engine("graphile-worker"),
      yield* engine("pg-boss"),
      ...redis === undefined ? [] : [yield* engine("BullMQ", redis)]
    ]
    const bare = yield* DeliveryContestant.bareLoop(site, { concurrency })
    const contestants = [wac, ...engines, bare]

    const measures = {
      backlog: Effect.gen(function*() {
        const outcome = yield* Rounds.measure(cluster, contestants, {
          connections: concurrency,
          rounds: plan.rounds,
          until: { sends: plan.events },
          warmUp: { sends: plan.events }
        })
        yield* Console.log(`\nA backlog of ${Report.whole(plan.events)} events, delivered; latency is from its release`)
        yield* Console.log(`${Report.results(cluster, outcome, { one: "delivery", many: "deliveries" })}\n`)
        yield* Console.log(DeliveryReport.ratios(outcome.measured))
      }),
      steady: Effect.flatMap(
        SteadyRounds.measure(contestants, plan),
        (steady) => Console.log(`\n${DeliveryReport.steady(plan, steady)}`)
      ),
      live: Effect.flatMap(
        LiveRounds.measure(contestants, plan.rounds),
        (live) => Console.log(`\n${DeliveryReport.live(live)}`)
      )
    }
    for (const stage of options.stage === undefined ? stages : [options.stage]) yield* measures[stage]
  })
