/**
 * What came of faults, as a table for people.
 */
import { isKept, type Outcome } from "./Trial.ts"

const columns = [
  "Fault",
  "Messages",
  "Lost",
  "Doubled",
  "Unknown",
  "Answers replayed",
  "Events repeated",
  "Recovery (s)",
  "Contract"
]

const cells = (outcome: Outcome): ReadonlyArray<string> => {
  const { broken, doubled, fault, lost, recovery, refused, repeated, replayed, sends, unknown } = outcome
  const promises = [...new Set(broken.map(({ promise }) => `\`${promise}\``))]
  const without = refused.length === 0 ? [] : [`${refused.length} refused or without an answer`]
  return [
    fault.about,
    ...[sends, lost.length, doubled.length, unknown.length, replayed, repeated].map(String),
    recovery === undefined ? "not seen" : recovery.toFixed(1),
    isKept(outcome) ? "kept" : [...promises, ...without].join(", ") || "no recovery"
  ]
}

/** The table, with a line for each fault, as the formatter has it. */
export const of = (outcomes: ReadonlyArray<Outcome>): string => {
  const rows = [columns, ...outcomes.map(cells)]
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const isNumber = (i: number) => i > 0 && i < columns.length - 1
  const line = (row: ReadonlyArray<string>) => `| ${row.join(" | ")} |\n`
  const padded = (row: ReadonlyArray<string>) =>
    line(row.map((cell, i) => isNumber(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
  const rule = widths.map((width, i) => isNumber(i) ? `${"-".repeat(width - 1)}:` : "-".repeat(width))
  return [padded(columns), line(rule), ...rows.slice(1).map(padded)].join("")
}

/** What was wrong, for who looks for the cause. */
export const wrong = (outcome: Outcome): string => {
  const { broken, doubled, fault, lost, refused, unknown } = outcome
  const lines = (what: string, sends: ReadonlyArray<string>) => sends.slice(0, 5).map((send) => `  ${what} ${send}`)
  return [
    `${fault.name}: ${isKept(outcome) ? "kept" : "BROKEN"}`,
    ...lines("lost", lost),
    ...lines("doubled", doubled),
    ...lines("without an answer", refused),
    ...lines("unknown", unknown),
    ...broken.slice(0, 5).map(({ evidence, found, promise }) =>
      `  ${promise}: ${found} ${JSON.stringify(evidence).slice(0, 2000)}`
    )
  ].map((line) => `${line}\n`).join("")
}

/** How a table came to be. */
export interface Origin {
  readonly command: string
  readonly commit: string
  readonly machine: string
  /** The names of faults without a line: they could not run, or did not end. */
  readonly missing: ReadonlyArray<string>
}

/** The table as a page of the documentation. */
export const page = (outcomes: ReadonlyArray<Outcome>, { command, commit, machine, missing }: Origin): string =>
  `# Faults

\`${command}\` wrote this table at commit ${commit}, on ${machine}.${
    missing.length === 0 ? "" : ` It lacks ${missing.join(", ")}.`
  }

Each fault happens to an installation of its own: two processes of the server, PostgreSQL with its default settings, a simulated provider and a receiver. Callers send 8 messages each second, before, during and after the fault, and send each again with its Idempotency-Key until they know its outcome. [@wac/checker](../packages/checker/README.md) judges everything that callers, the provider and the receiver saw.

- **Lost**: messages that were accepted and that the provider never got, or whose events had not arrived at the receiver at the end of the run, at most four minutes after the fault.
- **Doubled**: messages that the provider accepted more than once.
- **Unknown**: messages of which the caller was told that the outcome is not known yet (\`outcome_unknown\`), at the end of the run. They are settled after 10 minutes.
- **Answers replayed** and **events repeated** are repetitions that say so: by \`Idempotent-Replayed\`, and by the id of the event.
- **Recovery**: from the end of the fault until each process accepts sends, and everything that was sent before has arrived at the receiver.

${of(outcomes)}`
