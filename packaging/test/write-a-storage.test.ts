/**
 * The guide *Write a storage*, as its reader follows it: in a project of its own, from the packages as they are
 * published.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { root } from "../Published.ts"
import { installDeclared } from "./Packages.ts"

const guide = readFileSync(join(root, "docs/guides/write-a-storage.md"), "utf8")

const files = [...guide.matchAll(/^```ts file=(\S+)\n(.*?)^```$/gms)].map(([, name, code]) => [name!, code!] as const)

/** What the page has its reader install, by `npm install` and by `npm install --save-dev`. */
const installed = (isDev: boolean) =>
  [...guide.matchAll(/^npm install( --save-dev)? (.+)$/gm)]
    .filter(([, dev]) => (dev !== undefined) === isDev)
    .flatMap(([, , names]) => names!.split(" "))
    .map((name) => [name.replace(/(?<=.)@.*$/, ""), "*"])

let project: string

const write = (changed: (code: string) => string = (code) => code) => {
  for (const [name, code] of files) writeFileSync(join(project, name), changed(code))
}

/** What the page has its reader run, by `npx vitest`. */
const commands = [...guide.matchAll(/^npx vitest (.+)$/gm)].map(([, words]) =>
  [...words!.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare!)
)

/** Runs Vitest; its exit code, and what it has to say. */
const vitest = (...args: ReadonlyArray<string>): Promise<{ readonly code: number; readonly output: string }> =>
  promisify(execFile)(process.execPath, [join(project, "node_modules/vitest/vitest.mjs"), ...args], {
    cwd: project,
    env: { ...process.env, NO_COLOR: "1" }
  }).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    ({ code, stderr, stdout }) => ({ code, output: `${stdout}${stderr}` })
  )

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "wac-storage-"))
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({
      type: "module",
      dependencies: Object.fromEntries(installed(false)),
      devDependencies: Object.fromEntries(installed(true))
    })
  )
  installDeclared(inject("packed"), project)
})
afterAll(() => rmSync(project, { recursive: true }))

describe("the guide Write a storage", () => {
  it("the guide's storage of one port passes that port's suite", async () => {
    write()
    const { code, output } = await vitest("run", "limits.test.ts")
    assert.strictEqual(code, 0, output)
    assert.isAtLeast(Number(/Tests +(\d+) passed/.exec(output)?.[1]), 8, output)
  })

  it("the guide's whole storage passes every suite", async () => {
    write()
    const { code, output } = await vitest("run", "storage.test.ts")
    assert.strictEqual(code, 0, output)
    assert.isAbove(Number(/Tests +(\d+) passed/.exec(output)?.[1]), 400, output)
  })

  it("the guide's commands run tests, which pass", async () => {
    write()
    for (const command of commands) {
      const { code, output } = await vitest(...command)
      assert.strictEqual(code, 0, output)
      assert.match(output, /Tests +\d+ passed/)
    }
    assert.lengthOf(commands, 2)
  })

  it("the test that the guide names fails once a method is broken as the guide says", async () => {
    const [, from, to, title] = /change `(.+?)` above to `(.+?)`, and "(.+?)" fails/.exec(guide)!
    write((code) => code.replace(from!, to!))
    const { code, output } = await vitest("run", "limits.test.ts")
    assert.strictEqual(code, 1, output)
    assert.match(output, new RegExp(`FAIL .*${title}`))
  })
})
