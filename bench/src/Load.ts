/**
 * Puts load on a contestant over HTTP, with autocannon in one child process for the whole run, so that it stays warm.
 */
import { Effect, type Scope } from "effect"
import { BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import type { Handover, Target } from "./Workload.ts"

/** The number of connections, and the duration or the number of requests. */
export interface Load {
  readonly connections: number
  readonly until: Until
}

export type Until = { readonly seconds: number } | { readonly sends: number }

/** The result of a round. Latencies are those of calls, in milliseconds. */
export interface Round {
  /** The messages that were sent, or queued. */
  readonly sends: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  /** Messages whose calls were cut off at the end of the round. The contestant may have carried them out. */
  readonly cutOff: number
}

/** The observations of autocannon. A response is wrong by its status or by its body. */
export interface Seen extends Round {
  readonly wrong: {
    readonly status: number
    readonly body: number
    readonly connection: number
    /** The first wrong body. */
    readonly example: string
  }
}

/** The question to `LoadProcess`. Every correct response's body contains `expected`, once for each message. */
export interface Job extends Load {
  readonly target: Target
  readonly handover?: Handover
  readonly expected: string
}

export interface Loader {
  /** Runs a round. Fails if a single response was wrong. */
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
                message:
                  `${job.target.url}: ${round.sends} messages were answered; of the answers ${wrong.status} had a wrong status and ` +
                  `${wrong.body} had a wrong body; ${wrong.connection} failures of the connection. ${wrong.example}`
              })
            )
            : Effect.succeed(round)
      )
  })
)
