import { createServer } from "node:http"
import { assert, describe, it } from "vitest"
import { hold } from "../../src/connections/EarlyRequests.ts"

describe("requests before there is a handler", () => {
  it("early requests go to the first handler once, in order, and later requests to every handler", async () => {
    const server = hold(createServer())
    const seen: Array<string> = []
    const come = (name: string) => server.emit("request", name, name)
    come("a")
    come("b")
    server.on("request", (request) => seen.push(`${request} to the first`))
    await Promise.resolve()
    server.on("request", (request) => seen.push(`${request} to the second`))
    await Promise.resolve()
    come("c")
    assert.deepEqual(seen, ["a to the first", "b to the first", "c to the first", "c to the second"])
    assert.strictEqual(server.listenerCount("request"), 2)
  })
})
