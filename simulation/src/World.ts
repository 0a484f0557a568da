/**
 * The world of one simulated run, outside the service's processes: the virtual clock, the recorded history, the streams
 * of chance, and whether faults happen.
 */
import type { History } from "@wac/checker"
import { Effect, type Fiber } from "effect"
import * as Chance from "./Chance.ts"
import type { Fault, Plan } from "./Plan.ts"
import * as Timeline from "./Timeline.ts"

/** A line of a run's log, for people: what happened to a process. */
export interface Note {
  readonly at: number
  readonly process: string
  readonly text: string
}

/** The world of one run. */
export interface World {
  readonly plan: Plan
  readonly timeline: Timeline.Timeline
  readonly lane: Timeline.Lane
  /** What callers, the provider and the receiver saw: what the checker judges. */
  readonly history: ReadonlyArray<History.Entry>
  readonly record: (entry: History.Entry) => void
  /** The log of the run, for people. */
  readonly notes: ReadonlyArray<Note>
  readonly note: (process: string, text: string) => void
  /** The ids of campaigns, by the text that marks their messages. */
  readonly campaignIds: Map<string, string>
  /** A stream of chance for a part of the world. */
  readonly chance: (name: string) => Chance.Chance
  /** Another stream of chance each time that something of this name happens. */
  readonly nextChance: (name: string) => Chance.Chance
  /** Whether faults of a kind happen now. */
  readonly isFaultActive: (fault: Fault) => boolean
  /** Switches faults on or off. They are off at first. */
  readonly setFaultsEnabled: (isEnabled: boolean) => void
  /** Runs an effect in the world's lane, even if the caller's process dies. */
  readonly fork: <A>(effect: Effect.Effect<A>) => Fiber.Fiber<A>
  /** Waits until a process is dead. */
  readonly awaitDeath: (process: Timeline.Lane) => Effect.Effect<void>
  /**
   * Runs work in the world's lane and returns its result to a fiber of the process. `isAbandoned` tells whether that
   * fiber is dead, or waits no more.
   */
  readonly runFor: <A>(
    process: Timeline.Lane,
    work: (isAbandoned: () => boolean) => Effect.Effect<A>
  ) => Effect.Effect<A>
}

/** The world of a plan, before anything happened. */
export const make = (plan: Plan): World => {
  const timeline = Timeline.make(plan.seed)
  const lane = timeline.lane("world")
  const history: Array<History.Entry> = []
  const notes: Array<Note> = []
  const times = new Map<string, number>()
  let areFaultsEnabled = false

  return {
    plan,
    timeline,
    lane,
    history,
    record: (entry) => void history.push(entry),
    notes,
    campaignIds: new Map(),
    note: (process, text) => void notes.push({ at: timeline.now(), process, text }),
    chance: (name) => Chance.make(plan.seed, name),
    nextChance: (name) => {
      const time = (times.get(name) ?? 0) + 1
      times.set(name, time)
      return Chance.make(plan.seed, `${name} ${time}`)
    },
    isFaultActive: (fault) => areFaultsEnabled && plan.faults.includes(fault),
    setFaultsEnabled: (isEnabled) => {
      areFaultsEnabled = isEnabled
    },
    fork: lane.fork,
    awaitDeath: (process) =>
      Effect.callback((resume) => {
        if (process.isDead()) return resume(Effect.void)
        // resuming runs the waiting fiber in the middle of the death, so it yields first
        return Effect.sync(process.onDeath(() => resume(Effect.yieldNow)))
      }),
    runFor: (process, work) =>
      Effect.callback((resume) => {
        if (process.isDead()) return
        let isAbandoned = false
        const fiber = lane.fork(work(() => isAbandoned || process.isDead()))
        // resuming runs the process's fiber in the middle of the world's turn, so it yields first
        fiber.addObserver((exit) => resume(Effect.andThen(Effect.yieldNow, exit)))
        return Effect.sync(() => {
          isAbandoned = true
        })
      })
  }
}
