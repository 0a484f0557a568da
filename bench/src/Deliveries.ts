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

export const run = (
  plan: DeliveryReport.Plan,
  options: { readonly bullmq: boolean }
): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const cluster = yield* Database.cluster
    const redis = options.bullmq ? yield* Redis.start : undefined
    const receiver = yield* Receiver.make
    const stage = { cluster, receiver, webhooks: plan.webhooks }
    yield* Console.log(Report.conditions(cluster, DeliveryReport.load(plan, concurrency, redis)))

    const engine = (name: Name, redis?: Redis.Redis) =>
      DeliveryContestant.engine(stage, { name, concurrency, ...(redis === undefined ? {} : { redis }) })
    const wac = yield* DeliveryContestant.wac(stage)
    const engines = [
      yield* engine("graphile-worker"),
      yield* engine("pg-boss"),
      ...redis === undefined ? [] : [yield* engine("BullMQ", redis)]
    ]
    const bare = yield* DeliveryContestant.bareLoop(stage, { concurrency })
    const contestants = [wac, ...engines, bare]

    const outcome = yield* Rounds.measure(cluster, contestants, {
      connections: concurrency,
      rounds: plan.rounds,
      until: { sends: plan.events },
      warmUp: { sends: plan.events }
    })
    yield* Console.log(`\nA backlog of ${Report.whole(plan.events)} events, delivered; latency is from its release`)
    yield* Console.log(`${Report.results(cluster, outcome, { one: "delivery", many: "deliveries" })}\n`)
    yield* Console.log(DeliveryReport.ratios(outcome.measured))

    const steady = yield* SteadyRounds.measure(contestants, plan)
    yield* Console.log(`\n${DeliveryReport.steady(plan, steady)}`)

    const live = yield* LiveRounds.measure(contestants, plan.rounds)
    yield* Console.log(`\n${DeliveryReport.live(live)}`)
  })
