/**
 * The `campaign` measurement: the pace, cost and memory of campaigns over several server processes, one PostgreSQL and
 * the simulated Cloud API, and how long sends of programs wait beside a campaign.
 */
import { Clock, Console, Effect, Fiber, type Scope } from "effect"
import { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import type { Arrival, Question } from "./CloudApiProcess.ts"
import * as Database from "./Database.ts"
import * as Pace from "./Pace.ts"
import * as ProcessUse from "./ProcessUse.ts"
import * as Report from "./Report.ts"
import { disturbance } from "./Rounds.ts"
import type * as Sender from "./SenderProcess.ts"
import * as Simulated from "./Simulated.ts"
import { median, percentile } from "./Statistics.ts"

export interface Plan {
  readonly processes: number
  readonly rounds: number
  /** The length of each turn. */
  readonly seconds: number
  /** The recipients of each campaign whose memory is compared. */
  readonly recipients: ReadonlyArray<number>
  /** How many processes are killed beside a campaign. */
  readonly kills: number
}

/** The default share of what the tier `high` allows in a second. */
const pace = 0.5 * 1000

/** The rate at which a program sends in the turns that measure its waits. The timetable waits for nobody. */
const sendsPerSecond = 20

/** How many callers send at once in the turns that measure what a plain send costs. */
const callers = 16

/** How long a campaign has to reach its pace after a resume, and its last calls to end after a pause; in seconds. */
const settling = 2

/** How often a process is killed, in seconds. */
const killEvery = 2

/** The customers of campaigns and of sends, which the provider tells apart by their countries. */
const recipient = (n: number) => `+49151${10_000_000 + n}`
const customer = "+1202{n}"
const isRecipient = ({ to }: Arrival) => to!.replace("+", "").startsWith("49")

const template = { name: "hello_world", language: "en_US" }

/** The rows of a file, in pieces. */
function* file(count: number): Iterable<string> {
  const size = 1000
  for (let from = 0; from < count; from += size) {
    let piece = ""
    for (let n = from; n < Math.min(count, from + size); n++) piece += `{"to":"${recipient(n)}"}\n`
    yield piece
  }
}

const world = Effect.fnUntraced(function*({ processes }: Plan, cluster: Database.Cluster) {
  const { database, provider, server } = yield* Simulated.start(cluster, {
    database: "wac_bench_campaign",
    reports: false
  })
  const begin = server()
  // the first one makes the tables
  const servers = [yield* begin, ...yield* Effect.replicateEffect(begin, processes - 1)]
  const { apiKey, dashboard } = yield* Simulated.signIn(servers[0]!.ready.url)

  const sender = yield* Child.start<null>(
    "SenderProcess",
    {
      targets: servers.map(({ ready: { url } }) => ({ url, apiKey })),
      body: JSON.stringify({ to: customer, type: "template", template }),
      first: 2_000_000
    } satisfies Sender.Options
  )
  let repeated = 0
  /** Sends as a program does. Returns how long each took, in milliseconds. */
  const sends = (question: Sender.Question) =>
    Effect.map(sender.ask<Sender.Sent>(question), (sent) => {
      repeated += sent.repeated
      return sent.took
    })

  /** The processor time of all servers and of PostgreSQL so far, in seconds. */
  const processor = Effect.gen(function*() {
    const servers_ = yield* Effect.forEach(servers, ({ pid }) => Effect.promise(() => ProcessUse.processorTime(pid)))
    return {
      servers: servers_.reduce<number>((sum, time) => sum + (time ?? Number.NaN), 0),
      database: (yield* cluster.processor) ?? Number.NaN
    }
  })

  /** The most memory that one of the servers has in use, in bytes. */
  const memory = Effect.map(
    Effect.forEach(servers, ({ pid }) => Effect.promise(() => ProcessUse.memory(pid))),
    (all) => Math.max(...all.map((one) => one ?? Number.NaN))
  )

  const get = (path: string) => Effect.map(dashboard.ask("GET", path), ({ body }) => body)

  const until = Effect.fnUntraced(function*(path: string, status: string) {
    while (true) {
      const campaign = yield* get(path)
      if (campaign["status"] === status && (status !== "cancelled" || campaign["completedAt"] !== null)) return campaign
      if (campaign["status"] === "paused") {
        return yield* new BenchFailed({ message: `the campaign paused itself: ${campaign["pausedReason"]}` })
      }
      yield* Effect.sleep("100 millis")
    }
  })

  /** A campaign that is checked and ready, and how many rows were uploaded and checked in a second. */
  const ready = Effect.fnUntraced(function*(recipients: number) {
    const { body } = yield* dashboard.ask("POST", "/internal/campaigns", { name: "bench", template }, {
      "idempotency-key": crypto.randomUUID()
    })
    const path = `/internal/campaigns/${body["id"]}`
    const begun = performance.now()
    yield* dashboard.upload(`${path}/recipients`, "application/x-ndjson", file(recipients))
    const uploaded = performance.now()
    yield* dashboard.ask("POST", `${path}/check`)
    const { counts } = yield* until(path, "ready")
    if ((counts as { readonly total: number }).total !== recipients) {
      return yield* new BenchFailed({ message: `recipients are missing: ${JSON.stringify(counts)}` })
    }
    const perSecond = (millis: number) => recipients / (millis / 1000)
    return {
      act: (verb: string) => dashboard.ask("POST", `${path}/${verb}`),
      until: (status: string) => until(path, status),
      uploaded: perSecond(uploaded - begun),
      checked: perSecond(performance.now() - uploaded)
    }
  })

  /**
   * Kills the oldest process but the first, which answers the dashboard, and starts a new one. Returns that start;
   * nothing if all that could be killed are still starting.
   */
  const replace = Effect.gen(function*() {
    const [oldest] = servers.splice(1, 1)
    if (oldest === undefined) return []
    process.kill(oldest.pid, "SIGKILL")
    return [yield* Effect.forkScoped(Effect.map(begin, (server) => servers.push(server)))]
  })

  return {
    ready,
    replace,
    sends,
    repeated: () => repeated,
    processor,
    memory,
    arrivals: provider.ask<ReadonlyArray<Arrival>>("arrivals" satisfies Question),
    count: provider.ask<number>("count" satisfies Question),
    tidy: Effect.andThen(database.tidy, cluster.checkpoint)
  }
})

type World = Effect.Success<ReturnType<typeof world>>

/** Processor time of the servers and of PostgreSQL for each of some sends, in seconds. */
interface Cost {
  readonly sends: number
  readonly servers: number
  readonly database: number
}

const costOf = (costs: ReadonlyArray<Cost>): Cost => {
  const sum = (of: keyof Cost) => costs.reduce((sum, cost) => sum + cost[of], 0)
  const sends = sum("sends")
  return { sends, servers: sum("servers") / sends, database: sum("database") / sends }
}

/** Lets sends alone, sends of a crowd, and sends beside the campaign have turns. */
const turns = Effect.fnUntraced(function*({ rounds, seconds }: Plan, world: World) {
  const { arrivals, count, processor, ready, sends } = world
  const timetable: Sender.Question = { perSecond: sendsPerSecond, seconds }
  const crowd = sends({ callers, seconds })
  // one turn more than there are, since a pause takes a moment
  const campaign = yield* ready(Math.ceil((rounds + 2) * (seconds + settling) * pace))
  /** The cost of some activity, and the sends that came to the provider meanwhile. */
  const costing = Effect.fnUntraced(function*<A>(activity: Effect.Effect<A, BenchFailed>) {
    const before = yield* processor
    const came = yield* count
    const from = yield* Clock.currentTimeMillis
    const done = yield* activity
    const to = yield* Clock.currentTimeMillis
    const after = yield* processor
    const cost: Cost = {
      sends: (yield* count) - came,
      servers: after.servers - before.servers,
      database: after.database - before.database
    }
    return { done, cost, span: { from, to } satisfies Pace.Span }
  })
  /** When the campaign was paused. */
  const pauses: Array<number> = []
  const beside = Effect.fnUntraced(function*(verb: string) {
    yield* campaign.act(verb)
    yield* Effect.sleep(`${settling} seconds`)
    const measured = yield* costing(sends(timetable))
    yield* campaign.act("pause")
    pauses.push(yield* Clock.currentTimeMillis)
    yield* Effect.sleep(`${settling} seconds`)
    return measured
  })
  yield* beside("start")
  yield* crowd
  yield* world.tidy
  pauses.length = 0
  const repeatedBefore = world.repeated()
  const disturbed = yield* disturbance
  const quiet: Array<number> = []
  const plain: Array<Cost> = []
  const loud: Array<Effect.Success<ReturnType<typeof beside>>> = []
  for (let round = 0; round < rounds; round++) {
    quiet.push(...yield* sends(timetable))
    plain.push((yield* costing(crowd)).cost)
    loud.push(yield* beside("resume"))
  }
  const others = yield* disturbed
  const times = (yield* arrivals).filter(isRecipient).map(({ at }) => at)
  const lastAfter = (paused: number) =>
    Math.max(0, ...times.map((at) => at - paused).filter((after) => after < settling * 1000))
  const { mean, most } = Pace.of(times, loud.map(({ span }) => span))
  const sorted = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)
  yield* campaign.act("cancel")
  yield* campaign.until("cancelled")
  return {
    others,
    repeated: world.repeated() - repeatedBefore,
    mean,
    most,
    pause: Math.max(...pauses.map(lastAfter)),
    plain: costOf(plain),
    recipient: costOf(loud.map(({ cost }) => cost)),
    quiet: sorted(quiet),
    beside: sorted(loud.flatMap(({ done }) => done)),
    ratios: loud.map(({ done }, i) =>
      percentile(sorted(done), 0.99) / percentile(sorted(quiet.slice(i * done.length, (i + 1) * done.length)), 0.99)
    )
  }
})

/** The pace of a campaign while processes are killed, and how many were. */
const killing = Effect.fnUntraced(function*({ kills }: Plan, { arrivals, ready, replace }: World) {
  const campaign = yield* ready(Math.ceil((kills * killEvery + 2 * settling) * pace))
  yield* campaign.act("start")
  const from = yield* Clock.currentTimeMillis
  const starts = yield* Effect.replicateEffect(Effect.andThen(Effect.sleep(`${killEvery} seconds`), replace), kills)
  yield* Effect.sleep(`${settling} seconds`)
  const to = yield* Clock.currentTimeMillis
  yield* campaign.act("pause")
  yield* Fiber.joinAll(starts.flat())
  const times = (yield* arrivals).filter(isRecipient).map(({ at }) => at)
  return { ...Pace.of(times, [{ from, to }]), killed: starts.flat().length }
})

/** The most memory of a process while campaigns of each size are uploaded, checked, sent for a while and cancelled. */
const stages = Effect.fnUntraced(function*({ recipients, seconds }: Plan, { memory, ready }: World) {
  const rows: Array<{ readonly recipients: number; readonly memory: number; readonly cells: ReadonlyArray<string> }> =
    []
  for (const count of recipients) {
    let most = 0
    const watching = yield* Effect.forkChild(
      Effect.forever(Effect.andThen(
        Effect.map(memory, (now) => {
          most = Math.max(most, now)
        }),
        Effect.sleep("100 millis")
      ))
    )
    const campaign = yield* ready(count)
    yield* campaign.act("start")
    yield* Effect.sleep(`${Math.min(seconds, count / pace / 2)} seconds`)
    const begun = performance.now()
    yield* campaign.act("cancel")
    yield* campaign.until("cancelled")
    const took = (performance.now() - begun) / 1000
    yield* Fiber.interrupt(watching)
    rows.push({
      recipients: count,
      memory: most,
      cells: [
        Report.whole(count),
        Report.whole(most / 1e6),
        Report.whole(campaign.uploaded),
        Report.whole(campaign.checked),
        Report.decimals(took, 1)
      ]
    })
  }
  return rows
})

const line = (name: string, value: number, digits: number, goal: Parameters<typeof Report.verdict>[1] = {}) =>
  `${name}  ${Report.decimals(value, digits)}${Report.verdict(value, goal)}`

/** Measures and prints the results. */
export const run = (plan: Plan): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const cluster = yield* Database.cluster
    yield* Console.log(Report.conditions(
      cluster,
      `${plan.processes} processes, ${plan.rounds} rounds in which each has a turn of ${plan.seconds} s: ` +
        `${sendsPerSecond} sends/s alone, ${callers} callers, and ${sendsPerSecond} sends/s beside a campaign at ${pace}/s`
    ))
    const made = yield* world(plan, cluster)
    const measured = yield* turns(plan, made)
    const { beside, plain, quiet, ratios, recipient } = measured
    const cells = (times: ReadonlyArray<number>) =>
      [percentile(times, 0.5), percentile(times, 0.99), times.at(-1)!].map((time) => Report.decimals(time, 1))
    const cost = ({ database, sends, servers }: Cost) =>
      [sends, servers * 1e6, database * 1e6, (servers + database) * 1e6].map(Report.whole)
    const dearer = (recipient.servers + recipient.database) / (plain.servers + plain.database)
    yield* Console.log([
      measured.others === undefined
        ? ""
        : `Other processes took ${Report.whole(measured.others * 100)} % of the machine during the rounds.\n`,
      Report.table([
        ["A send of a program", "p50 ms", "p99 ms", "most ms"],
        ["alone", ...cells(quiet)],
        ["beside the campaign", ...cells(beside)]
      ]),
      measured.repeated === 0
        ? ""
        : `\n${measured.repeated} times a send was answered with 503 or 429 and repeated: the machine or the number was overloaded.\n`,
      Report.table([
        ["Processor time", "sends", "Node µs/send", "PostgreSQL µs/send", "together"],
        [`plain sends by ${callers} callers`, ...cost(plain)],
        [`a campaign, with ${sendsPerSecond} sends/s`, ...cost(recipient)]
      ]),
      "",
      line("recipients per second", measured.mean, 1),
      line("mean / share", measured.mean / pace, 3, { least: 0.95, most: 1.05 }),
      line("most in one second / share", measured.most / pace, 3, { most: 1.1 }),
      line("p99 of a send beside the campaign / alone", percentile(beside, 0.99) / percentile(quiet, 0.99), 2, {
        most: 2
      }) +
      `  rounds ${Report.decimals(Math.min(...ratios), 2)} to ${Report.decimals(Math.max(...ratios), 2)}, median ${
        Report.decimals(median(ratios), 2)
      }`,
      line("a recipient / a plain send, processor time", dearer, 2),
      line("the last call after a pause, ms", measured.pause, 0, { most: 1000 })
    ].join("\n"))
    const memories = yield* stages(plan, made)
    const [least, largest] = [memories[0]!, memories.at(-1)!]
    yield* Console.log([
      "",
      Report.table([
        ["Recipients", "memory MB", "rows uploaded/s", "rows checked/s", "cancelled after s"],
        ...memories.map(({ cells }) => cells)
      ]),
      "",
      line(
        `memory with ${Report.whole(largest.recipients)} recipients / with ${Report.whole(least.recipients)}`,
        largest.memory / least.memory,
        2,
        { most: 1.2 }
      )
    ].join("\n"))
    const { killed, mean, most } = yield* killing(plan, made)
    yield* Console.log([
      "",
      line(`recipients per second, with ${killed} kills in ${plan.kills * killEvery} s`, mean, 1),
      line("most in one second / share, with kills", most / pace, 3, { most: 1.1 })
    ].join("\n"))
  })
