/**
 * The `held` measurement: what waiting deliveries cost our server. It measures the memory of a million retries, and how
 * long it takes to pause, resume and read a webhook with a million held deliveries.
 */
import { Time as Timestamp } from "@wac/core"
import { Console, Effect, Fiber, type Scope } from "effect"
import { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import * as Dashboard from "./Dashboard.ts"
import * as Database from "./Database.ts"
import { wacServer } from "./DeliveryContestant.ts"
import * as ProcessUse from "./ProcessUse.ts"
import * as Receiver from "./Receiver.ts"
import type { Question, Recorded } from "./RecorderProcess.ts"
import * as Report from "./Report.ts"
import { median } from "./Statistics.ts"
import * as Time from "./Time.ts"
import * as Waiting from "./Waiting.ts"

export interface Plan {
  /** The number of deliveries that wait for a retry. */
  readonly retries: number
  /** The number of deliveries that a paused webhook holds. */
  readonly held: number
  /** How long events are delivered, in seconds, without the retries and with them. */
  readonly seconds: number
  /** The number of pauses, resumes and reads. */
  readonly repetitions: number
}

/**
 * The number of live webhooks that receive events meanwhile, and of webhooks with dead receivers that the retries are
 * for.
 */
const healthy = 8
const dead = 60

/** Events per second, over all live webhooks together. */
const perSecond = 50

/** The maximum time in seconds for the last events to arrive. */
const arriveWithin = 30

/**
 * The limit in bytes of memory per retry: above the noise between two runs, and below the smallest value that could be
 * kept per retry.
 */
const mostPerRetry = 20

/** The goal in milliseconds. */
const soon = 50

const sampleEvery = "250 millis"

/** The memory of a process while an effect runs, sampled at an interval: the median and the maximum, in bytes. */
const memoryDuring = <A>(
  pid: number,
  activity: Effect.Effect<A, BenchFailed>
): Effect.Effect<{ readonly middle: number; readonly most: number }, BenchFailed> =>
  Effect.gen(function*() {
    const samples: Array<number> = []
    const look = Effect.promise(async () => {
      const memory = await ProcessUse.memory(pid)
      if (memory !== undefined) samples.push(memory)
    })
    const looking = yield* Effect.forkChild(Effect.forever(Effect.andThen(look, Effect.sleep(sampleEvery))), {
      startImmediately: true
    })
    yield* activity
    yield* look
    yield* Fiber.interrupt(looking)
    return { middle: median(samples), most: Math.max(...samples) }
  })

const took = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<number, E> =>
  Effect.gen(function*() {
    const startedAt = Time.monotonic()
    yield* effect
    return Time.monotonic() - startedAt
  })

export const run = (plan: Plan): Effect.Effect<void, BenchFailed> =>
  Effect.scoped(Effect.gen(function*() {
    const cluster = yield* Database.cluster
    const receiver = yield* Receiver.make
    yield* Console.log(Report.conditions(
      cluster,
      `${Report.whole(plan.retries)} retries of ${dead} dead webhooks, ${Report.whole(plan.held)} deliveries held`
    ))
    const { ready: deadUrls } = yield* Child.start<ReadonlyArray<string>>("DeadReceiversProcess", { count: dead })
    const { database, pid, recorder, url } = yield* wacServer(cluster, {
      database: "wac_bench_held",
      urls: [...Array.from({ length: healthy }, (_, n) => receiver.urlOf(n)), ...deadUrls],
      environment: Dashboard.environment
    })
    const { ask } = yield* Dashboard.signIn(url)
    yield* ask("PUT", "/internal/webhook", { url: receiver.urlOf(healthy) })
    const owners = yield* database.query(
      `select w.id, w.workspace_id, w.url = any ($1) as dead, w.url = $2 as own from wac.webhooks w`,
      [deadUrls, receiver.urlOf(healthy)]
    )
    const ownersThat = (are: "dead" | "own") =>
      owners.filter((row) => row[are]).map((row): Waiting.Owner => ({
        workspaceId: String(row["workspace_id"]),
        webhookId: String(row["id"])
      }))
    const [own] = ownersThat("own") as [Waiting.Owner]

    yield* memory(plan, { database, receiver, recorder, pid, dead: ownersThat("dead") })
    yield* pauses(plan, { database, ask, own })
  }))

/** Measures the server's memory while events are delivered, without waiting retries and with them. */
const memory = (
  plan: Plan,
  { database, dead, pid, receiver, recorder }: {
    readonly database: Database.Database
    readonly receiver: Receiver.Receiver
    readonly recorder: Pick<Child.Child<unknown>, "ask">
    readonly pid: number
    readonly dead: ReadonlyArray<Waiting.Owner>
  }
): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const active = (seconds: number) =>
      Effect.gen(function*() {
        const { ids } = yield* recorder.ask<Recorded>(
          { _tag: "Steady", perSecond, seconds, from: 0, to: healthy } satisfies Question
        )
        const arrivals = yield* receiver.arrivals({ count: ids.length, seconds: arriveWithin })
        if (arrivals.ids.length < ids.length) {
          return yield* new BenchFailed({
            message: `of ${ids.length} events ${ids.length - arrivals.ids.length} did not arrive`
          })
        }
      })
    // warm-up: the first events allocate memory that the server then keeps
    yield* active(Math.ceil(plan.seconds / 3))
    const without = yield* memoryDuring(pid, active(plan.seconds))
    yield* Waiting.retries(database, dead, plan.retries)
    const made = attemptsOf(database, dead)
    const before = yield* made
    const beside = yield* memoryDuring(pid, active(plan.seconds))
    const each = (beside.middle - without.middle) / plan.retries
    yield* Console.log(
      `\n${
        Report.table([
          [`memory of the process in ${plan.seconds} s of ${perSecond} events/s`, "MB", "most MB"],
          ...([["no retries waiting", without], [`${Report.whole(plan.retries)} retries waiting`, beside]] as const)
            .map(([name, { middle, most }]) => [name, Report.whole(middle / 1e6), Report.whole(most / 1e6)])
        ])
      }\n\nbytes a waiting retry  ${Report.decimals(each, 1)}${Report.verdict(each, { most: mostPerRetry })}\n` +
        `${Report.whole((yield* made) - before)} of them were made meanwhile`
    )
  })

const attemptsOf = (database: Database.Database, owners: ReadonlyArray<Waiting.Owner>) =>
  Effect.map(
    database.query("select count(*)::integer as count from wac.attempts where workspace_id = any ($1)", [
      owners.map(({ workspaceId }) => workspaceId)
    ]),
    ([row]) => Number(row!["count"])
  )

/** Measures how long pauses, resumes and reads take. */
const pauses = (
  plan: Plan,
  { ask, database, own }: Pick<Dashboard.Dashboard, "ask"> & {
    readonly database: Database.Database
    readonly own: Waiting.Owner
  }
): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    const path = "/internal/webhook"
    const resume = (body: unknown) => ask("POST", `${path}/resume`, body)
    const pause = ask("POST", `${path}/pause`)
    yield* pause
    yield* Waiting.untried(database, own, plan.held)
    const { body } = yield* ask("GET", path)
    if (body["heldCount"] !== plan.held) {
      return yield* new BenchFailed({ message: `${plan.held} are held, and it says ${String(body["heldCount"])}` })
    }

    const repeated = Effect.fnUntraced(function*(one: Effect.Effect<unknown, BenchFailed>, undo: typeof one) {
      const times: Array<number> = []
      for (let i = 0; i < plan.repetitions; i++) {
        times.push(yield* took(one))
        yield* undo
      }
      return times
    })
    const forced = resume({ force: true })
    yield* forced
    const measured: Array<readonly [string, ReadonlyArray<number>]> = [
      ["pause", yield* repeated(pause, forced)],
      ["resume", yield* Effect.andThen(pause, repeated(forced, pause))],
      ["resume with a probe", yield* repeated(resume({}), pause)]
    ]
    const looks = yield* repeated(ask("GET", path), Effect.void)
    // resuming skips the held deliveries, so this measurement cannot be repeated
    const since = Timestamp.iso(Time.now() - 1_800_000)
    measured.push(["resume since a time", [yield* took(resume({ replay: { since }, force: true }))]])
    yield* pause
    measured.push(["resume with none", [yield* took(resume({ replay: "none", force: true }))]])
    const slowest = Math.max(...measured.map(([, times]) => median(times)))
    const row = (name: string, times: ReadonlyArray<number>) => [
      name,
      String(times.length),
      Report.decimals(median(times), 1),
      Report.decimals(Math.max(...times), 1)
    ]
    yield* Console.log(
      `\n${
        Report.table([
          [`${Report.whole(plan.held)} held, over HTTP`, "times", "median ms", "most ms"],
          ...measured.map(([name, times]) => row(name, times)),
          row("looking at it, which counts them", looks)
        ])
      }\n\nthe slowest of the pauses and resumes, median ms  ${Report.decimals(slowest, 1)}${
        Report.verdict(slowest, { most: soon })
      }`
    )
  })
