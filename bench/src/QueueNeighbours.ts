/**
 * The stage of `queue` with a neighbour: how soon after their times a workspace's messages are sent while all messages
 * of another workspace are due at once. The stages before and after it have no neighbour's messages; their difference
 * shows the noise.
 */
import { Console, Effect, type Scope } from "effect"
import { BenchFailed } from "./BenchFailed.ts"
import type { Cluster } from "./Database.ts"
import * as Lateness from "./Lateness.ts"
import * as Pace from "./Pace.ts"
import * as Queued from "./Queued.ts"
import * as Report from "./Report.ts"
import * as Rounds from "./Rounds.ts"
import * as Simulated from "./Simulated.ts"
import { percentile } from "./Statistics.ts"
import * as Time from "./Time.ts"

export interface Plan {
  /** How long messages are due, in each of the three stages. */
  readonly seconds: number
  /** The number of the neighbour's messages. */
  readonly waiting: number
}

/** A second of the neighbour's number, of which the queue has four fifths: as many as are due beside it. */
const tier = { name: "standard", perSecond: Lateness.perSecond / 0.8 }

/** The simulator's second number. */
const neighbour = { number: "+15550783882", id: "106540352242923", account: "102290129340398" }

const high = 1000

/** Makes a workspace with a number and a key of its own. */
const settle = ({ database, wac }: Simulated.Simulated): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    const { account, id, number } = neighbour
    yield* wac(`workspaces create Neighbour --number ${number} --id ${id} --account ${account}`)
    yield* wac(`numbers set ${number} --tier ${tier.name}`)
    const [workspace] = yield* database.query(
      "select workspace_id as id from wac.phone_numbers where provider_number_id = $1",
      [id]
    )
    yield* wac(`keys create bench --workspace ${workspace!["id"]}`)
  })

/** Waits until each workspace has the template, which servers get when they start. */
const untilTemplates = ({ database }: Simulated.Simulated): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    for (let has = false; !has;) {
      yield* Effect.sleep("100 millis")
      const [row] = yield* database.query(
        "select count(distinct workspace_id) = 2 as has from wac.templates where name = $1",
        [Lateness.template.name]
      )
      has = row!["has"] === true
    }
  }).pipe(Effect.timeoutOrElse({
    duration: "1 minute",
    orElse: () => new BenchFailed({ message: "the neighbour has no templates" })
  }))

/** Measures and prints the results. */
export const measure = ({ seconds, waiting }: Plan, cluster: Cluster): Effect.Effect<void, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const simulated = yield* Simulated.start(cluster, { database: "wac_bench_queue_neighbours", reports: false })
    const limits = { ...Simulated.limits, phoneNumberTiers: { [tier.name]: tier.perSecond, high } }
    // the first start makes the first workspace
    yield* Effect.scoped(simulated.server())
    yield* settle(simulated)
    const { ready: { url } } = yield* simulated.server({ WAC_LIMITS: JSON.stringify(limits) })
    yield* untilTemplates(simulated)
    const { apiKey } = yield* Simulated.signIn(url)
    const world: Lateness.World = { ...simulated, target: { url, apiKey } }
    const { query } = world.database
    let first = 10_000_000
    const late = Effect.suspend(() => {
      first += 1_000_000
      return Lateness.measure(world, { first, seconds })
    })
    yield* Lateness.measure(world, { first, seconds: Math.ceil(seconds / 6) })
    const disturbed = yield* Rounds.disturbance
    const alone = yield* late
    yield* Console.log(`\nqueueing ${Report.whole(waiting)} messages of a neighbour that are due`)
    yield* query("update wac.heartbeats set held_since = 1")
    yield* Queued.fill(world.database, {
      count: waiting,
      due: "Now",
      template: Lateness.template,
      providerNumberId: neighbour.id
    })
    yield* cluster.checkpoint
    yield* query("update wac.heartbeats set held_since = null")
    const from = Time.now()
    const beside = yield* late
    const to = Time.now()
    // what the neighbour has left would be sent beside the last stage
    const left = yield* query("delete from wac.send_queue returning 1")
    const again = yield* late
    const sent = (yield* Lateness.arrivals(world)).filter(({ to }) =>
      Lateness.digits(to!).startsWith(Lateness.digits(Queued.recipientPrefix))
    )
    if (left.length === 0) {
      return yield* new BenchFailed({ message: "the neighbour's queue ran empty: have more messages wait" })
    }
    if (sent.length < waiting - left.length) {
      return yield* new BenchFailed({ message: "the neighbour's messages did not come to the provider" })
    }
    const row = (name: string, sorted: ReadonlyArray<number>) => [
      name,
      Report.whole(sorted.length),
      ...[percentile(sorted, 0.5), percentile(sorted, 0.99), sorted.at(-1)!].map(Report.whole)
    ]
    yield* Console.log([
      "",
      Report.others(yield* disturbed),
      Report.table([
        [`From its time to the provider, ${Lateness.perSecond} a second`, "messages", "p50 ms", "p99 ms", "most ms"],
        row("alone", alone),
        row(`beside ${Report.whole(waiting)} due of another workspace`, beside),
        row("alone again", again)
      ]),
      "",
      `the neighbour's messages, of which ${Report.whole(left.length)} were left, went out at ` +
      `${Report.whole(Pace.of(sent.map(({ at }) => at), [{ from, to }]).mean)} a second`,
      Report.line("p99 of a message beside a neighbour after its time, ms", percentile(beside, 0.99), 0, {
        most: Lateness.soon
      })
    ].join("\n"))
  })
