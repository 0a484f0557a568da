/**
 * Load on a contestant that speaks HTTP: autocannon, in one process of its own for the whole run, so that it is warm.
 */
import { Effect, type Scope } from "effect"
import { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import type { Target } from "./Workload.ts"

/** How much is asked at once, and for how long or how often. */
export interface Load {
  readonly connections: number
  readonly until: Until
}

export type Until = { readonly seconds: number } | { readonly sends: number }

/** What came of it. Latencies are in milliseconds. */
export interface Round {
  readonly sends: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Requests that the end of the round cut off: they may have been carried out. */
  readonly cutOff: number
}

/** What autocannon saw; answers are counted as wrong by their status or by their body. */
export interface Seen extends Round {
  readonly wrong: {
    readonly status: number
    readonly body: number
    readonly connection: number
    /** The first wrong body. */
    readonly example: string
  }
}

/** The question to `LoadProcess`; `expected` is a part that every right answer's body has. */
export interface Job extends Load {
  readonly target: Target
  readonly expected: string
}

export interface Loader {
  /** Fails when a single answer was not right. */
  readonly run: (job: Job) => Effect.Effect<Round, BenchFailed>
}

export const make: Effect.Effect<Loader, BenchFailed, Scope.Scope> = Effect.map(
  Child.start<null>("LoadProcess", null),
  ({ ask }): Loader => ({
    run: (job) =>
      Effect.flatMap(
        ask<Seen>(job),
        ({ wrong, ...round }) =>
          wrong.status + wrong.body + wrong.connection > 0 || round.sends === 0
            ? Effect.fail(
              new BenchFailed({
                message: `${job.target.url}: ${round.sends} answers, of which ${wrong.status} were not 200 and ` +
                  `${wrong.body} had a wrong body; ${wrong.connection} failures of the connection. ${wrong.example}`
              })
            )
            : Effect.succeed(round)
      )
  })
)
