/**
 * The command line: `npm run faults -- --only postgres-killed --seconds 10`. Lets faults happen to an installation, one
 * after the other or (`--at-once 3`) beside each other, and prints what came of them. With `--write`, the table goes
 * into `docs/faults.md`. The exit code is 1 if a message was lost or doubled, or a promise of the contract was broken.
 */
import * as Program from "@wac/testbed/Program"
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { cpus, totalmem } from "node:os"
import { inspect, parseArgs } from "node:util"
import type { Fault } from "./Fault.ts"
import * as Faults from "./Faults.ts"
import * as Table from "./Table.ts"
import * as Trial from "./Trial.ts"

const root = `${import.meta.dirname}/..`

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    seconds: { type: "string", default: "10" },
    "at-once": { type: "string", default: "1" },
    write: { type: "boolean", default: false }
  }
})
const seconds = Number(values.seconds)
const atOnce = Number(values["at-once"])
if (!(seconds > 0)) throw new Error("--seconds must be a number above 0")
if (!(atOnce >= 1)) throw new Error("--at-once must be a number from 1")
const unknown = values.only.find((name) => !Faults.all.some((fault) => fault.name === name))
if (unknown !== undefined) {
  throw new Error(`no fault is called ${unknown}: ${Faults.all.map(({ name }) => name).join(", ")}`)
}
const asked = Faults.all.filter(({ name }) => values.only.length === 0 || values.only.includes(name))

const isPossible = ({ about, name, programs = [] }: Fault): boolean => {
  const { meta } = Program.needed({ programs, untested: about, install: "" })
  if (meta === undefined) return true
  process.stdout.write(`${name}: left out, since there is no ${meta.leftOut.missing.join(", ")}\n`)
  return false
}

const possible = asked.filter(isPossible)
const found = new Map<Fault, Trial.Outcome>()
const outcomes = (): ReadonlyArray<Trial.Outcome> => possible.flatMap((fault) => found.get(fault) ?? [])

/** Writes what there is so far, so that a run that was broken off is of use. */
const write = (): void => {
  const words = ["npm run faults", ...process.argv.length > 2 ? ["--", ...process.argv.slice(2)] : []]
  const commit = execFileSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).trim()
  const [{ model } = { model: "an unknown processor" }] = cpus()
  const machine = `${cpus().length} × ${model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}`
  const missing = asked.filter((fault) => !found.has(fault)).map(({ name }) => name)
  const page = Table.page(outcomes(), { command: words.join(" "), commit, machine, missing })
  writeFileSync(`${root}/docs/faults.md`, page)
}

const waiting = [...possible]
const work = async (): Promise<void> => {
  for (let fault = waiting.shift(); fault !== undefined; fault = waiting.shift()) {
    process.stdout.write(`${fault.name} begins\n`)
    try {
      const outcome = await Trial.run(fault, seconds)
      found.set(fault, outcome)
      process.stdout.write(Table.wrong(outcome))
      if (values.write) write()
    } catch (error) {
      // the others are of use without it
      process.stdout.write(`${fault.name}: FAILED\n${inspect(error)}\n`)
    }
  }
}
await Promise.all(Array.from({ length: atOnce }, work))

process.stdout.write(`\n${Table.of(outcomes())}`)
if (found.size < possible.length || !outcomes().every(Trial.isKept)) process.exitCode = 1
