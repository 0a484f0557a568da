/**
 * The `queue` measurement: how soon after their time queued messages are sent, also beside a workspace with a full queue,
 * what sends meet beside a full queue of their own, and what a million waiting messages cost.
 */
import { Console, Effect, type Scope } from "effect"
import { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import * as ContestantWac from "./ContestantWac.ts"
import type { Cluster } from "./Database.ts"
import * as Database from "./Database.ts"
import * as Lateness from "./Lateness.ts"
import * as Load from "./Load.ts"
import * as Pace from "./Pace.ts"
import * as ProcessUse from "./ProcessUse.ts"
import * as Queued from "./Queued.ts"
import * as QueueNeighbours from "./QueueNeighbours.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import type * as Sender from "./SenderProcess.ts"
import * as Simulated from "./Simulated.ts"
import { percentile } from "./Statistics.ts"
import * as Time from "./Time.ts"
import * as Workload from "./Workload.ts"

/** The parts of the measurement. Each has databases and servers of its own. */
export const stages = ["sends", "neighbours", "waiting"] as const

export interface Plan {
  /** The only stage to measure; `undefined` measures all. */
  readonly stage: typeof stages[number] | undefined
  /** The length of each stage that has one: the rounds of a stage share it. */
  readonly seconds: number
  readonly rounds: number
  /** The number of messages that wait. */
  readonly waiting: number
}

/** The goals for the memory of the process, and the processor time of a send, beside those with an empty queue. */
const most = { memory: 1.1, processor: 1.05 }

/** The rates of a number, a second, with which its full queue is sent: the tier `high`, and one that any machine keeps. */
const rates = [1000, 200]

/** What the queue has of a number's rate (contract §15), and what callers send meanwhile: less than is left of it. */
const share = { queue: 0.8, callers: 0.15 }

/** How long the queue has to reach its pace once it is let go, and its last sends to end once it is held; in seconds. */
const settling = 2

/** The customers of callers' sends. */
const customer = "+1202{n}"

const sender = (target: Workload.Target, first: number) =>
  Effect.map(
    Child.start<null>(
      "SenderProcess",
      { targets: [target], body: JSON.stringify(Lateness.messageTo(customer)), first } satisfies Sender.Options
    ),
    ({ ask }) => (question: Sender.Question) => ask<Sender.Sent>(question)
  )

/** What sends of callers meet. */
interface Met {
  /** How long they took, in milliseconds and sorted. */
  readonly took: ReadonlyArray<number>
  readonly limited: number
  /** How often they were answered 503. */
  readonly overloaded: number
}

const metOf = (all: ReadonlyArray<Sender.Sent>): Met => {
  const sum = (of: (sent: Sender.Sent) => number) => all.reduce((sum, sent) => sum + of(sent), 0)
  return {
    took: all.flatMap(({ took }) => took).sort((a, b) => a - b),
    limited: sum(({ limited }) => limited),
    overloaded: sum(({ limited, repeated }) => repeated - limited)
  }
}

interface Beside {
  readonly rate: number
  readonly held: Met
  readonly sending: Met
  readonly pace: Pace.Pace
  /** The most memory that the server has had, in bytes, before the queue was let go and after. */
  readonly memory: { readonly before: number; readonly after: number }
}

/** Lets a number with this rate send while its full queue is held, and while it is sent, in turns. */
const fullQueue = (
  { rounds, seconds }: Plan,
  world: Lateness.World,
  { first, rate }: { readonly rate: number; readonly first: number }
): Effect.Effect<Beside, BenchFailed> =>
  Effect.scoped(Effect.gen(function*() {
    const { database: { query } } = world
    const { pid, ready: { url } } = yield* world.server({
      WAC_LIMITS: JSON.stringify({ ...Simulated.limits, phoneNumberTiers: { standard: rate, high: rate } })
    })
    const send = yield* sender({ ...world.target, url }, first)
    const hold = Effect.andThen(
      query("update wac.heartbeats set held_since = 1"),
      Effect.sleep(`${settling} seconds`)
    )
    const release = Effect.andThen(
      query("update wac.heartbeats set held_since = null"),
      Effect.sleep(`${settling} seconds`)
    )
    const peak = Effect.map(Effect.promise(() => ProcessUse.peakMemory(pid)), (bytes) => bytes ?? Number.NaN)
    const turn = send({ perSecond: rate * share.callers, seconds: Math.ceil(seconds / rounds) })
    yield* turn
    const memoryBefore = yield* peak
    const held: Array<Sender.Sent> = []
    const sending: Array<Sender.Sent> = []
    const spans: Array<Pace.Span> = []
    for (let round = 0; round < rounds; round++) {
      held.push(yield* turn)
      yield* release
      const from = Time.now()
      sending.push(yield* turn)
      spans.push({ from, to: Time.now() })
      yield* hold
    }
    const [left] = yield* query("select exists (select from wac.send_queue) as left")
    if (left!["left"] !== true) {
      return yield* new BenchFailed({ message: "the queue ran empty: have more messages wait" })
    }
    const ofQueue = (yield* Lateness.arrivals(world)).filter(({ to }) =>
      Lateness.digits(to!).startsWith(Lateness.digits(Queued.recipientPrefix))
    )
    if (new Set(ofQueue.map(({ to }) => to)).size < ofQueue.length) {
      return yield* new BenchFailed({ message: "a queued message was sent twice" })
    }
    return {
      rate,
      held: metOf(held),
      sending: metOf(sending),
      pace: Pace.of(ofQueue.map(({ at }) => at), spans),
      memory: { before: memoryBefore, after: yield* peak }
    }
  }))

const times = (sorted: ReadonlyArray<number>) => [percentile(sorted, 0.5), percentile(sorted, 0.99), sorted.at(-1)!]

/** Sends messages at their times, and beside a queue in which all are due. */
const sends = (plan: Plan, cluster: Cluster): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const simulated = yield* Simulated.start(cluster, { database: "wac_bench_queue", reports: false })
    const world = yield* Effect.scoped(Effect.gen(function*() {
      const { ready: { url } } = yield* simulated.server()
      const { apiKey } = yield* Simulated.signIn(url)
      const world: Lateness.World = { ...simulated, target: { url, apiKey } }
      const send = yield* sender(world.target, 2_000_000)
      yield* send({ perSecond: Lateness.perSecond, seconds: Math.ceil(plan.seconds / 6) })
      const disturbed = yield* Rounds.disturbance
      const late = yield* Lateness.measure(world, { first: 0, seconds: plan.seconds })
      const [p50, p99, last] = times(late) as [number, number, number]
      yield* Console.log([
        "",
        Report.others(yield* disturbed),
        Report.table([
          [
            `From its time to the provider, ${Lateness.perSecond} a second for ${plan.seconds} s`,
            "messages",
            "p50 ms",
            "p99 ms",
            "most ms"
          ],
          ["queued in batches", Report.whole(late.length), ...[p50, p99, last].map(Report.whole)]
        ]),
        "",
        Report.line("p99 of a queued message after its time, ms", p99, 0, { most: Lateness.soon })
      ].join("\n"))
      return world
    }))

    yield* Console.log(`\nqueueing ${Report.whole(plan.waiting)} messages that are due`)
    yield* Queued.fill(world.database, { count: plan.waiting, due: "Now", template: Lateness.template })
    yield* world.database.query("update wac.heartbeats set held_since = 1")
    yield* cluster.checkpoint
    const disturbed = yield* Rounds.disturbance
    const all = yield* Effect.forEach(rates, (rate, i) =>
      fullQueue(plan, world, { rate, first: 3_000_000 + i * 1_000_000 }))
    const row = (name: string, { limited, overloaded, took }: Met) => [
      name,
      Report.whole(took.length),
      ...times(took).map((time) =>
        Report.decimals(time, 1)
      ),
      Report.whole(limited),
      Report.whole(overloaded)
    ]
    yield* Console.log([
      "",
      Report.others(yield* disturbed),
      Report.table([
        ["A send of a caller", "sends", "p50 ms", "p99 ms", "most ms", "429", "503"],
        ...all.flatMap(({ held, rate, sending }) => [
          row(`number of ${rate}/s, queue held`, held),
          row(`number of ${rate}/s, full queue`, sending)
        ])
      ]),
      "",
      Report.table([
        ["The full queue", "sent/s", "of its pace", "most in one second / rate", "memory MB held", "then"],
        ...all.map(({ memory, pace, rate }) => [
          `number of ${rate}/s`,
          Report.whole(pace.mean),
          Report.decimals(pace.mean / (rate * share.queue), 2),
          Report.decimals(pace.most / rate, 2),
          Report.whole(memory.before / 1e6),
          Report.whole(memory.after / 1e6)
        ])
      ]),
      "",
      Report.line(
        "sends answered 429 beside a full queue",
        all.reduce((sum, { sending }) => sum + sending.limited, 0),
        0,
        { most: 0 }
      )
    ].join("\n"))
  })

/** Sends beside waiting messages and without: these twice, since how far they differ is how little a ratio says. */
const waiting = (plan: Plan, cluster: Cluster): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const loader = yield* Load.make
    const start = (name: string, database: string) =>
      ContestantWac.start(cluster, loader, { name, database: `wac_bench_queue_${database}` })
    const empty = yield* start("an empty queue", "empty")
    const full = yield* start(`${Report.whole(plan.waiting)} waiting`, "waiting")
    const again = yield* start("an empty queue again", "again")
    yield* Console.log(`\nqueueing ${Report.whole(plan.waiting)} messages for later`)
    const { body: _, ...template } = Workload.template
    const all = [empty, full, again]
    // all have as many messages, so that they differ by whether these wait
    yield* Effect.forEach(all, ({ database }) =>
      Queued.fill(database, {
        count: plan.waiting,
        due: database === full.database ? "Later" : "Cancelled",
        template: { ...template, bodyParams: ["A-1001", "Tuesday"] }
      }), { discard: true })
    const outcome = yield* Rounds.measure(cluster, all.map(({ contestant }) => contestant), {
      connections: 64,
      rounds: plan.rounds,
      until: { seconds: Math.ceil(plan.seconds / plan.rounds) },
      warmUp: { seconds: Math.ceil(plan.seconds / 4) }
    })
    const [before, beside, after] = outcome.measured as [Rounds.Measured, Rounds.Measured, Rounds.Measured]
    const without = { costs: before.costs.map((cost, i) => (cost + after.costs[i]!) / 2) }
    const memories = yield* Effect.forEach(all, ({ memory }) => memory)
    const [lean, heavy, leanAgain] = memories as [number, number, number]
    yield* Console.log([
      "",
      Report.results(cluster, outcome, { one: "send", many: "sends" }),
      "",
      Report.table([
        ["What the process holds, its garbage collected", "MB"],
        ...all.map(({ contestant: { name } }, i) => [name, Report.decimals(memories[i]! / 1e6, 1)])
      ]),
      "",
      Report.line(`memory with ${beside.name} / with ${before.name}`, heavy / Math.min(lean, leanAgain), 2, {
        most: most.memory
      }),
      Report.costRatio(`processor time of a send with ${beside.name} / with ${before.name}`, beside, without, {
        most: most.processor
      }),
      Report.costRatio(`processor time of a send with ${after.name} / with ${before.name}`, after, before)
    ].join("\n"))
  })

/** Measures and prints the results. */
export const run = (plan: Plan): Effect.Effect<void, BenchFailed> =>
  Effect.scoped(Effect.gen(function*() {
    const cluster = yield* Database.cluster
    yield* Console.log(Report.conditions(
      cluster,
      `${Lateness.perSecond} messages due a second for ${plan.seconds} s, ${Report.whole(plan.waiting)} waiting, ` +
        `${plan.rounds} rounds`
    ))
    const measures = { sends, neighbours: QueueNeighbours.measure, waiting }
    for (const stage of plan.stage === undefined ? stages : [plan.stage]) {
      yield* Effect.scoped(measures[stage](plan, cluster))
    }
  }))
