/**
 * The `neighbours` measurement: what dead receivers with a backlog cost the live receivers beside them. Each stage has
 * its own server and database. The first and the last stage have no dead receivers; their difference shows the noise.
 */
import { Console, Effect, Fiber, type Scope } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import * as Database from "./Database.ts"
import { latencies, type Latency, latencyOf, wacServer } from "./DeliveryContestant.ts"
import * as Receiver from "./Receiver.ts"
import type { Question, Recorded } from "./RecorderProcess.ts"
import * as Report from "./Report.ts"

export interface Plan {
  readonly healthy: number
  /** The number of dead receivers in each stage that has any. */
  readonly dead: ReadonlyArray<number>
  readonly backlog: number
  readonly perSecond: number
  /** The duration of a stage. */
  readonly seconds: number
}

/**
 * The time in seconds until the server knows that receivers are dead: first attempts time out after 5 s, and some wait
 * out a lease of 15 s.
 */
const onset = 15

/** The maximum time in seconds to wait for the last events of live webhooks. */
const arriveWithin = 30

/** The warm-up before a stage at the steady rate, in seconds. */
const warmUp = 5

interface Stage {
  readonly name: string
  readonly whole: Latency
  /** Latencies while the server detects the dead receivers, and afterwards. */
  readonly early: Latency
  readonly late: Latency
  readonly missing: number
  /** The number of attempts by outcome. */
  readonly outcomes: string
}

const stage = (
  cluster: Database.Cluster,
  receiver: Receiver.Receiver,
  plan: Plan,
  { dead, name }: { readonly name: string; readonly dead: number }
): Effect.Effect<Stage, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const { ready: deadUrls } = yield* Child.start<ReadonlyArray<string>>("DeadReceiversProcess", { count: dead })
    const healthyUrls = Array.from({ length: plan.healthy }, (_, n) => receiver.urlOf(n))
    const { database, hold, recorder, release } = yield* wacServer(cluster, {
      database: "wac_bench_neighbours",
      urls: [...healthyUrls, ...deadUrls]
    })
    const steady = (seconds: number) =>
      recorder.ask<Recorded>(
        { _tag: "Steady", perSecond: plan.perSecond, seconds, from: 0, to: plan.healthy } satisfies Question
      )
    const before = yield* steady(warmUp)
    yield* receiver.arrivals({ count: before.ids.length, seconds: arriveWithin })
    if (dead > 0) {
      yield* hold
      yield* recorder.ask(
        { _tag: "Backlog", events: plan.backlog, from: plan.healthy, to: plan.healthy + dead } satisfies Question
      )
      yield* database.tidy
      yield* cluster.checkpoint
      yield* release
    }
    const recording = yield* Effect.forkChild(steady(plan.seconds), { startImmediately: true })
    const recorded = yield* Fiber.join(recording)
    const arrivals = yield* receiver.arrivals({ count: recorded.ids.length, seconds: arriveWithin })
    const took = latencies(recorded, arrivals)
    const missing = took.filter((one) => one === Infinity).length
    if (missing === 0) {
      yield* Receiver.check(name, arrivals, { ids: recorded.ids, webhooks: recorder.ready })
    }
    const outcomes = yield* database.query(
      "select outcome, count(*)::integer as count from wac.attempts group by 1 order by 1"
    )
    const startedAt = recorded.times[0]!
    const isEarly = (i: number) => recorded.times[i]! - startedAt < onset * 1000
    return {
      name,
      whole: latencyOf(took),
      early: latencyOf(took.filter((_, i) => isEarly(i))),
      late: latencyOf(took.filter((_, i) => !isEarly(i))),
      missing,
      outcomes: outcomes.map(({ count, outcome }) => `${outcome} ${count}`).join(", ")
    }
  })

export const run = (plan: Plan): Effect.Effect<void, BenchFailed> =>
  Effect.scoped(Effect.gen(function*() {
    const cluster = yield* Database.cluster
    const receiver = yield* Receiver.make
    yield* Console.log(Report.conditions(
      cluster,
      `${plan.healthy} healthy webhooks at ${plan.perSecond} events/s together, ${plan.seconds} s a stage, beside dead ` +
        `ones with a backlog of ${Report.whole(plan.backlog)} events`
    ))
    const stages: Array<Stage> = []
    for (const [i, dead] of [0, ...plan.dead, 0].entries()) {
      const name = dead > 0 ? `${dead} dead` : i === 0 ? "quiet" : "quiet again"
      // each stage has its own server, so that no attempts continue into the next stage
      const done = yield* Effect.scoped(stage(cluster, receiver, plan, { name, dead }))
      yield* Console.log(`${name}: attempts by outcome: ${done.outcomes}`)
      stages.push(done)
    }
    yield* Console.log(`\n${report(stages)}`)
  }))

const report = (stages: ReadonlyArray<Stage>): string => {
  const quiet = stages[0]!
  const cells = (latency: Latency) => [latency.p50, latency.p99, latency.most].map((one) => Report.decimals(one, 1))
  const ratios = (name: string, of: Latency, to: Latency, goal: { readonly most?: number }) =>
    (["p50", "p99"] as const).map((percentile) => {
      const value = of[percentile] / to[percentile]
      return `${name} / quiet, ${percentile}  ${Report.decimals(value, 2)}${Report.verdict(value, goal)}`
    })
  return [
    "From the record of a healthy webhook's event to its arrival",
    Report.table([
      [
        "",
        "p50 ms",
        "p99 ms",
        "most ms",
        `first ${onset} s: p50 ms`,
        "p99 ms",
        "most ms",
        "then: p50 ms",
        "p99 ms",
        "most ms",
        "never"
      ],
      ...stages.map(({ early, late, missing, name, whole }) => [
        name,
        ...cells(whole),
        ...cells(early),
        ...cells(late),
        Report.whole(missing)
      ])
    ]),
    "",
    ...stages.slice(1).flatMap(({ early, late, name, whole }) => [
      ...ratios(name, whole, quiet.whole, { most: 2 }),
      ...ratios(`${name}, first ${onset} s`, early, quiet.early, {}),
      ...ratios(`${name}, then`, late, quiet.late, {})
    ])
  ].join("\n")
}
