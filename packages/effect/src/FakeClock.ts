/**
 * A clock for tests: time passes when the test advances it, and everything due by then happens.
 */
import { type Clock, DateTime, Duration, Effect, Option, Scheduler } from "effect"
import * as KnownOptions from "./KnownOptions.ts"
import { millis as millisSince1970, type TimeInput } from "./TimeInput.ts"
import { badOption } from "./WacError.ts"

/** A duration: milliseconds, or text such as `"90 seconds"`, `"24 hours"`, `"7 days"`. */
export type Span =
  | number
  | `${number} ${"millis" | "second" | "seconds" | "minute" | "minutes" | "hour" | "hours" | "day" | "days"}`

/** The milliseconds of a duration; `undefined` for any other value. */
export const spanMillis = (span: unknown): number | undefined => {
  const millis = typeof span === "number"
    ? span
    : typeof span === "string"
    ? Option.match(Duration.fromInput(span as Span), { onNone: () => Number.NaN, onSome: Duration.toMillis })
    : Number.NaN
  return millis >= 0 && Number.isFinite(millis) ? millis : undefined
}

/** A clock for tests; see {@link fakeClock}. */
export interface FakeClock {
  /** The current time of this clock. */
  readonly now: () => Date
  /**
   * Lets time pass. Everything that becomes due happens in order, each at its own time: reports of the sandbox, webhook
   * deliveries and retries, listeners, sweeps. Resolves when all of it has happened. Your own code (a listener, a
   * receiver, a provider) is awaited, for at most a second of real time each. With `memory()`, a day in which little
   * happens takes a fraction of a second; a database is polled for every second that passes, so a day takes a few
   * seconds there.
   */
  readonly advance: (by: Span) => Promise<void>
  /** Lets time pass up to a point in time. Throws if it is in the past. */
  readonly set: (to: TimeInput) => Promise<void>
}

/** The default start of a fake clock. */
const beginning = Date.UTC(2026, 0, 1)

/**
 * After this many turns of the event loop without a task of any fiber, everything that follows from a step has
 * happened.
 */
const quietTurns = 3

/**
 * How long the clock waits in real time for code that may never end (a provider, a listener, a receiver), in
 * milliseconds. It is counted in {@link slices}, since a timer that is due after the process was suspended runs before
 * the responses that arrived meanwhile are read: a suspension, however long, costs one slice.
 */
const timeLimit = 1000

const slices = 10

/** How many seconds of clock time may pass while an instance closes: more than any part of it waits. */
const mostSecondsAtClose = 60

interface Sleeper {
  readonly at: number
  readonly wake: () => void
}

const millisOf = (moment: TimeInput, option: string): number => {
  const millis = millisSince1970(moment)
  if (millis === undefined) throw badOption(option, `${option} must be a Date, ISO 8601 text or milliseconds`)
  return millis
}

/**
 * The Effect clock and scheduler behind a {@link FakeClock}. {@link Steered.during} makes the clock wait for a promise
 * of the host.
 */
export interface Steered {
  readonly clock: Clock.Clock
  readonly scheduler: Scheduler.Scheduler
  readonly during: <A>(promise: Promise<A>) => Promise<A>
  /**
   * Makes the clock wait for work of this package outside of fibers. There is no time limit, because it always ends.
   */
  readonly hold: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Makes the clock wait for work that may never end, such as a receiver's response: for at most a second. */
  readonly await: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Lets time pass, second by second, until a promise has settled, since closing may wait for timers. */
  readonly runUntil: (promise: Promise<void>) => Promise<void>
}

const steered = new WeakMap<FakeClock, Steered>()

/** The internals of a clock that {@link fakeClock} created. */
export const steeredOf = (clock: FakeClock): Steered => {
  const found = steered.get(clock)
  if (found === undefined) throw badOption("clock", "clock must be made by fakeClock()")
  return found
}

/**
 * Creates a clock for tests; pass it to `createWac`. It stands still until advanced, starts at `now` (by default 1
 * January 2026) and may be shared by several instances. A receiver that verifies signatures by the machine's clock
 * refuses them as too old or too new unless `now` is the present.
 */
export const fakeClock = (options: { readonly now?: TimeInput } = {}): FakeClock => {
  KnownOptions.check(options, { now: true } satisfies Record<keyof typeof options, true>)
  let time = options.now === undefined ? beginning : millisOf(options.now, "now")
  const start = time
  /**
   * The waiting fibers, the latest first, so that `pop` returns the next to wake. Fibers with the same time wake in the
   * order in which they began to wait.
   */
  const sleepers: Array<Sleeper> = []
  let tasks = 0
  let awaited = 0
  let moving: Promise<void> = Promise.resolve()

  const nanos = (millis: number) => BigInt(Math.round(millis * 1000)) * 1000n
  const sleep = (duration: Duration.Duration): Effect.Effect<void> =>
    Effect.callback((resume) => {
      const at = time + Duration.toMillis(duration)
      if (at <= time) return resume(Effect.void)
      const sleeper = { at, wake: () => resume(Effect.void) }
      let low = 0
      for (let high = sleepers.length; low < high;) {
        const middle = (low + high) >>> 1
        if (sleepers[middle]!.at > at) low = middle + 1
        else high = middle
      }
      sleepers.splice(low, 0, sleeper)
      return Effect.sync(() => {
        const index = sleepers.indexOf(sleeper)
        if (index >= 0) sleepers.splice(index, 1)
      })
    })

  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => time,
    currentTimeNanosUnsafe: () => nanos(time),
    monotonicTimeNanosUnsafe: () => nanos(time - start),
    currentTimeMillis: Effect.sync(() => time),
    currentTimeNanos: Effect.sync(() => nanos(time)),
    monotonicTimeNanos: Effect.sync(() => nanos(time - start)),
    sleep
  }

  const real = new Scheduler.MixedScheduler()
  const scheduler: Scheduler.Scheduler = {
    executionMode: real.executionMode,
    shouldYield: (fiber) => real.shouldYield(fiber),
    makeDispatcher: () => {
      const dispatcher = real.makeDispatcher()
      return {
        scheduleTask: (task, priority) => {
          tasks++
          dispatcher.scheduleTask(task, priority)
        },
        flush: () => dispatcher.flush()
      }
    }
  }

  /** Makes the clock wait until the returned function is called. */
  const wait = (): () => void => {
    let isWaiting = true
    awaited++
    return () => {
      if (!isWaiting) return
      isWaiting = false
      awaited--
    }
  }

  /** {@link wait}, for at most {@link timeLimit}. */
  const waitLimited = (): () => void => {
    const end = wait()
    let left = slices
    const timer = setInterval(() => --left > 0 || release(), timeLimit / slices)
    const release = () => {
      clearInterval(timer)
      end()
    }
    return release
  }

  const holding = (wait: () => () => void): Steered["hold"] => (work) =>
    Effect.suspend(() => Effect.ensuring(work, Effect.sync(wait())))

  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < quietTurns;) {
      const before = tasks
      await new Promise((resolve) => setImmediate(resolve))
      quiet = tasks === before && awaited === 0 ? quiet + 1 : 0
    }
  }

  const move = async (to: number): Promise<void> => {
    await settle()
    while (sleepers.length > 0 && sleepers.at(-1)!.at <= to) {
      time = sleepers.at(-1)!.at
      // wakes everything that is due at one moment, then waits for what follows from it
      while (sleepers.at(-1)?.at === time) sleepers.pop()!.wake()
      await settle()
    }
    time = to
  }

  /** Moves the clock after earlier moves have ended: two at once would each skip what the other makes due. */
  const next = (to: () => number): Promise<void> => {
    const moved = moving.then(() => move(to()))
    moving = moved.catch(() => {})
    return moved
  }

  const fake: FakeClock = {
    now: () => DateTime.toDateUtc(DateTime.makeUnsafe(time)),
    advance: async (by) => {
      const millis = spanMillis(by)
      if (millis === undefined) {
        throw badOption("by", "by must be 0 or more milliseconds, or text such as 24 hours")
      }
      await next(() => time + millis)
    },
    set: async (to) => {
      const millis = millisOf(to, "to")
      if (millis < time) throw badOption("to", "to must not lie before the clock's time")
      await next(() => Math.max(millis, time))
    }
  }
  steered.set(fake, {
    clock,
    scheduler,
    runUntil: async (promise) => {
      const waiting = { isOver: false }
      const settled = promise.finally(() => {
        waiting.isOver = true
      })
      await settle()
      for (let seconds = 0; !waiting.isOver && seconds < mostSecondsAtClose; seconds++) await next(() => time + 1000)
      await settled
    },
    hold: holding(wait),
    await: holding(waitLimited),
    during: (promise) => promise.finally(waitLimited())
  })
  return fake
}
