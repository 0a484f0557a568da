/**
 * What a send costs a caller who is alone, beside its own two round trips to the database, and beside the least that two
 * can cost.
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
  /**
   * The two round trips of the send itself: two empty transactions that PostgreSQL has to make durable, and what it took
   * to carry out the send's own two statements.
   */
  readonly own: number | undefined
  /** Two empty statements through the server's own client. */
  readonly empty: number
  /** Two empty transactions through it that PostgreSQL has to make durable. */
  readonly durable: number
  /** The two transactions of a send, by pgbench with one client. */
  readonly commits: number | undefined
}

/** What makes two round trips, in the order of {@link LoneCaller}. */
const statements = { empty: "select 1", durable: "select pg_logical_emit_message(true, 'bench', '')::text" }

/** The two statements of a send: *accept*, before the provider is asked, and *settle*, after it. */
const ownStatements = "^select wac_(accept|settle)"

const turns = 7
const repetitions = 200

export const measure = (
  wac: Wac,
  pgbench: Contestant | undefined
): Effect.Effect<LoneCaller, BenchFailed> =>
  Effect.gen(function*() {
    const alone = { connections: 1, until: { sends: repetitions } }
    const sends = Effect.gen(function*() {
      const before = yield* wac.database.took(ownStatements)
      const { p50 } = yield* wac.contestant.round(alone)
      const after = yield* wac.database.took(ownStatements)
      return { send: p50, statements: before === undefined ? undefined : (after! - before) / repetitions }
    })
    const turn = Effect.all({
      sends,
      empty: wac.twoRoundTrips(statements.empty, repetitions),
      durable: wac.twoRoundTrips(statements.durable, repetitions),
      commits: pgbench === undefined ? Effect.undefined : Effect.map(pgbench.round(alone), ({ p50 }) => p50)
    })
    yield* turn
    const all = yield* Effect.replicateEffect(turn, turns)
    const known = all.flatMap(({ durable, sends }) =>
      sends.statements === undefined ? [] : [durable + sends.statements]
    )
    return {
      send: median(all.map(({ sends }) => sends.send)),
      own: known.length === 0 ? undefined : median(known),
      empty: median(all.map(({ empty }) => empty)),
      durable: median(all.map(({ durable }) => durable)),
      commits: pgbench === undefined ? undefined : median(all.map(({ commits }) => commits!))
    }
  })
