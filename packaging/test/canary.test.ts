/**
 * Tests that fail on purpose, run as `npm test` runs them, with the configuration of this workspace: whatever runs in
 * the test processes, such as a global set-up, must not hide their failure.
 */
import * as Extent from "@wac/testbed/Extent"
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { projects } from "../../vitest.workspace.ts"
import { manifestOf, root } from "../Published.ts"

/** What makes one run differ from another: how its processes are shared, and what runs in the main process. */
const kindOf = ({ test }: (typeof projects)[number]): string =>
  `${test?.isolate === true ? "isolated" : "shared"}, global set-up: ${JSON.stringify(test?.globalSetup ?? "none")}`

/** One project of each kind. */
const examples = [...new Map(projects.map((project) => [kindOf(project), String(project.test?.name)])).values()]

const faults: Readonly<Record<string, { readonly code: string; readonly reported: ReadonlyArray<string> }>> = {
  "a failed test": {
    code: `it("fails", () => assert.equal(1, 2))`,
    reported: ["1 failed"]
  },
  "a rejection that nobody awaits": {
    code: `it("passes", async () => { void Promise.reject(new Error("unawaited")); await setTimeout(20) })`,
    reported: ["unawaited", "1 passed"]
  },
  "an error thrown outside of tests": {
    code: `it("passes", async () => { setImmediate(() => { throw new Error("outside") }); await setTimeout(20) })`,
    reported: ["outside", "1 passed"]
  }
}

/**
 * Whether all faults are tried in a project. How its processes are shared decides which faults are noticed; a global
 * set-up runs in the main process, where one that hides the status hides it after every fault: one is enough for it.
 */
const isAll = (project: string): boolean =>
  Extent.of(projects.find(({ test }) => test?.name === project)?.test?.globalSetup === undefined, true)

/** Faults of a file rather than of a kind of project. */
const ofFile: typeof faults = {
  "a file that does not load": {
    code: `throw new Error("unloadable")`,
    reported: ["unloadable"]
  },
  "a failed hook": {
    code: `afterAll(() => { throw new Error("hook") }); it("passes", () => {})`,
    reported: ["hook"]
  },
  "a failed test beside a PostgreSQL server that nobody stops": {
    code: `it("fails", async () => { await PostgresServer.start("fsync=off"); assert.equal(1, 2) })`,
    reported: ["1 failed"]
  }
}

const prelude = `
import * as Chromium from "@wac/testbed/Chromium"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, it } from "vitest"
`

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "wac-canary-"))
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "dir")
  // the configuration in force, but for the files that it runs
  writeFileSync(
    join(folder, "vitest.config.ts"),
    `
import config from ${JSON.stringify(join(root, "vitest.config.ts"))}
import { projects } from ${JSON.stringify(join(root, "vitest.workspace.ts"))}
const dir = process.env.CANARY
export default {
  ...config,
  test: { ...config.test, projects: projects.map((_) => ({ ..._, test: { ..._.test, dir, include: ["canary.test.ts"] } })) }
}
`
  )
})
afterAll(() => rmSync(folder, { recursive: true }))

let runs = 0

/** A folder with the given programs of this machine alone, for a `PATH`. */
const only = (...programs: ReadonlyArray<string>): string => {
  const bin = mkdtempSync(join(folder, "bin-"))
  for (const program of programs) {
    const found = process.env["PATH"]!.split(delimiter).map((_) => join(_, program)).find((path) => existsSync(path))
    symlinkSync(realpathSync(found!), join(bin, program))
  }
  return bin
}

/** By `npm test`, or by what that runs: npm itself takes a third of the time of such a run. */
type By = "npm" | "its script"

const begins: Readonly<Record<By, readonly [program: string, ...args: ReadonlyArray<string>]>> = {
  npm: ["npm", "test", "--silent", "--"],
  "its script": [process.execPath, join(root, "node_modules/vitest/vitest.mjs"), "run"]
}

/** Runs one file of a project. */
const run = async (
  by: By,
  project: string,
  code: string,
  machine: { readonly PATH?: string } = {}
): Promise<{ readonly status: number; readonly output: string }> => {
  const dir = join(folder, `${++runs}`)
  mkdirSync(dir)
  writeFileSync(join(dir, "canary.test.ts"), `${prelude}${code}\n`)
  const [program, ...begin] = begins[by]
  const args = [...begin, "--config", join(folder, "vitest.config.ts"), "--project", project]
  const env: NodeJS.ProcessEnv = { ...process.env, CANARY: dir, NO_COLOR: "1", ...machine }
  // this run's own variables would make it a worker of ours, and further servers would only cost time
  for (const name of Object.keys(env)) {
    if (name.startsWith("VITEST") || name === "NODE_OPTIONS" || name === "TEST_POSTGRES_BIN") delete env[name]
  }
  return promisify(execFile)(program, args, { cwd: root, env }).then(
    ({ stderr, stdout }) => ({ status: 0, output: stdout + stderr }),
    ({ code, stderr, stdout }) => ({ status: code, output: stdout + stderr })
  )
}

const isRed = async (by: By, project: string, { code, reported }: (typeof faults)[string]) => {
  const { output, status } = await run(by, project, code)
  for (const text of reported) assert.include(output, text)
  assert.notStrictEqual(status, 0, output)
}

describe("the status of npm test", () => {
  it("the status is 0 if every test passes", async () => {
    const { scripts } = manifestOf(root) as { readonly scripts?: Readonly<Record<string, string>> }
    // the runs without npm begin with it too, and npm runs nothing before or after it
    assert.strictEqual(scripts?.["test"], "vitest run")
    assert.doesNotHaveAnyKeys(scripts, ["pretest", "posttest"])
    const { output, status } = await run("npm", "core", `it("passes", () => assert.equal(1, 1))`)
    assert.include(output, "1 passed")
    assert.strictEqual(status, 0, output)
  })

  it("the status is 0 on a machine with only Node, npm and a shell", async () => {
    const opened = `it("opens the browser", async () => { await (await Chromium.launch()).close() })`
    const { output, status } = await run("npm", "server", opened, { PATH: only("sh", "env", "node", "npm") })
    assert.strictEqual(status, 0, output)
    assert.include(output, "1 passed")
  })

  describe.each(examples)("in the project %s", (project) => {
    const all = Object.keys(faults)
    it.each(isAll(project) ? all : all.slice(0, 1))(
      "the status is not 0 after %s",
      (name) => isRed("its script", project, faults[name]!)
    )
  })

  it.each(Object.keys(ofFile))("the status is not 0 after %s", (name) => isRed("npm", "core", ofFile[name]!))
})
