import { assert, describe, it } from "@effect/vitest"
import * as McpMessage from "../../src/mcp/McpMessage.ts"

const tagOf = (json: unknown) => McpMessage.read(json)._tag

describe("a message of the protocol", () => {
  it("a message with a method and an id is a request, and its parameters may be omitted", () => {
    assert.deepStrictEqual(McpMessage.read({ jsonrpc: "2.0", id: 0, method: "ping" }), {
      _tag: "Request",
      id: 0,
      method: "ping",
      params: {}
    })
    assert.deepInclude(McpMessage.read({ jsonrpc: "2.0", id: "a", method: "x", params: { y: 1 } }), {
      params: { y: 1 }
    })
  })

  it("a notification and a response get no response", () => {
    assert.strictEqual(tagOf({ jsonrpc: "2.0", method: "notifications/initialized" }), "Silent")
    assert.strictEqual(tagOf({ jsonrpc: "2.0", id: 1, result: {} }), "Silent")
    assert.strictEqual(tagOf({ jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } }), "Silent")
  })

  it.each([
    null,
    1,
    "ping",
    [],
    [{ jsonrpc: "2.0", id: 1, method: "ping" }],
    {},
    { jsonrpc: "1.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", id: 1 },
    { jsonrpc: "2.0", id: null, method: "ping" },
    { jsonrpc: "2.0", id: {}, method: "ping" },
    { jsonrpc: "2.0", id: 1, method: "ping", params: [] },
    { jsonrpc: "2.0", id: 1, method: 1 }
  ])("%j is invalid", (json) => {
    assert.strictEqual(tagOf(json), "Invalid")
  })

  it("a client gets the version that it asks for if the server speaks it, and the newest otherwise", () => {
    for (const version of McpMessage.versions) assert.strictEqual(McpMessage.versionFor(version), version)
    for (const other of ["2024-11-05", undefined, 1]) {
      assert.strictEqual(McpMessage.versionFor(other), McpMessage.versions[0])
    }
  })
})
