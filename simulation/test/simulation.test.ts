/**
 * Whole runs: one seed gives one history, seeds keep the contract, and bugs that are planted are found.
 */
import { assert, describe, it } from "@effect/vitest"
import { History } from "@wac/checker"
import * as Extent from "@wac/testbed/Extent"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import * as Plan from "../src/Plan.ts"
import * as Shrink from "../src/Shrink.ts"
import * as Simulation from "../src/Simulation.ts"
import * as Table from "../src/Table.ts"
import { type Bug, bugs } from "./bugs.ts"

const seeds = Array.from({ length: Extent.of(7, 500) }, (_, index) => index + 1)

/** What is met under the seeds, together. */
const expected = [
  "accepted",
  "refused",
  "not_sent",
  "unknown",
  "report failed",
  "report read",
  "cancel 200",
  "send 200",
  "send 202",
  "send 409",
  "send 504",
  "send null",
  "attempt 200",
  "attempt 500",
  "attempt null",
  "preference 200",
  "start 200",
  "pause 200",
  "cancel 200",
  "completed",
  "marketing in a campaign",
  "text",
  "opted_out",
  "outside_service_window",
  "quota_exhausted",
  "handled false",
  "names told together",
  "the message could not be sent before send_until",
  // so rare that the short form meets neither
  ...Extent.of([], ["tried again before its send_until", "tried again before its campaign's not_after"]),
  "has its clock set, ahead by ",
  "the connection is lost before it",
  "it is done, and the connection is lost",
  "it fails at its deadline, and is done later",
  "the process is killed at it",
  "is suspended for ",
  "has started",
  "is dead"
]

/** What of an entry is looked for. */
const wordsOf = (entry: History.Entry): ReadonlyArray<string> => {
  switch (entry.kind) {
    case "provider_call":
      return [entry.outcome, `${entry.category ?? entry.type}${entry.campaign === undefined ? "" : " in a campaign"}`]
    case "send":
      return [`send ${entry.status}`, String(JSON.parse(entry.answer ?? "{}").error?.reason)]
    case "campaign_change":
      return [`${entry.change} ${entry.status}`]
    case "campaign":
      return [entry.status]
    case "customer":
      return ["names told together"]
    case "handled":
      return [`handled ${entry.ok}`]
    case "event":
      return entry.event.type === "message.failed" ? [String(Object(entry.event.data["error"]).message)] : []
    default:
      return "status" in entry ? [`${entry.kind} ${entry.status}`] : []
  }
}

/** What is looked for in the calls of one message. */
const wordsOfCalls = ({ entries }: History.History): ReadonlyArray<string> => {
  const withUntil = new Set(
    entries.flatMap((entry) =>
      entry.kind === "send" && entry.status === 202 && Object.hasOwn(Object(entry.body), "send_until")
        ? [String(JSON.parse(entry.answer!).message_id)]
        : []
    )
  )
  const withEnd = new Set(
    entries.flatMap((entry) => entry.kind === "campaign" && typeof entry.not_after === "number" ? [entry.campaign] : [])
  )
  const called = new Set<string>()
  return entries.flatMap((entry) => {
    if (entry.kind !== "provider_call") return []
    const { campaign, message_id: message } = entry
    const isAgain = called.has(message)
    called.add(message)
    if (!isAgain) return []
    return [
      ...withUntil.has(message) ? ["tried again before its send_until"] : [],
      ...campaign !== undefined && withEnd.has(campaign) ? ["tried again before its campaign's not_after"] : []
    ]
  })
}

const printed = ({ history, notes }: Simulation.Run): string => History.print(history) + JSON.stringify(notes)

const runs = new Map<number, Promise<Simulation.Run>>()

/** The run of a seed, which is carried out once. */
const runOf = (seed: number): Promise<Simulation.Run> => {
  const run = runs.get(seed) ?? Simulation.run(Plan.make(seed))
  runs.set(seed, run)
  return run
}

describe("Simulation.run", () => {
  it("one seed gives one history, byte for byte, and another seed another", async () => {
    const [first, second, other] = [await runOf(1), await Simulation.run(Plan.make(1)), await runOf(2)]
    assert.strictEqual(printed(second), printed(first))
    assert.notStrictEqual(printed(other), printed(first))
  })

  it("each of these seeds keeps every promise of the contract, and together they meet each kind of fault", async () => {
    const seen = new Set<string>()
    for (const seed of seeds) {
      const run = await runOf(seed)
      assert.isTrue(run.verdict.ok, `npm run simulate -- --seed ${seed}`)
      for (const entry of run.history.entries) {
        for (const word of wordsOf(entry)) seen.add(word)
      }
      for (const word of wordsOfCalls(run.history)) seen.add(word)
      for (const { text } of run.notes) seen.add(text.replace(/^.*: |\d+ ms/g, ""))
    }
    for (const each of expected) assert.include([...seen], each)
  })

  it("a repeated pause that is answered after a resume, as it was done before, breaks no promise", async () => {
    const { history, verdict } = await runOf(388_808_177)
    const changes = history.entries.flatMap((entry) => entry.kind === "campaign_change" ? [entry] : [])
    assert.deepStrictEqual(changes.map(({ change, status }) => `${change} ${status}`), [
      "start 200",
      "pause null",
      "resume 200",
      "pause 200"
    ])
    assert.isTrue(verdict.ok)
  })
})

/** The seeds that are tried for a bug: the one that is known to find it, or in the full form all from the first on. */
const seedsFor = ({ seed, within }: Bug): ReadonlyArray<number> => {
  const all = Array.from({ length: within }, (_, index) => index + 1)
  return Extent.of([seed, ...all.filter((other) => other !== seed)], all)
}

describe("Simulation.Planted", () => {
  it.each(bugs)("$title is found within few seeds", async (bug) => {
    for (const seed of seedsFor(bug)) {
      const { verdict } = await Simulation.run(Plan.make(seed), bug.planted)
      if (!verdict.broken.some(({ promise }) => promise === bug.breaks)) continue
      // each seed before that costs half a second, in every run
      if (seed !== bug.seed) process.stdout.write(`seed ${seed} found ${bug.title}: write it into bugs.ts\n`)
      return
    }
    assert.fail(`not found in ${bug.within} seeds`)
  })

  it("the README of the checker lists each bug with its promise and its number of seeds", () => {
    const page = readFileSync(join(import.meta.dirname, "../../packages/checker/README.md"), "utf8")
    const rows = [...page.matchAll(/^\| (.+?) +\| `([a-z-]+)` +\| (\d+) +\|$/gm)]
    assert.deepStrictEqual(
      rows.map(([, title, breaks, within]) => ({ title, breaks, within: Number(within) })),
      bugs.map(({ breaks, title, within }) => ({ title, breaks, within }))
    )
  })
})

describe("Shrink.shrink", () => {
  /** Fails with the sends 3 and 7, and faults of the storage. */
  const fails: Shrink.Fails = async ({ faults, operations }) =>
    faults.includes("storage") && [3, 7].every((id) => operations.some((operation) => operation.id === id))

  it("a plan that fails is shrunk to the operations and the faults without which it does not fail", async () => {
    const { faults, operations } = await Shrink.shrink(Plan.make(1), fails)
    assert.deepStrictEqual(faults, ["storage"])
    assert.deepStrictEqual(operations.map(({ id }) => id).sort(), [3, 7])
  })
})

describe("Table.of", () => {
  it("a table has what was seen and what befell the processes in the order of time, and marks what proves a broken promise", () => {
    const guilty: History.Entry = {
      kind: "provider_call",
      process: "provider",
      message_id: "msg_01KDVDNA00MQT1N0V1ZQPD2ZAV",
      outcome: "unknown",
      begun: 2000,
      ended: 3500
    }
    const table = Table.of({
      plan: { seed: 5, processes: 2, length: 1, faults: [], quota: null, operations: [] },
      history: { header: { format: "wac-history", version: 1 }, entries: [guilty] },
      millis: 2500,
      notes: [{ at: 1000, process: "p1", text: "is dead" }],
      verdict: {
        ok: false,
        broken: [{ promise: "one-provider-call", section: 3, found: "called twice", evidence: [guilty] }]
      }
    })
    assert.deepStrictEqual(
      table.split("\n").slice(0, 4),
      [
        "seed 5, 2 processes, faults: none",
        "   begun  ended  who       what",
        "   0.000         p1        is dead",
        ">  1.000  2.500  provider  send msg-1: unknown "
      ].map((line) => line.trimEnd())
    )
    assert.include(table, "§3 one-provider-call: called twice. Promised: After a provider call")
  })
})
