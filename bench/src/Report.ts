/**
 * Formats what the measurements print.
 */
import { cpus } from "node:os"
import { type Cluster, settings } from "./Database.ts"
import type { Round, Until } from "./Load.ts"
import type { LoneCaller, Send } from "./LoneCaller.ts"
import type { Measured, Outcome, Plan } from "./Rounds.ts"
import { median } from "./Statistics.ts"

export const whole = (value: number): string => Math.round(value).toLocaleString("en-US")

export const decimals = (value: number, digits: number): string => value.toFixed(digits)

export const letter = (i: number): string => String.fromCharCode(97 + i)

/** A table with words in the first column and numbers in the others. */
export const table = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows.map((row) =>
    row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)).join("  ").trimEnd()
  ).join("\n")
}

/** What processes that we did not start took of the machine meanwhile, where that is known. */
export const others = (share: number | undefined): string =>
  share === undefined ? "" : `Other processes took ${whole(share * 100)} % of the machine.\n`

/** A figure, and whether it meets its goal. */
export const line = (
  name: string,
  value: number,
  fractionDigits: number,
  goal: Parameters<typeof verdict>[1] = {}
): string => `${name}  ${decimals(value, fractionDigits)}${verdict(value, goal)}`

/** The machine, the database and the load, without which no number means anything. */
export const conditions = (cluster: Cluster, load: string): string =>
  [
    `Node ${process.versions.node}, PostgreSQL ${cluster.version}, ${cpus().length} × ${
      cpus()[0]?.model.trim() ?? "?"
    }`,
    process.env["BENCH_DATABASE_URL"] === undefined
      ? `PostgreSQL with ${Object.entries(settings).map(([name, value]) => `${name}=${value}`).join(" ")}`
      : "PostgreSQL of BENCH_DATABASE_URL, with its own settings",
    load
  ].join("\n")

/** Describes the load of sends. */
export const sending = ({ connections, rounds, until, warmUp }: Plan): string =>
  `${connections} connections, ${rounds} interleaved rounds of ${length(until)}, ` +
  `each contestant warmed up for ${length(warmUp)}`

const length = (until: Until): string => "seconds" in until ? `${until.seconds} s` : `${whole(until.sends)} sends`

const rates = ({ rounds }: Measured): ReadonlyArray<number> => rounds.map(({ perSecond }) => perSecond)

const middle = ({ rounds }: Measured, of: (round: Round) => number): number => median(rounds.map(of))

/** The throughput, latency and cost of each contestant; `one` and `many` name the unit, such as send and sends. */
export const results = (
  cluster: Cluster,
  { measured: all, others }: Outcome,
  { many, one }: { readonly one: string; readonly many: string }
): string =>
  (others === undefined ? "" : `Other processes took ${whole(others * 100)} % of the machine during the rounds.\n\n`) +
  table([
    [
      "",
      `${many}/s`,
      "min",
      "max",
      "p50 ms",
      "p99 ms",
      "memory MB",
      `${cluster.counts}/${one}`,
      `CPU µs/${one}`,
      "of its storage"
    ],
    ...all.map((measured, i) => [
      `${letter(i)}  ${measured.name}`,
      whole(median(rates(measured))),
      whole(Math.min(...rates(measured))),
      whole(Math.max(...rates(measured))),
      decimals(middle(measured, ({ p50 }) => p50), 1),
      decimals(middle(measured, ({ p99 }) => p99), 1),
      measured.memory === undefined ? "–" : whole(measured.memory / 1e6),
      measured.perSend.statements === undefined ? "–" : decimals(measured.perSend.statements, 2),
      measured.perSend.processor === undefined ? "–" : whole(measured.perSend.processor * 1e6),
      measured.perSend.database === undefined ? "–" : whole(measured.perSend.database * 1e6)
    ])
  ])

/** Whether a goal is met. */
export const verdict = (
  value: number,
  { least, most }: { readonly least?: number; readonly most?: number }
): string => {
  const bounds = [
    ...least === undefined ? [] : [`at least ${least}`],
    ...most === undefined ? [] : [`at most ${most}`]
  ]
  const isMet = value >= (least ?? -Infinity) && value <= (most ?? Infinity)
  return bounds.length === 0 ? "" : `  (goal: ${bounds.join(" and ")}; ${isMet ? "met" : "missed"})`
}

/** One contestant's throughput divided by another's: the ratio of the medians, and its range over the rounds. */
export const ratio = (name: string, over: Measured, under: Measured, goal?: number): string => {
  const value = median(rates(over)) / median(rates(under))
  const each = rates(over).map((rate, i) => rate / rates(under)[i]!)
  return `${name}  ${decimals(value, 2)}  rounds ${decimals(Math.min(...each), 2)} to ${
    decimals(Math.max(...each), 2)
  }` +
    verdict(value, goal === undefined ? {} : { least: goal })
}

/**
 * The processor time that one contestant's message takes together with PostgreSQL's, divided by another's: the median
 * of the rounds, each compared with its neighbour in time, and their range.
 */
export const costRatio = (
  name: string,
  over: Pick<Measured, "costs">,
  under: Pick<Measured, "costs">,
  goal: { readonly most?: number } = {}
): string => {
  const each = over.costs.map((cost, i) => cost / under.costs[i]!)
  return `${name}  ${decimals(median(each), 2)}  rounds ${decimals(Math.min(...each), 2)} to ${
    decimals(Math.max(...each), 2)
  }${verdict(median(each), goal)}`
}

/** The cost of a send for a single caller. */
export const loneCaller = ({ commits, core, durable, empty, fastify, ours }: LoneCaller): string => {
  const send = (name: string, { send, waited }: Send) => [
    name,
    decimals(send, 2),
    decimals(waited, 2),
    decimals(send / waited, 2)
  ]
  const beside = (name: string, value: number | undefined) => [name, value === undefined ? "–" : decimals(value, 2)]
  const goal = (name: string, { send, waited }: Send) =>
    `a send ${name} / its round trips  ${decimals(send / waited, 2)}${verdict(send / waited, { most: 1.3 })}`
  return [
    "A lone caller (medians, ms)",
    table([
      ["", "send", "its round trips", "ratio"],
      send("a  over HTTP", ours),
      send("a  without HTTP: the core in the server's process", core),
      send("b  over HTTP", fastify)
    ]),
    "",
    table([
      ["two round trips without a send", "ms"],
      beside("empty statements (select 1)", empty),
      beside("empty durable commits", durable),
      beside("the two transactions of c, by pgbench", commits)
    ]),
    "",
    goal("of the core", core),
    goal("over HTTP", ours)
  ].join("\n")
}
