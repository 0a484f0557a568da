/**
 * `wac` in Jest as Jest is by default, with CommonJS, and with the one setting that the embedding guide names.
 */
import * as Extent from "@wac/testbed/Extent"
import { transformSync } from "esbuild"
import { execFile } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, inject, it, onTestFinished } from "vitest"
import { root } from "../Published.ts"
import { install } from "./Packages.ts"

const guide = readFileSync(join(root, "docs/guides/embedding.md"), "utf8")

/** What the guide has a reader export. */
const setting = /^export NODE_OPTIONS=(\S+)$/m.exec(guide)?.[1]

const require = createRequire(import.meta.url)

const jest = require.resolve("jest/bin/jest")

const body = `
test("a customer's answer opens the window, and a day later it has closed", async () => {
  const clock = fakeClock()
  const wac = await createWac({ storage: memory(), provider: sandbox(), clock })
  const heard = []
  wac.on("message.read", ({ id }) => heard.push(id))
  const hello = { to: "+15005550008", type: "template", template: { name: "hello_world", language: "en_US" } }
  await wac.messages.send(hello, { idempotencyKey: "1" })
  await clock.advance("1 minute")
  expect(heard).toHaveLength(1)
  const text = { to: "+15005550008", type: "text", text: { body: "Hi" } }
  await wac.messages.send(text, { idempotencyKey: "2" })
  await clock.advance("25 hours")
  const late = wac.messages.send({ ...text, text: { body: "Still there?" } }, { idempotencyKey: "3" })
  await expect(late).rejects.toBeInstanceOf(WacError)
  await expect(late).rejects.toMatchObject({ reason: "outside_service_window" })
  await wac.close()
})
`

const loading = {
  // as ts-jest and Babel compile what most projects write
  "compiled.test.js": transformSync(
    `import { createWac, fakeClock, memory, sandbox, WacError } from "wac"\n${body}`,
    { format: "cjs" }
  ).code,
  "dynamic.test.js": `let createWac, fakeClock, memory, sandbox, WacError
beforeAll(async () => {
  ({ createWac, fakeClock, memory, sandbox, WacError } = await import("wac"))
})
${body}`,
  "required.test.js": `const { createWac, fakeClock, memory, sandbox, WacError } = require("wac")\n${body}`,
  "module.test.mjs": `import { createWac, fakeClock, memory, sandbox, WacError } from "wac"\n${body}`
}

/** Each is as slow to load as the others. */
const written = Object.entries(loading).slice(0, Extent.of(2, 4))

it("a test in Jest requires or imports wac, with the setting that the guide names", async () => {
  assert.isDefined(setting)
  const project = mkdtempSync(join(tmpdir(), "wac-jest-"))
  onTestFinished(() => rmSync(project, { recursive: true }))
  install(inject("packed"), project, ["wac"])
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, jest: { testTimeout: 60_000 } }))
  for (const [name, source] of written) writeFileSync(join(project, name), source)
  const args = [jest, "--rootDir", project, "--runInBand", "--testMatch", "**/*.test.*js"]
  const { stderr } = await promisify(execFile)(process.execPath, args, {
    cwd: project,
    env: { PATH: process.env["PATH"], NODE_OPTIONS: setting!, CI: "true" }
  }).catch((error: { readonly stderr: string }) => assert.fail(error.stderr))
  assert.include(stderr, `Tests:       ${written.length} passed, ${written.length} total`)
})
