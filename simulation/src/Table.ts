/**
 * A run as a table for people: what was seen, what befell the processes, and which promises were broken.
 */
import { type History, promises } from "@wac/checker"
import { Time } from "@wac/core"
import type { Run } from "./Simulation.ts"

interface Row {
  readonly at: number
  readonly cells: ReadonlyArray<string>
}

const seconds = (millis: number): string => (millis / 1000).toFixed(3)

/** What an entry says, without its times. */
const said = (entry: History.Entry, nameOf: (id: string) => string): string => {
  const { answer, body } = entry as Partial<History.Send>
  const told = (text: unknown): string => JSON.stringify(text).replace(/\b[a-z]{2,3}_[0-9A-Z]{26}\b/g, nameOf)
  switch (entry.kind) {
    case "send":
      return `send ${entry.key} ${told(body)}: ${entry.status ?? "no answer"}` +
        `${entry.replayed ? " replayed" : ""}${
          answer === null || answer === undefined ? "" : ` ${told(JSON.parse(answer))}`
        }`
    case "cancel":
    case "read":
    case "report":
      return `${entry.kind} ${nameOf(entry.message_id)}: ${entry.status ?? "no answer"}`
    case "provider_call":
      return `send ${nameOf(entry.message_id)}` +
        `${entry.to === undefined ? "" : ` (${entry.category ?? entry.type}) to ${entry.to}`}` +
        `${entry.campaign === undefined ? "" : ` of ${nameOf(entry.campaign)}`}: ` +
        `${entry.outcome} ${entry.provider_message_id ?? ""}`
    case "event":
      return `lists ${nameOf(entry.event.id)} ${entry.event.type} ${told(entry.event.data)}`
    case "customer":
      return `told together: ${entry.names.join(", ")}`
    case "received":
      return `${entry.from} wrote ${Time.iso(entry.at)} ${entry.preference ?? ""}`
    case "preference":
      return `${entry.preference} ${entry.name}: ${entry.status ?? "no answer"}`
    case "quota":
      return `quota ${entry.messages}`
    case "recipients":
      return `uploads ${entry.to.join(", ")} to ${nameOf(entry.campaign)}: ${entry.status ?? "no answer"}`
    case "campaign_change":
      return `${entry.change} ${nameOf(entry.campaign)}: ${entry.status ?? "no answer"}`
    case "campaign":
      return `${nameOf(entry.campaign)} is ${entry.status} ${JSON.stringify(entry.counts)}`
    case "subscription":
      return `subscription ${entry.subscription}`
    case "handled":
      return `handles ${nameOf(entry.event_id)}: ${entry.ok ? "done" : "failed"}`
    case "set_aside":
      return `sets ${nameOf(entry.event_id)} aside`
    case "webhook":
      return `webhook ${nameOf(entry.webhook)}`
    case "attempt":
      return `${nameOf(entry.event_id)} ${told(JSON.parse(entry.body))}: ${entry.status ?? "no answer"}` +
        `${entry.genuine ? "" : " forged"}`
    case "delivery_end":
      return `${nameOf(entry.event_id)}: ${entry.status}`
  }
}

/** The table of a run, in the order of time. `>` marks what proves that a promise was broken. Times are seconds. */
export const of = ({ history, notes, plan, verdict }: Run): string => {
  const begin = Math.min(...history.entries.map(({ begun }) => begun), ...notes.map(({ at }) => at))
  const names = new Map<string, string>()
  const counts = new Map<string, number>()
  const nameOf = (id: string): string => {
    const known = names.get(id)
    if (known !== undefined) return known
    const [prefix = ""] = id.split("_")
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    const name = `${prefix}-${count}`
    names.set(id, name)
    return name
  }
  const guilty = new Set(verdict.broken.flatMap(({ evidence }) => evidence))
  const byTime = [...history.entries].sort((a, b) => a.begun - b.begun)
  const rows: ReadonlyArray<Row> = [
    ...byTime.map((entry): Row => ({
      at: entry.begun,
      cells: [
        guilty.has(entry) ? ">" : "",
        seconds(entry.begun - begin),
        entry.ended === null ? "" : seconds(entry.ended - begin),
        entry.process,
        said(entry, nameOf)
      ]
    })),
    ...notes.map(({ at, process, text }): Row => ({ at, cells: ["", seconds(at - begin), "", process, text] }))
  ]
  const sorted = [...rows].sort((a, b) => a.at - b.at).map(({ cells }) => cells)
  const table = [["", "begun", "ended", "who", "what"], ...sorted]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((cells) => cells[column]!.length)))
  const lines = table.map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd())
  const broken = verdict.broken.map(({ found, promise, section }) =>
    `§${section} ${promise}: ${found}. Promised: ${promises[promise].says}`
  )
  return [
    `seed ${plan.seed}, ${plan.processes} processes, faults: ${plan.faults.join(", ") || "none"}`,
    ...plan.operations.map((operation) => `  ${JSON.stringify(operation)}`),
    ...lines,
    ...broken
  ].map((line) => `${line}\n`).join("")
}
