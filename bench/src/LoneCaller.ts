/**
 * What a send costs a caller who is alone, beside the least that two round trips to the database can cost.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Contestant } from "./Contestant.ts"
import type { Wac } from "./ContestantWac.ts"
import { median } from "./Statistics.ts"

/** Medians in milliseconds. */
export interface LoneCaller {
  /** One of our sends, over HTTP. */
  readonly send: number
  /** Two empty statements through the server's own client. */
  readonly empty: number
  /** Two empty transactions through it that PostgreSQL has to make durable. */
  readonly durable: number
  /** The two transactions of a send, by pgbench with one client. */
  readonly commits: number | undefined
}

/** What makes two round trips, in the order of {@link LoneCaller}. */
const statements = { empty: "select 1", durable: "select pg_logical_emit_message(true, 'bench', '')::text" }

const turns = 7
const repetitions = 200

export const measure = (
  wac: Wac,
  pgbench: Contestant | undefined
): Effect.Effect<LoneCaller, BenchFailed> =>
  Effect.gen(function*() {
    const alone = { connections: 1, until: { sends: repetitions } }
    const turn = Effect.all({
      send: Effect.map(wac.contestant.round(alone), ({ p50 }) => p50),
      empty: wac.twoRoundTrips(statements.empty, repetitions),
      durable: wac.twoRoundTrips(statements.durable, repetitions),
      commits: pgbench === undefined ? Effect.undefined : Effect.map(pgbench.round(alone), ({ p50 }) => p50)
    })
    yield* turn
    const all = yield* Effect.replicateEffect(turn, turns)
    return {
      send: median(all.map(({ send }) => send)),
      empty: median(all.map(({ empty }) => empty)),
      durable: median(all.map(({ durable }) => durable)),
      commits: pgbench === undefined ? undefined : median(all.map(({ commits }) => commits!))
    }
  })
