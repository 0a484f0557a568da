/**
 * The code of the receiving guide, run as a receiver runs it.
 */
import express from "express"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import { stripTypeScriptTypes } from "node:module"
import type { AddressInfo } from "node:net"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { webhook } from "../src/Express.ts"
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
})
