/**
 * The packed façade, which has a copy of Effect in it, beside a host's own Effect and our packages that use that one.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, inject, it } from "vitest"
import { install } from "./Packages.ts"

let project: string

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "wac-beside-"))
  install(inject("packed"), project, ["wac", "@wac/effect"], true)
  writeFileSync(join(project, "package.json"), "{\"type\":\"module\"}")
})
afterAll(() => rmSync(project, { recursive: true }))

const runHost = async (program: string): Promise<ReadonlyArray<string>> => {
  const file = join(project, "host.js")
  writeFileSync(file, program)
  const { stdout } = await promisify(execFile)(process.execPath, [file], { cwd: project })
  return stdout.trimEnd().split("\n")
}

const hello = `const message = {
  to: "+15551234567",
  type: "template",
  template: { name: "hello_world", language: "en_US" }
}
`

it("a host that runs in its own Effect sends through wac, listens, moves wac's clock, and is shown wac's errors by their class", async () => {
  const lines = await runHost(`
import { inspect } from "node:util"
import { Effect } from "effect"
import { createWac, defineProvider, fakeClock, memory } from "wac"

const provider = defineProvider({
  phoneNumber: "+15550100001",
  capabilities: {},
  // as in a host whose clients of others are Effects
  send: ({ messageId }) =>
    Effect.runPromise(Effect.as(Effect.sleep("1 millis"), { status: "accepted", providerMessageId: messageId }))
})

const clock = fakeClock()
const program = Effect.acquireUseRelease(
  Effect.promise(() => createWac({ storage: memory(), provider, clock })),
  (wac) =>
    Effect.promise(async () => {
      const types = []
      wac.on("message.sent", ({ type }) => types.push(type))
      const message = { to: "+15551234567", type: "text", text: { body: "Hello" } }
      await wac.messages.enqueue(message, { idempotencyKey: "1" })
      await clock.advance("1 minute")
      const error = await wac.messages.send({}, { idempotencyKey: "2" }).catch((error) => error)
      return types.join() + "\\n" + inspect(error).split(":")[0]
    }),
  (wac) => Effect.promise(() => wac.close())
)
console.log(await Effect.runPromise(program))`)
  assert.deepStrictEqual(lines, ["message.sent", "WacError"])
})

it("a Layer is taken by the createWac of @wac/effect/promises, and refused by that of wac with a sentence that names it", async () => {
  const lines = await runHost(`${hello}
import { MemoryStorage } from "@wac/memory"
import { Adapter } from "@wac/effect"
import * as promises from "@wac/effect/promises"
import * as wac from "wac"

for (const { createWac, sandbox } of [promises, wac]) {
  const options = { storage: Adapter.storage(MemoryStorage.layer), provider: sandbox() }
  const sent = await createWac(options).then(async (instance) => {
    const { status } = await instance.messages.send(message, { idempotencyKey: "1" })
    await instance.close()
    return status
  }, (error) => error.message)
  console.log(sent)
}
console.log(String(Object.keys(promises).sort()) === String(Object.keys(wac).sort()))`)
  assert.deepStrictEqual(lines, [
    "sent",
    "storage.layer needs Adapter.storage of @wac/effect, and createWac of @wac/effect/promises",
    "true"
  ])
})

it("a provider of wac's defineProvider is a Layer by Adapter of @wac/effect, for the conformance suite", async () => {
  const lines = await runHost(`
import { Provider } from "@wac/core"
import { Adapter } from "@wac/effect"
import { Effect } from "effect"
import { defineProvider } from "wac"

const provider = defineProvider({
  phoneNumber: "+15550100001",
  capabilities: {},
  send: async ({ messageId }) => ({ status: "accepted", providerMessageId: messageId })
})
const name = Effect.map(Provider.Provider, ({ name }) => name)
console.log(await Effect.runPromise(Effect.provide(name, Adapter.layerOf(provider))))`)
  assert.deepStrictEqual(lines, ["custom"])
})
