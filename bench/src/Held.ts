/**
 * `held`: what deliveries that wait cost our server. A million retries: how much memory. A million that are held: how
 * long a pause, a resume and a look at the webhook take.
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
  /** Deliveries that wait to be tried again. */
  readonly retries: number
  /** Deliveries that a paused webhook holds. */
  readonly held: number
  /** Of activity, without the retries and with them. */
  readonly seconds: number
  /** Of each pause, resume and look. */
  readonly repetitions: number
}

/** Webhooks that events go to meanwhile, and those that the retries are for, whose receivers are dead. */
const healthy = 8
const dead = 60

/** Events a second to the healthy ones, all together. */
const perSecond = 50

/** The last events' way to the receiver. */
const arriveWithin = 30

/** More than what differs between two runs of nothing, and less than the shortest thing that could be kept of a retry. */
const mostPerRetry = 20

/** Milliseconds. */
const soon = 50

const sampleEvery = "250 millis"

/** The memory that a process has in use while something else happens: bytes, medians and most of many looks. */
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
      `select w.id, w.workspace_id, w.url = any ($1) as dead, w.url = $2 as own from webhooks w`,
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

/** The server's memory while events come and go, with retries waiting and without. */
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
    // its first events cost a server memory that it then has
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
    database.query("select count(*)::integer as count from attempts where workspace_id = any ($1)", [
      owners.map(({ workspaceId }) => workspaceId)
    ]),
    ([row]) => Number(row!["count"])
  )

/** What pauses, resumes and looks take. */
const pauses = (
  plan: Plan,
  { ask, database, own }: Dashboard.Dashboard & { readonly database: Database.Database; readonly own: Waiting.Owner }
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
    // these are skipped then, so that neither can be repeated
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
