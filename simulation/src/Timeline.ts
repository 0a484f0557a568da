/**
 * Time and turns of a simulated world. Every fiber belongs to a lane, which is one machine of the world: a process of the
 * service, or the world around them. Which of the fibers that could go on does so is drawn by chance, and when none can,
 * the clock jumps to the next moment at which one can. No timer of the machine takes part.
 */
import { Clock, Context, Duration, Effect, type Exit, type Fiber, Logger, Metric, Random, Scheduler } from "effect"
import * as Chance from "./Chance.ts"

/** Fibers that live and die together. */
export interface Lane {
  readonly name: string
  /** Clock, scheduler and randomness of its fibers. */
  readonly context: Context.Context<never>
  /** Begins an effect in the lane, at the lane's next turn: not while it is suspended, and never once it is dead. */
  readonly fork: <A, E>(effect: Effect.Effect<A, E>) => Fiber.Fiber<A, E>
  readonly isDead: () => boolean
  /**
   * Ends every fiber of the lane where it stands, without interrupting it: no finalizer runs, as when a process is
   * killed.
   */
  readonly kill: () => void
  /** Lets no fiber of the lane go on for so many milliseconds, as when a process is suspended. */
  readonly suspend: (millis: number) => void
  /** Sets by how many milliseconds its clock is ahead of the world's. Sleeps take as long as before. */
  readonly setAhead: (millis: number) => void
  /** Calls a function once when the lane dies. Returns a function that forgets it. */
  readonly onDeath: (told: () => void) => () => void
}

/** A world's time. */
export interface Timeline {
  readonly now: () => number
  readonly lane: (name: string) => Lane
  /**
   * Runs an effect in a lane until it ends, and all others meanwhile. Rejects if nothing is left that could end it.
   */
  readonly run: <A, E>(lane: Lane, effect: Effect.Effect<A, E>) => Promise<Exit.Exit<A, E>>
}

interface OwnLane extends Lane {
  wakesAt: number
  ahead: number
}

interface Task {
  readonly lane: OwnLane
  readonly run: () => void
  isOver: boolean
}

interface Sleeper {
  readonly lane: OwnLane
  readonly at: number
  readonly wake: () => void
}

/** 1 January 2026. */
const beginning = Date.UTC(2026, 0, 1)

/** Lets promises settle: those of the platform for requests, responses and signatures take only turns of microtasks. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

const nanos = (millis: number): bigint => BigInt(Math.round(millis * 1000)) * 1000n

/** Time that begins in 2026, with turns by chance. */
export const make = (seed: number): Timeline => {
  const chance = Chance.make(seed, "turns")
  let time = beginning
  let ready: Array<Task> = []
  /** Latest first, so that `pop` returns the next. Sleepers of the same time are in the order in which they slept. */
  let sleepers: Array<Sleeper> = []

  const clockOf = (lane: OwnLane): Clock.Clock => ({
    currentTimeMillisUnsafe: () => time + lane.ahead,
    currentTimeNanosUnsafe: () => nanos(time + lane.ahead),
    monotonicTimeNanosUnsafe: () => nanos(time - beginning),
    currentTimeMillis: Effect.sync(() => time + lane.ahead),
    currentTimeNanos: Effect.sync(() => nanos(time + lane.ahead)),
    monotonicTimeNanos: Effect.sync(() => nanos(time - beginning)),
    sleep: (duration: Duration.Duration) =>
      Effect.callback<void>((resume) => {
        const sleeper = { lane, at: time + Duration.toMillis(duration), wake: () => resume(Effect.void) }
        if (sleeper.at <= time) return resume(Effect.void)
        if (lane.isDead()) return
        let low = 0
        for (let high = sleepers.length; low < high;) {
          const middle = (low + high) >>> 1
          if (sleepers[middle]!.at > sleeper.at) low = middle + 1
          else high = middle
        }
        sleepers.splice(low, 0, sleeper)
        return Effect.sync(() => {
          const index = sleepers.indexOf(sleeper)
          if (index >= 0) sleepers.splice(index, 1)
        })
      })
  })

  const schedulerOf = (lane: OwnLane): Scheduler.Scheduler => {
    const standard = new Scheduler.MixedScheduler()
    return {
      executionMode: "async",
      shouldYield: (fiber) => standard.shouldYield(fiber),
      makeDispatcher: () => {
        const own: Array<Task> = []
        return {
          scheduleTask: (run) => {
            if (lane.isDead()) return
            const task = {
              lane,
              isOver: false,
              run: () => {
                own.splice(own.indexOf(task), 1)
                run()
              }
            }
            own.push(task)
            ready.push(task)
          },
          flush: () => {
            for (let task = own[0]; task !== undefined; task = own[0]) {
              task.isOver = true
              task.run()
            }
          }
        }
      }
    }
  }

  const lane = (name: string): Lane => {
    let isDead = false
    const told = new Set<() => void>()
    const own: OwnLane = {
      name,
      wakesAt: 0,
      ahead: 0,
      get context() {
        return context
      },
      fork: (effect) => Effect.runForkWith(context)(Effect.andThen(Effect.yieldNow, effect)),
      isDead: () => isDead,
      kill: () => {
        if (isDead) return
        isDead = true
        ready = ready.filter((task) => task.lane !== own)
        sleepers = sleepers.filter((sleeper) => sleeper.lane !== own)
        for (const tell of told) tell()
        told.clear()
      },
      suspend: (millis) => {
        own.wakesAt = Math.max(own.wakesAt, time + millis)
      },
      setAhead: (millis) => {
        own.ahead = millis
      },
      onDeath: (tell) => {
        told.add(tell)
        return () => void told.delete(tell)
      }
    }
    const context = Context.empty().pipe(
      Context.add(Clock.Clock, clockOf(own)),
      Context.add(Scheduler.Scheduler, schedulerOf(own)),
      Context.add(Metric.MetricRegistry, new Map()),
      Context.add(Logger.CurrentLoggers, new Set()),
      Context.add(Random.Random, Chance.make(seed, `random of ${name}`).random)
    ) as Context.Context<never>
    return own
  }

  /** One turn of a fiber that can go on. False if there is none. */
  const turn = (): boolean => {
    const awake = ready.every(({ lane }) => lane.wakesAt <= time)
      ? ready
      : ready.filter(({ lane }) => lane.wakesAt <= time)
    if (awake.length === 0) return false
    const task = chance.pick(awake)
    const index = ready.indexOf(task)
    ready[index] = ready.at(-1)!
    ready.pop()
    if (!task.isOver) task.run()
    return true
  }

  /** Moves the clock to the next moment at which a fiber can go on. False if there is none. */
  const jump = (): boolean => {
    const wakings = ready.map(({ lane }) => lane.wakesAt)
    const next = Math.min(sleepers.at(-1)?.at ?? Infinity, ...wakings)
    if (next === Infinity) return false
    time = Math.max(time, next)
    while (sleepers.length > 0 && sleepers.at(-1)!.at <= time) {
      const { lane, wake } = sleepers.pop()!
      ready.push({ lane: lane as OwnLane, run: wake, isOver: false })
    }
    return true
  }

  const run = async <A, E>(lane: Lane, effect: Effect.Effect<A, E>): Promise<Exit.Exit<A, E>> => {
    const fiber = Effect.runForkWith(lane.context)(effect)
    while (fiber.pollUnsafe() === undefined) {
      while (fiber.pollUnsafe() === undefined && turn());
      if (fiber.pollUnsafe() !== undefined) break
      await settle()
      if (!turn() && fiber.pollUnsafe() === undefined && !jump()) throw new Error("nothing is left that could go on")
    }
    return fiber.pollUnsafe()!
  }

  return { now: () => time, lane, run }
}
