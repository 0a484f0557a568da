/**
 * Jest as it is by default, with CommonJS: the client and the verifier as they are, `wac` with the one setting that the
 * embedding guide names.
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

/** Runs test files in a project in which these packages are installed; what Jest reports. */
const runJest = async (
  installed: ReadonlyArray<string>,
  files: ReadonlyArray<readonly [name: string, source: string]>,
  env: Readonly<Record<string, string>> = {}
): Promise<string> => {
  const project = mkdtempSync(join(tmpdir(), "wac-jest-"))
  onTestFinished(() => rmSync(project, { recursive: true }))
  install(inject("packed"), project, installed)
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, jest: { testTimeout: 60_000 } }))
  for (const [name, source] of files) writeFileSync(join(project, name), source)
  const args = [jest, "--rootDir", project, "--runInBand", "--testMatch", "**/*.test.*js"]
  const { stderr } = await promisify(execFile)(process.execPath, args, {
    cwd: project,
    env: { PATH: process.env["PATH"], CI: "true", ...env }
  }).catch((error: { readonly stderr: string }) => assert.fail(error.stderr))
  return stderr
}

it("a test in Jest requires or imports wac, with the setting that the guide names", async () => {
  assert.isDefined(setting)
  const report = await runJest(["wac"], written, { NODE_OPTIONS: setting! })
  assert.include(report, `Tests:       ${written.length} passed, ${written.length} total`)
})

it("a test in Jest requires the client and the verifier without any setting", async () => {
  const source = `
const { createClient, WacError } = require("@wac/client")
const { createInternalClient } = require("@wac/client/internal")
const { sign, verify } = require("@wac/verifier")

test("the client calls, and rejects with its own error", async () => {
  const fetch = async () => Response.json({ error: { code: "not_found", message: "no", request_id: "req_1" } }, { status: 404 })
  const wac = createClient({ baseUrl: "https://wac.example.com/v1", apiKey: "wac_live_x", fetch })
  await expect(wac.messages.get("msg_1")).rejects.toBeInstanceOf(WacError)
  expect(createInternalClient({ baseUrl: "https://wac.example.com", fetch })).toHaveProperty("webhook")
})

test("the verifier takes what it signed", async () => {
  const header = await sign("{}", "whsec_c2VjcmV0")
  expect(await verify("{}", header, "whsec_c2VjcmV0")).toMatchObject({ ok: true })
})
`
  const environment = "/** @jest-environment node */\n"
  const report = await runJest(["@wac/client", "@wac/verifier"], [["required.test.js", environment + source]])
  assert.include(report, "Tests:       2 passed, 2 total")
})
