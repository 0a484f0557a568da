/**
 * The same tools over standard input and output: `wac mcp` as a process, started by the protocol's own client.
 */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { Effect, type Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as checks from "../checks.ts"
import * as commandLine from "../commandLine.ts"
import { call, createKey, hello, ready } from "../harness.ts"
import * as programs from "../programs.ts"

/** An agent whose tools are a process, and what the process wrote beside the protocol. */
const connected = (variables: Record<string, string>): Effect.Effect<
  { readonly client: Client; readonly stderr: () => string },
  never,
  Scope.Scope
> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: [await programs.path("wac"), "mcp"],
        env: variables,
        stderr: "pipe"
      })
      let stderr = ""
      transport.stderr!.on("data", (chunk: Buffer) => stderr += chunk.toString())
      const client = new Client({ name: "agent", version: "1" })
      await client.connect(transport)
      return { client, stderr: () => stderr }
    }),
    ({ client }) => Effect.promise(() => client.close())
  )

const template = { intent: "order-1042-shipped", message: hello() }

const sending = (client: Client) =>
  Effect.promise(async () => {
    const result = await client.callTool({ name: "send_template", arguments: template })
    return { isError: result.isError === true, said: result.structuredContent as ReturnType<typeof JSON.parse> }
  })

describe.concurrent("tools over standard input and output", () => {
  it.live("an agent has the tools of its key, and a repeated send in another process sends nothing", () =>
    Effect.gen(function*() {
      const server = yield* ready({ environment: checks.unlimited })
      const variables = { WAC_URL: `${server.url}/v1`, WAC_API_KEY: server.key.apiKey }
      const [one, other] = yield* Effect.all([connected(variables), connected(variables)], { concurrency: 2 })
      const { tools } = yield* Effect.promise(() => one.client.listTools())
      assert.lengthOf(tools, 8)
      const sends = yield* Effect.all(
        Array.from({ length: 20 }, (_, i) => sending(i % 2 === 0 ? one.client : other.client)),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(sends.filter(({ said }) => !said.already_sent), 1)
      assert.strictEqual(new Set(sends.map(({ said }) => said.message_id)).size, 1)
      assert.strictEqual(one.stderr() + other.stderr(), "")
    }))

  it.live("the key may be in a file; once it is revoked, a call is an error that the model reads", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const { apiKey, id } = yield* createKey(server.url, server.session)
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "wac-mcp-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
      )
      const file = join(directory, "key")
      writeFileSync(file, `${apiKey}\n`)
      const agent = yield* connected({ WAC_URL: `${server.url}/v1`, WAC_API_KEY_FILE: file })
      assert.isFalse((yield* sending(agent.client)).isError)
      yield* call(`${server.url}/internal/api-keys/${id}`, { method: "DELETE", headers: server.session })
      const { isError, said } = yield* sending(agent.client)
      assert.isTrue(isError)
      assert.deepInclude(said.error, { code: "unauthorized", reason: "revoked_key" })
      assert.notInclude(JSON.stringify(said) + agent.stderr(), apiKey)
    }))

  it.live("a line that is neither a request, a notification nor a response is answered by an error", () =>
    Effect.gen(function*() {
      const { key, url } = yield* ready()
      const ping = { jsonrpc: "2.0", id: 7, method: "ping" }
      const wrong = [[ping, { ...ping, id: 8 }], [], 7, null, { jsonrpc: "2.0", id: "9" }, { jsonrpc: "2.0" }]
      const unanswered = [{ jsonrpc: "2.0", method: "notifications/initialized" }, {
        ...ping,
        method: undefined,
        result: 1
      }]
      const input = [...wrong, ...unanswered].map((message) => JSON.stringify(message)).join("\n")
      const { stdout } = yield* commandLine.wac({ WAC_URL: `${url}/v1`, WAC_API_KEY: key.apiKey })("mcp", { input })
      const answers = stdout.split("\n").map((line) => JSON.parse(line))
      assert.deepStrictEqual(answers.map(({ error }) => error.code), wrong.map(() => -32600))
      assert.sameMembers(answers.map(({ id }) => id), [null, null, null, null, "9", null])
      const lost = commandLine.wac({ WAC_URL: "http://127.0.0.1:9/v1", WAC_API_KEY: key.apiKey })
      const { stdout: refused } = yield* lost("mcp", { input })
      assert.lengthOf(refused.split("\n"), wrong.length)
    }))

  it.live("without a server, a call is an error that says to repeat it, whatever variables other programs have", () =>
    Effect.gen(function*() {
      const wac = commandLine.wac({
        WAC_URL: "http://127.0.0.1:9/v1",
        WAC_API_KEY: "wac_live_x",
        // of a desk on which other programs are developed
        DATABASE_URI: "mysql://127.0.0.1/other",
        RATE_LIMIT_STORE: "redis://127.0.0.1"
      })
      const params = { name: "send_template", arguments: template }
      const input = [
        JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params }),
        JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }),
        "{"
      ].join("\n")
      const { code, stdout } = yield* wac("mcp", { input })
      assert.strictEqual(code, 0)
      const lines = stdout.split("\n").map((line) => JSON.parse(line))
      const called = lines.find(({ id }) => id === 7)
      assert.isTrue(called.result.isError)
      assert.include(called.result.structuredContent.error.what_to_do, "Repeat the call exactly")
      assert.deepStrictEqual(lines.filter(({ id }) => id !== 7).map(({ error }) => error.code), [-32700])
    }))

  it.live("an address that is not the API's, and a missing key, end it with one line that names the variable", () =>
    Effect.gen(function*() {
      const wac = commandLine.wac({})
      const bad = [{}, { WAC_URL: "http://127.0.0.1:9" }, { WAC_URL: "ftp://127.0.0.1/v1" }]
      for (const env of bad) assert.match(`${(yield* wac("mcp", { env })).code}`, /^WAC_URL: expected /)
      const env = { WAC_URL: "http://127.0.0.1:9/v1" }
      assert.match(`${(yield* wac("mcp", { env })).code}`, /^WAC_API_KEY: expected /)
      const misspelled = { ...env, WAC_APIKEY: "wac_live_x" }
      assert.match(`${(yield* wac("mcp", { env: misspelled })).code}`, /^WAC_APIKEY: expected the name WAC_API_KEY,/)
      const secret = "not a key"
      const { code } = yield* wac("mcp", { env: { ...env, WAC_API_KEY: secret } })
      assert.notInclude(`${code}`, secret)
    }))
})
