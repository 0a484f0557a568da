/**
 * The world around the service: its lane, what was seen of the service, and luck.
 */
import type { History } from "@wac/checker"
import { Effect, type Fiber } from "effect"
import * as Chance from "./Chance.ts"
import type { Fault, Plan } from "./Plan.ts"
import * as Timeline from "./Timeline.ts"

/** Something that befell a process. */
export interface Note {
  readonly at: number
  readonly process: string
  readonly text: string
}

/** The world of one run. */
export interface Outside {
  readonly plan: Plan
  readonly timeline: Timeline.Timeline
  readonly lane: Timeline.Lane
  /** What callers, the provider and the receiver saw. */
  readonly entries: ReadonlyArray<History.Entry>
  readonly record: (entry: History.Entry) => void
  /** What befell the service, for people to read. */
  readonly notes: ReadonlyArray<Note>
  readonly note: (process: string, text: string) => void
  /** The ids of campaigns, by the word that their messages have in them. */
  readonly campaigns: Map<string, string>
  /** A new stream of luck for a part of the world. */
  readonly chance: (name: string) => Chance.Chance
  /** A new stream of luck for each time that something of this name happens. */
  readonly nextChance: (name: string) => Chance.Chance
  /** Whether faults of a kind happen now. */
  readonly isFaulty: (fault: Fault) => boolean
  /** Whether faults happen from now on. At first, none does. */
  readonly storm: (isFaulty: boolean) => void
  /** Goes on in the world, whatever becomes of the caller. */
  readonly fork: <A>(effect: Effect.Effect<A>) => Fiber.Fiber<A>
  /** Waits until a process is dead. */
  readonly death: (process: Timeline.Lane) => Effect.Effect<void>
  /**
   * Has the world do something for a fiber of a process. `isGone` tells whether that fiber is dead, or waits no more.
   */
  readonly asked: <A>(
    process: Timeline.Lane,
    work: (isGone: () => boolean) => Effect.Effect<A>
  ) => Effect.Effect<A>
}

/** The world of a plan, before anything happened. */
export const make = (plan: Plan): Outside => {
  const timeline = Timeline.make(plan.seed)
  const lane = timeline.lane("world")
  const entries: Array<History.Entry> = []
  const notes: Array<Note> = []
  const times = new Map<string, number>()
  let isStorm = false

  return {
    plan,
    timeline,
    lane,
    entries,
    record: (entry) => void entries.push(entry),
    notes,
    campaigns: new Map(),
    note: (process, text) => void notes.push({ at: timeline.now(), process, text }),
    chance: (name) => Chance.make(plan.seed, name),
    nextChance: (name) => {
      const time = (times.get(name) ?? 0) + 1
      times.set(name, time)
      return Chance.make(plan.seed, `${name} ${time}`)
    },
    isFaulty: (fault) => isStorm && plan.faults.includes(fault),
    storm: (isFaulty) => {
      isStorm = isFaulty
    },
    fork: lane.fork,
    death: (process) =>
      Effect.callback((resume) => {
        if (process.isDead()) return resume(Effect.void)
        return Effect.sync(process.onDeath(() => resume(Effect.yieldNow)))
      }),
    asked: (process, work) =>
      Effect.callback((resume) => {
        if (process.isDead()) return
        let hasLeft = false
        const fiber = lane.fork(work(() => hasLeft || process.isDead()))
        // resuming runs the process's fiber in the middle of the world's turn, so it yields first
        fiber.addObserver((exit) => resume(Effect.andThen(Effect.yieldNow, exit)))
        return Effect.sync(() => {
          hasLeft = true
        })
      })
  }
}
