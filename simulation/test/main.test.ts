/**
 * The command line, as docs/simulation.md shows it.
 */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"

const root = join(import.meta.dirname, "../..")

/** What `npm run simulate --` and `npx wac-checker` run. */
const programs: Readonly<Record<string, string>> = {
  "npm run simulate -- ": "simulation/src/main.ts",
  "npx wac-checker ": "packages/checker/src/checker.ts"
}

/** The commands of the page, in the order in which they stand there. */
const commands = [...readFileSync(join(root, "docs/simulation.md"), "utf8").matchAll(/^```sh\n([^`]*)```$/gm)]
  .flatMap(([, lines]) => lines!.trim().split("\n"))

const run = async (command: string, cwd: string): Promise<string> => {
  const [start, program] = Object.entries(programs).find(([start]) => command.startsWith(start))!
  const args = ["--conditions=source", join(root, program), ...command.slice(start.length).split(" ")]
  return (await promisify(execFile)(process.execPath, args, { cwd })).stdout
}

describe("main", () => {
  it("the commands of docs/simulation.md run seeds that keep the contract, and the checker reads the history of one", async () => {
    const directory = mkdtempSync(join(tmpdir(), "wac-simulation-"))
    try {
      const output: Array<string> = []
      for (const command of commands) output.push(await run(command, directory))
      const kept = (seed: number) => `seed ${seed}: \\d+ entries, kept\n`
      assert.match(
        output[0]!,
        new RegExp(`^${kept(1)}${kept(2)}${kept(3)}seeds: 3, entries: \\d+, virtual days: 3\n$`)
      )
      assert.match(output[1]!, new RegExp(`^${kept(7)}seeds: 1, entries: \\d+, virtual days: 1\n$`))
      assert.match(output[2]!, /^\d+ entries, every promise kept\n$/)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
