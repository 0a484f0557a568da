import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { assert, describe, it, onTestFinished } from "vitest"
import * as Program from "../src/Program.ts"

const root = fileURLToPath(new URL("../../../", import.meta.url))

/** Runs a file of tests in a project with the reporter of this repository. */
const run = async (file: string, ...args: ReadonlyArray<string>) => {
  // where the packages of this repository are found
  const folder = mkdtempSync(join(root, "node_modules/.left-out-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, "vitest.config.ts"),
    `import { leftOut } from ${JSON.stringify(join(root, "vitest.leftOut.ts"))}
export default {
  plugins: [leftOut()],
  test: { projects: ["one", "other"].map((name) => ({ extends: true, root: import.meta.dirname, test: { name } })) }
}`
  )
  writeFileSync(
    join(folder, "some.test.ts"),
    `import { beforeAll, describe, it } from "vitest"
import * as Program from ${JSON.stringify(join(root, "packages/testbed/src/Program.ts"))}
const needed = Program.needed({ programs: ["sh", "no-such-program"], untested: "what it does", install: "make it" })
${file}`
  )
  const { code, stderr } = await promisify(execFile)(
    process.execPath,
    [join(root, "node_modules/vitest/vitest.mjs"), "run", "--root", folder, "--no-color", ...args],
    { cwd: folder, env: { ...process.env, NO_COLOR: "1" } }
  ).then(({ stderr }) => ({ code: 0, stderr }), ({ code, stderr }) => ({ code, stderr }))
  return { code: Number(code), stderr: String(stderr) }
}

const passing = "it('passes', () => {})\n"
const lacking = `describe("a suite", needed, () => { it("one", () => {}); it("two", () => {}) })
it("three", needed, () => {})\n`
const list = `
6 tests left out, because this machine lacks the programs:

    6  what it does: no no-such-program here (make it)
`

describe("a run that lacks a program", () => {
  it("a run passes and lists at its end how many tests it left out and why, with other reporters too", async () => {
    const reporters = ["--reporter=default", "--reporter=json", "--outputFile.json=report.json"]
    const { code, stderr } = await run(passing + lacking, ...reporters)
    assert.strictEqual(code, 0)
    assert.include(stderr, list)
    assert.lengthOf(stderr.match(/left out/g)!, 1)
  })

  it("a run lists only the tests that the command line asks for", async () => {
    const { code, stderr } = await run(passing + lacking, "--testNamePattern=a suite one")
    assert.strictEqual(code, 0)
    assert.include(stderr, "    2  what it does: no no-such-program here (make it)\n")
  })

  it("a run that skips tests without a reason fails and names them", async () => {
    const skipped = `it.skip("one", () => {})
it.skipIf(true)("another", () => {})
it.todo("a third")
it("a fourth", ({ skip }) => skip())
`
    const { code, stderr } = await run(passing + lacking + skipped)
    assert.strictEqual(code, 1)
    assert.include(stderr, list)
    const names = ["one", "another", "a third", "a fourth"].map((name) => `  some.test.ts: ${name}\n`).join("")
    assert.include(stderr, `\n\n${names}${names}`)
    assert.match(stderr, /^8 tests skipped without a reason, which fails the run\./m)
  })

  it("a run whose set-up fails does not fail for the tests that this skips", async () => {
    const { code, stderr } = await run(
      `${passing}describe("a suite", () => { beforeAll(() => { throw new Error("no") }); it("left", () => {}) })`
    )
    assert.strictEqual(code, 1)
    assert.notInclude(stderr, "skipped without a reason")
  })
})

describe("Program.needed", () => {
  it("the options are empty if the program exists and the command succeeds", () => {
    assert.deepStrictEqual(
      Program.needed({
        programs: ["sh", [process.execPath, "--eval", ""]],
        untested: "what it does",
        install: "make it"
      }),
      {}
    )
  })

  it("a program whose command fails is missing", () => {
    const { meta } = Program.needed({
      programs: [[process.execPath, "--eval", "process.exit(1)"]],
      untested: "what it does",
      install: "make it"
    })
    assert.deepStrictEqual(meta?.leftOut.missing, [process.execPath])
  })
})
