/**
 * The processes of a world: each has a place, in which another one is begun whenever it has died.
 */
import { Effect, Fiber } from "effect"
import type { Chance } from "./Chance.ts"
import * as Process from "./Process.ts"
import type { Lane } from "./Timeline.ts"

/** All processes. */
export interface Fleet {
  /** A process that takes requests; `undefined` if none does. */
  readonly up: (chance: Chance) => Process.Started | undefined
  /** The process in a place; `undefined` while there is none. */
  readonly at: (place: number) => Process.Started | undefined
  /** Sets for how many milliseconds a place stays empty from now on. */
  readonly setDowntime: (place: number, millis: number) => void
  /** Begins a process that has the storage to itself. */
  readonly alone: (name: string) => Effect.Effect<Process.Started>
  /** Keeps a process in each of so many places. The returned effect kills them all. */
  readonly keep: (places: number) => Effect.Effect<Effect.Effect<void>>
}

/** For how many milliseconds a place is empty unless a plan says otherwise. */
const downtime = 1000

/** A world's processes, none of which has been begun. */
export const make = (surroundings: Process.Surroundings): Fleet => {
  const { world } = surroundings
  const processes: Array<Process.Started | undefined> = []
  const downtimes: Array<number> = []
  /** Of every process that was begun, and is not dead. */
  const lanes = new Set<Lane>()
  let starts = 0

  const start = Effect.fnUntraced(function*(place: number, name: string, isAlone: boolean) {
    const { lane, started } = Process.start(surroundings, `${name}.${++starts}`, isAlone)
    lanes.add(lane)
    lane.onDeath(() => {
      lanes.delete(lane)
      world.note(lane.name, "is dead")
    })
    const process = yield* started
    if (process === null) return undefined
    world.note(lane.name, "has started")
    processes[place] = process
    return process
  })

  const keepIn = (place: number) =>
    Effect.forever(Effect.gen(function*() {
      const process = yield* start(place, `p${place + 1}`, false)
      if (process !== undefined) yield* world.awaitDeath(process.lane)
      processes[place] = undefined
      yield* Effect.sleep(downtimes[place] ?? downtime)
    }))

  return {
    up: (chance) => {
      const all = processes.filter((process) => process !== undefined && !process.lane.isDead())
      return all.length === 0 ? undefined : chance.pick(all)
    },
    at: (place) => processes[place],
    setDowntime: (place, millis) => {
      downtimes[place] = millis
    },
    alone: (name) =>
      Effect.flatMap(
        start(0, name, true),
        (process) => process === undefined ? Effect.die(`${name} could not start`) : Effect.succeed(process)
      ),
    keep: (places) =>
      Effect.sync(() => {
        const kept = Array.from({ length: places }, (_, place) => world.fork(keepIn(place)))
        return Effect.andThen(
          Fiber.interruptAll(kept),
          Effect.sync(() => {
            for (const lane of lanes) lane.kill()
          })
        )
      })
  }
}
