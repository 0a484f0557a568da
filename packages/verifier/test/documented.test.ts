/**
 * The code of the receiving guide, run as a receiver runs it, and the README's list of events.
 */
import express from "express"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { stripTypeScriptTypes } from "node:module"
import type { AddressInfo } from "node:net"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { webhook } from "../src/Express.ts"
import { exampleEvents } from "../src/generated/ExampleEvents.ts"
import type { WebhookEvent } from "../src/index.ts"
import { exampleEvent } from "../src/Testing.ts"
import { delivery, secret } from "./delivery.ts"

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8")

/** The first block of code of the guide that contains these words, without its imports. */
const codeWith = (words: string): string => {
  const blocks = [...read("docs/guides/receiving.md").matchAll(/^```(?:js|ts)[^\n]*\n(.*?)^```$/gms)]
  const code = blocks.map(([, code]) => code!).find((code) => code.includes(words))
  assert.isDefined(code, words)
  return stripTypeScriptTypes(code!.replaceAll(/^import .*$/gm, ""))
}

describe("the receiving guide", () => {
  it("the receiver works on an event whose work failed when the event comes again, and then never again", async () => {
    vi.spyOn(console, "error").mockReturnValue()
    let tries = 0
    const work = () => {
      if (++tries === 1) throw new Error("the database is away")
    }
    let app: express.Express | undefined
    const made = () => {
      app = express()
      app.listen = (() => undefined) as never
      return app
    }
    const run = new Function("webhook", "express", "process", "console", codeWith("app.listen(3000)"))
    run(webhook, made, { env: { WEBHOOK_SECRET: secret } }, { log: work })
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`
    const post = await delivery()
    const statuses: Array<number> = []
    for (let i = 0; i < 3; i++) statuses.push((await fetch(url, { method: "POST", ...post })).status)
    assert.deepStrictEqual([statuses, tries], [[500, 200, 200], 2])
  })

  /** Starts the recipe for failures. Returns its handler and the messages with a fallback. */
  const recipe = (fails = 0) => {
    const fallbacks = new Set<string>()
    const code = codeWith("cancelFallback")
    const given = { left: fails }
    const start = new Function(
      "fallBack",
      "cancelFallback",
      `const newest = new Map(); return async (event) => { ${code} }`
    )
    const handle: (event: WebhookEvent) => Promise<void> = start(
      async (id: string) => {
        if (given.left-- > 0) throw new Error("the other channel is away")
        fallbacks.add(id)
      },
      async (id: string) => void fallbacks.delete(id)
    )
    return { handle, fallbacks }
  }

  const failed = exampleEvent("message.failed", { data: { message_id: "msg_1", sequence: 2 } })
  const corrected = exampleEvent("message.delivered", {
    data: { message_id: "msg_1", sequence: 3, corrects: "failed" }
  })
  const later = exampleEvent("message.read", { data: { message_id: "msg_1", sequence: 4 } })

  it.each([
    ["in order", [failed, corrected], []],
    ["replayed, the correction first", [corrected, failed], []],
    ["replayed after both", [failed, corrected, failed], []],
    ["replayed, the correction last", [failed, later, corrected], []],
    ["without a correction", [failed], ["msg_1"]]
  ])("the recipe leaves a fallback only for a message that failed: %s", async (_, events, expected) => {
    const { fallbacks, handle } = recipe()
    for (const event of events) await handle(event)
    assert.deepStrictEqual([...fallbacks], expected)
  })

  it("the recipe tries a fallback that failed again when the event comes again", async () => {
    const { fallbacks, handle } = recipe(1)
    const refused = await handle(failed).then(() => false, () => true)
    await handle(failed)
    assert.deepStrictEqual([refused, ...fallbacks], [true, "msg_1"])
  })
})

it("the README names every type of event", () => {
  const [, section] = read("packages/verifier/README.md").split("\n## Events\n")
  const [, list] = /^`event` is a union over `event\.type`: (.*?)\. A comparison/m.exec(section!)!
  assert.deepStrictEqual(list!.split(", "), Object.keys(exampleEvents).map((type) => `\`${type}\``))
})
