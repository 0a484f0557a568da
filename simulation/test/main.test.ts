/**
 * The command line, as docs/simulation.md shows it.
 */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
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

  it("a broken seed that a thread finds is told, shrunk and shown as a table, and the status is not 0", async () => {
    const directory = mkdtempSync(join(tmpdir(), "wac-simulation-"))
    try {
      // in each thread, the fingerprint leaves the body out
      const bug = join(directory, "bug.mjs")
      writeFileSync(
        bug,
        `import { registerHooks } from "node:module"
registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    if (!url.endsWith("/core/src/Idempotency.ts")) return loaded
    return { ...loaded, source: String(loaded.source).replace("canonicalJson(body)", "canonicalJson(null)") }
  }
})
`
      )
      const main = join(root, "simulation/src/main.ts")
      const args = ["--conditions=source", "--import", bug, main, "--seeds", "20"]
      const ended = await promisify(execFile)(process.execPath, args, { cwd: directory }).then(
        ({ stdout }) => ({ code: 0, stdout, stderr: "" }),
        (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => error
      )
      const [, seed, history] = /^seed (\d+): \d+ entries, BROKEN\nseeds: \1, .*\n([^]*)$/m.exec(ended.stdout) ?? []
      assert.isDefined(seed, ended.stdout)
      assert.match(history!, /other-body-conflicts/)
      assert.include(ended.stdout + ended.stderr, `repeat it with --seed ${seed}`)
      assert.strictEqual(ended.code, 1)
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})
