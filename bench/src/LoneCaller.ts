/**
 * Measures what a send costs a single caller, compared with the send's own round trips to the database and with the
 * least that two round trips can cost.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Contestant } from "./Contestant.ts"
import type { Service } from "./ContestantFastify.ts"
import type { Wac } from "./ContestantWac.ts"
import type { Watched } from "./RoundTrips.ts"
import { median } from "./Statistics.ts"

/** The duration of a send and of its round trips to the database (see RoundTrips.ts): medians in milliseconds. */
export interface Send {
  readonly send: number
  readonly waited: number
}

/** The medians, in milliseconds. */
export interface LoneCaller {
  /** A send through our server, over HTTP. */
  readonly ours: Send
  /** A send through the core in the server's process, without HTTP. */
  readonly core: Send
  /** A send through the hand-written service, over HTTP. */
  readonly fastify: Send
  /** Two empty statements through the server's own PostgreSQL client. */
  readonly empty: number
  /** Two empty transactions through the same client that PostgreSQL has to make durable. */
  readonly durable: number
  /** The two transactions of contestant (c), by pgbench with one client. */
  readonly commits: number | undefined
}

/** The statements for `empty` and `durable` of {@link LoneCaller}. */
const statements = { empty: "select 1", durable: "select pg_logical_emit_message(true, 'bench', '')::text" }

const turns = 7
const repetitions = 100
const alone = { connections: 1, until: { sends: repetitions } }

const sends = (contestant: Contestant, watched: Watched): Effect.Effect<Send, BenchFailed> =>
  Effect.map(watched(contestant.round(alone)), ({ sends, waited }) => ({ send: sends.p50, waited }))

/** Picks the turn with the median ratio, so that both numbers come from the same moment and not from two medians. */
const middle = (all: ReadonlyArray<Send>): Send =>
  all.toSorted((one, other) => one.send / one.waited - other.send / other.waited)[all.length >> 1]!

export const measure = (
  wac: Wac,
  fastify: Service,
  pgbench: Contestant | undefined
): Effect.Effect<LoneCaller, BenchFailed> =>
  Effect.gen(function*() {
    const turn = Effect.all({
      ours: sends(wac.contestant, wac.watched),
      core: wac.coreSends(repetitions),
      fastify: sends(fastify.contestant, fastify.watched),
      empty: wac.twoRoundTrips(statements.empty, repetitions),
      durable: wac.twoRoundTrips(statements.durable, repetitions),
      commits: pgbench === undefined ? Effect.undefined : Effect.map(pgbench.round(alone), ({ p50 }) => p50)
    })
    yield* turn
    const all = yield* Effect.replicateEffect(turn, turns)
    return {
      ours: middle(all.map(({ ours }) => ours)),
      core: middle(all.map(({ core }) => core)),
      fastify: middle(all.map(({ fastify }) => fastify)),
      empty: median(all.map(({ empty }) => empty)),
      durable: median(all.map(({ durable }) => durable)),
      commits: pgbench === undefined ? undefined : median(all.map(({ commits }) => commits!))
    }
  })
