/**
 * Runs rounds of all contestants in turn, so that other load on the machine affects all of them.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import * as Contestant from "./Contestant.ts"
import type { Cluster } from "./Database.ts"
import type { Round, Until } from "./Load.ts"
import * as ProcessUse from "./ProcessUse.ts"

export interface Plan {
  readonly connections: number
  readonly rounds: number
  /** The length of a round. */
  readonly until: Until
  /** How long each contestant runs before the first round that counts. */
  readonly warmUp: Until
}

export interface Measured {
  readonly name: string
  readonly rounds: ReadonlyArray<Round>
  readonly memory: number | undefined
  /** The processor time of the contestant and of PostgreSQL for one send of each round, in seconds; NaN if unknown. */
  readonly costs: ReadonlyArray<number>
  /** The average cost of one send. */
  readonly perSend: {
    readonly statements: number | undefined
    /** The processor time in seconds of the contestant's process, and of PostgreSQL. */
    readonly processor: number | undefined
    readonly database: number | undefined
  }
}

/** How long requests that were cut off at the end of a round may take to finish. */
const rest = "500 millis"

export interface Outcome {
  readonly measured: ReadonlyArray<Measured>
  /** The share of the machine's processor time that other processes used during the rounds; undefined if unknown. */
  readonly others: number | undefined
}

/** The usage at one point in time. */
interface Reading {
  readonly statements: number | undefined
  readonly processor: number | undefined
  readonly database: number | undefined
}

const unused: Reading = { statements: 0, processor: 0, database: 0 }

/** Adds the usage between two readings to a sum. */
const add = (sum: Reading, before: Reading, after: Reading): Reading => {
  const of = (name: keyof Reading) =>
    sum[name] === undefined || before[name] === undefined || after[name] === undefined
      ? undefined
      : sum[name] + after[name] - before[name]
  return { statements: of("statements"), processor: of("processor"), database: of("database") }
}

interface Entry {
  readonly contestant: Contestant.Contestant
  readonly recordedBefore: number
  readonly rounds: Array<Round>
  readonly costs: Array<number>
  used: Reading
  /** Totals over every round, including the warm-up. */
  answered: number
  cutOff: number
}

export const measure = (
  cluster: Cluster,
  contestants: ReadonlyArray<Contestant.Contestant>,
  { connections, rounds, until, warmUp }: Plan
): Effect.Effect<Outcome, BenchFailed> =>
  Effect.gen(function*() {
    const read = ({ contestant: { database, storage, use } }: Entry): Effect.Effect<Reading, BenchFailed> =>
      Effect.all({
        statements: database?.statements ?? Effect.undefined,
        processor: Effect.map(use, ({ processor }) => processor),
        database: storage ?? (database === undefined ? Effect.undefined : cluster.processor)
      })
    const round = Effect.fnUntraced(function*(entry: Entry, until: Until) {
      const load = { connections, until }
      yield* entry.contestant.prepare?.(load) ?? Effect.void
      const before = yield* read(entry)
      const done = yield* entry.contestant.round(load)
      yield* Effect.sleep(rest)
      entry.answered += done.sends
      entry.cutOff += done.cutOff
      return { done, before, after: yield* read(entry) }
    })

    const entries = yield* Effect.forEach(contestants, (contestant) =>
      Effect.map(
        contestant.complete ?? Effect.succeed(0),
        (recordedBefore): Entry => ({
          contestant,
          recordedBefore,
          rounds: [],
          costs: [],
          used: unused,
          answered: 0,
          cutOff: 0
        })
      ))
    for (const entry of entries) {
      yield* round(entry, warmUp)
      yield* entry.contestant.database?.tidy ?? Effect.void
    }
    yield* cluster.checkpoint
    const disturbed = yield* disturbance
    for (let i = 0; i < rounds; i++) {
      for (const entry of entries) {
        const { after, before, done } = yield* round(entry, until)
        entry.rounds.push(done)
        entry.used = add(entry.used, before, after)
        const { database, processor } = add(unused, before, after)
        entry.costs.push(((processor ?? Number.NaN) + (database ?? Number.NaN)) / done.sends)
      }
    }
    const others = yield* disturbed
    const measured = yield* Effect.forEach(entries, (entry) =>
      Effect.gen(function*() {
        yield* Contestant.verify(entry.contestant, entry.recordedBefore, entry)
        const sends = entry.rounds.reduce((sum, round) => sum + round.sends, 0)
        const perSend = (used: number | undefined) => used === undefined ? undefined : used / sends
        return {
          name: entry.contestant.name,
          rounds: entry.rounds,
          costs: entry.costs,
          memory: (yield* entry.contestant.use).memory,
          perSend: {
            statements: perSend(entry.used.statements),
            processor: perSend(entry.used.processor),
            database: perSend(entry.used.database)
          }
        }
      }))
    return { measured, others }
  })

/**
 * Starts to watch the processor time of processes that we did not start. The inner effect returns their share since
 * then.
 */
export const disturbance: Effect.Effect<Effect.Effect<number | undefined>> = Effect.suspend(() => {
  const read = Effect.promise(() => Promise.all([ProcessUse.machineTime(), ProcessUse.familyTime(process.pid)]))
  return Effect.map(
    read,
    ([machineBefore, ownBefore]) =>
      Effect.map(
        read,
        ([machine, own]) =>
          machine === undefined || machineBefore === undefined || own === undefined || ownBefore === undefined
            ? undefined
            : Math.max(0, machine.spent - machineBefore.spent - (own - ownBefore)) / (machine.had - machineBefore.had)
      )
  )
})
