/**
 * The tools for AI agents at `/mcp`, used by the protocol's own client over real HTTP.
 */
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ApiScope } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { Effect, type Scope } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as checks from "../checks.ts"
import { call, createKey, hello, ready, send, start } from "../harness.ts"
import { logged } from "../logged.ts"

/** How often an agent makes one call. */
const calls = Extent.of(200, 1000)

/** A connected client, which ends with the scope. */
const connected = (url: string, apiKey: string): Effect.Effect<Client, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const client = new Client({ name: "agent", version: "1" })
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
          requestInit: { headers: { authorization: `Bearer ${apiKey}` } }
        }) as never
      )
      return client
    }),
    (client) => Effect.promise(() => client.close())
  )

interface Answered {
  readonly isError: boolean
  // what a model reads
  readonly said: ReturnType<typeof JSON.parse>
}

const use = (client: Client, name: string, args: Record<string, unknown> = {}): Effect.Effect<Answered> =>
  Effect.promise(async () => {
    const result = await client.callTool({ name, arguments: args })
    const [{ text }] = result.content as [{ text: string }]
    assert.deepStrictEqual(JSON.parse(text), result.structuredContent)
    return { isError: result.isError === true, said: result.structuredContent }
  })

const toolsOf = (client: Client) =>
  Effect.promise(async () => (await client.listTools()).tools.map(({ name }) => name).sort())

const template = { intent: "order-1042-shipped", message: hello() }

const messagesOf = Effect.fnUntraced(function*({ key, url }: Pick<checks.Ready, "key" | "url">) {
  const { body } = yield* call(`${url}/v1/messages?limit=100`, { headers: { authorization: `Bearer ${key.apiKey}` } })
  return body.data as ReadonlyArray<{ readonly message_id: string }>
})

/** A raw request of the protocol. */
const post = (
  { key, url }: Pick<checks.Ready, "key" | "url">,
  body: unknown,
  headers: Record<string, string> = {}
) => call(`${url}/mcp`, { headers: { authorization: `Bearer ${key.apiKey}`, ...headers }, body })

const listing = { jsonrpc: "2.0", id: 1, method: "tools/list" }

// alone: an embedded database that starts keeps the process from reading what others have sent
describe("an agent that repeats itself", () => {
  it.live(
    "many calls with one intent, concurrent and sequential, over new connections and a restart, send one message",
    () =>
      Effect.gen(function*() {
        const directory = yield* Effect.acquireRelease(
          Effect.sync(() => mkdtempSync(join(tmpdir(), "wac-mcp-"))),
          (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
        )
        const environment = { DATABASE_URL: `pglite:${directory}/data`, ...checks.unlimited }
        const ids = new Set<string>()
        const fresh: Array<boolean> = []
        const agents = (url: string, apiKey: string, each: number) =>
          Effect.forEach(
            Array.from({ length: 5 }),
            () =>
              Effect.scoped(Effect.gen(function*() {
                const agent = yield* connected(url, apiKey)
                const one = Effect.map(use(agent, "send_template", template), ({ isError, said }) => {
                  assert.isFalse(isError, JSON.stringify(said))
                  ids.add(said.message_id)
                  fresh.push(!said.already_sent)
                })
                // half at once, half one after the other
                yield* Effect.all(Array.from({ length: each / 2 }, () => one), { concurrency: "unbounded" })
                yield* Effect.all(Array.from({ length: each / 2 }, () => one))
              })),
            { concurrency: "unbounded" }
          )
        const { key } = yield* Effect.scoped(Effect.gen(function*() {
          const server = yield* ready({ environment })
          yield* agents(server.url, server.key.apiKey, calls / 10)
          return server
        }))
        const { url } = yield* start({ environment })
        yield* agents(url, key.apiKey, calls / 10)
        assert.strictEqual(ids.size, 1)
        assert.lengthOf(fresh, calls)
        assert.lengthOf(fresh.filter((isFresh) => isFresh), 1)
        assert.lengthOf(yield* messagesOf({ key, url }), 1)
      })
  )
})

describe.concurrent("tools for AI agents", () => {
  it.live("an agent sends a template once and follows it, and opts the customer out", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const agent = yield* connected(server.url, server.key.apiKey)
      assert.include(agent.getInstructions(), "real person")
      const templates = yield* use(agent, "list_templates", { name: "hello_world" })
      assert.deepStrictEqual(templates.said.data.map(({ name }: { name: string }) => name), ["hello_world"])
      const first = yield* use(agent, "send_template", template)
      assert.deepInclude(first.said, { status: "sent", already_sent: false })
      assert.isFalse(first.isError)
      const again = yield* use(agent, "send_template", template)
      assert.deepStrictEqual(again.said, { ...first.said, already_sent: true })
      const { said } = yield* use(agent, "get_message", { id: first.said.message_id })
      assert.deepInclude(said, { direction: "outbound", to: "+15551234567" })
      const conversation = yield* use(agent, "read_conversation", { contact: "+15551234567" })
      assert.lengthOf(conversation.said.data, 1)
      const sends = yield* use(agent, "list_messages", { to: "+15551234567", limit: 1 })
      assert.strictEqual(sends.said.data[0].message_id, first.said.message_id)
      const events = yield* use(agent, "list_events", { type: "message.sent" })
      assert.strictEqual(events.said.data[0].data.message_id, first.said.message_id)
      const optOut = yield* use(agent, "opt_out_contact", { name: "+15551234567" })
      assert.deepInclude(optOut.said, { opted_out: true, source: "api" })
    }))

  it.live("a changed content under the same intent is refused and says what to do; another intent sends the same again", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const agent = yield* connected(server.url, server.key.apiKey)
      yield* use(agent, "send_template", template)
      const changed = yield* use(agent, "send_template", {
        intent: "Order 1042 shipped!",
        message: { ...hello(), client_reference: "other" }
      })
      assert.isTrue(changed.isError)
      assert.deepInclude(changed.said.error, { code: "idempotency_conflict", reason: "payload_mismatch" })
      assert.include(changed.said.error.what_to_do, "Nothing was sent now")
      assert.include(changed.said.error.what_to_do, "use a new intent")
      assert.lengthOf(yield* messagesOf(server), 1)
      const again = yield* use(agent, "send_template", { ...template, intent: "order-1042-shipped-2" })
      assert.isFalse(again.said.already_sent)
      const other = yield* use(agent, "send_template", { ...template, message: hello("+15551234568") })
      assert.isFalse(other.said.already_sent)
      assert.lengthOf(yield* messagesOf(server), 3)
    }))

  it.live("an error of the API is a result with its code, reason, message and remedy", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const agent = yield* connected(server.url, server.key.apiKey)
      const errorOf = (name: string, args: Record<string, unknown>) =>
        Effect.map(use(agent, name, args), ({ isError, said }) => {
          assert.isTrue(isError)
          assert.match(said.error.request_id, checks.idShape("req"))
          assert.isNotEmpty(said.error.message)
          assert.isNotEmpty(said.error.what_to_do)
          const { code, param, reason } = said.error
          return [code, reason, param]
        })
      const text = { to: "+15551234567", type: "text", text: { body: "Hi" } }
      assert.deepStrictEqual(yield* errorOf("send_message", { intent: "a", message: text }), [
        "forbidden",
        "outside_service_window",
        "type"
      ])
      assert.deepStrictEqual(yield* errorOf("send_message", { message: text }), [
        "invalid_body",
        "missing_field",
        "intent"
      ])
      assert.deepStrictEqual(
        yield* errorOf("send_message", { intent: "a", message: { ...text, text: { body: "" } } }),
        ["invalid_body", "invalid_field", "text.body"]
      )
      assert.deepStrictEqual(yield* errorOf("get_message", { id: "msg_1" }), ["not_found", undefined, undefined])
      assert.deepStrictEqual(yield* errorOf("list_events", { from: "x" }), ["invalid_body", "unknown_field", "from"])
      // dots in an id are no way to another endpoint
      const unknown = yield* use(agent, "get_message", { id: "msg_1" })
      for (const id of [".", "..", "%2e%2e", "../events"]) {
        const { said } = yield* use(agent, "get_message", { id })
        assert.strictEqual(said.error.message, unknown.said.error.message, id)
      }
      assert.deepStrictEqual(yield* messagesOf(server), [])
    }))

  it.live("free JSON that no storage holds, or that is too deep, is an error that names its field, and hurts no other call", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const data = "template.buttons[0].flowData"
      const json = { "content-type": "application/json" }
      const calling = (data: string) =>
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"send_template","arguments":{"intent":"a",` +
        `"message":{"to":"+15551234567","type":"template","template":{"name":"hello_world","language":"en_US",` +
        `"buttons":[{"index":0,"flowToken":"t","flowData":${data}}]}}}}}`
      const nested = (levels: number) => `${"{\"a\":".repeat(levels)}1${"}".repeat(levels)}`
      for (
        const [given, field] of [
          [nested(33), data],
          ["{\"b\":\"\\u0000\"}", `${data}.b`],
          ["{\"b\":[\"\\ud800\"]}", `${data}.b[0]`],
          ["{\"b\\u0000\":1}", data],
          ["{\"b\":{\"\\udfff\":1}}", `${data}.b`]
        ] as const
      ) {
        const { body, status } = yield* post(server, calling(given), json)
        assert.strictEqual(status, 200)
        assert.isTrue(body.result.isError, given)
        const { error } = body.result.structuredContent
        assert.deepInclude(error, { code: "invalid_body", reason: "invalid_field" })
        assert.isTrue(error.param.startsWith(field), error.param)
      }
      // what is too deep for a body at all never comes to a tool
      const deep = yield* post(server, calling(nested(6000)), json)
      assert.strictEqual(deep.status, 400)
      assert.match(deep.body.error.param, /^params\.arguments\.message\.template\.buttons\[0\]\.flowData/)
      const twice = yield* post(server, calling("{\"b\":1,\"\\u0062\":2}"), json)
      checks.assertInvalid(twice, "invalid_field", `params.arguments.message.${data}.b`)
      assert.deepStrictEqual(yield* messagesOf(server), [])
      assert.strictEqual((yield* post(server, listing)).status, 200)
    }))

  it.live("a key has the tools that its scopes open, and no other tool does anything", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const sends = ["list_templates", "send_message", "send_template"]
      const reads = ["get_message", "list_events", "list_messages", "read_conversation"]
      const toolsWith = (body: Record<string, unknown>) =>
        Effect.flatMap(createKey(server.url, server.session, { name: "agent", ...body }), ({ apiKey }) =>
          Effect.scoped(Effect.flatMap(connected(server.url, apiKey), toolsOf)))
      assert.deepStrictEqual(yield* toolsWith({ scopes: ["messages:send"] }), sends)
      assert.deepStrictEqual(
        yield* toolsWith({ scopes: ["messages:send", "messages:read"] }),
        [...sends, ...reads].sort()
      )
      assert.deepStrictEqual(yield* toolsWith({ scopes: ApiScope.all }), [...sends, ...reads, "opt_out_contact"].sort())
      assert.deepStrictEqual(
        yield* toolsWith({ scopes: ApiScope.all, requireSignature: true }),
        [...reads, "list_templates"].sort()
      )
      const { apiKey } = yield* createKey(server.url, server.session, { name: "agent", scopes: ["messages:send"] })
      const agent = yield* connected(server.url, apiKey)
      const { isError, said } = yield* use(agent, "opt_out_contact", { name: "+15551234567" })
      assert.isTrue(isError)
      assert.deepInclude(said.error, { code: "forbidden", reason: "missing_scope" })
    }))

  it.live("a key that is bound to networks calls tools from these alone", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const bound = (allowedCidrs: ReadonlyArray<string>) =>
        createKey(server.url, server.session, { name: "agent", allowedCidrs })
      const agent = yield* connected(server.url, (yield* bound(["127.0.0.0/8", "::1/128"])).apiKey)
      assert.isFalse((yield* use(agent, "send_template", template)).isError)
      const refused = yield* post({ url: server.url, key: yield* bound(["192.0.2.0/24"]) }, listing)
      checks.assertError(refused, 401, { code: "unauthorized", reason: "invalid_key" })
    }))

  it.live("a revoked key is refused at the next call, and so is a request without a key", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const { apiKey, id } = yield* createKey(server.url, server.session)
      const agent = yield* connected(server.url, apiKey)
      yield* use(agent, "send_template", template)
      yield* call(`${server.url}/internal/api-keys/${id}`, { method: "DELETE", headers: server.session })
      const refused = yield* Effect.flip(
        Effect.tryPromise({ try: () => agent.callTool({ name: "send_template", arguments: template }), catch: String })
      )
      assert.include(refused, "revoked_key")
      const keyless = yield* call(`${server.url}/mcp`, { body: listing })
      checks.assertError(keyless, 401, { code: "unauthorized", reason: "missing_key" })
      assert.strictEqual(keyless.headers.get("www-authenticate"), "Bearer")
    }))

  it.live("requests to /mcp have the limits of the API, and pages of other sites cannot make them", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const tooLarge = yield* post(server, { ...listing, params: { filler: "x".repeat(65_536) } })
      checks.assertError(tooLarge, 413, { code: "invalid_body", reason: "too_large" })
      const noJson = yield* post(server, "{", { "content-type": "application/json" })
      checks.assertError(noJson, 400, { code: "invalid_body", reason: "malformed_json" })
      const typeless = yield* post(server, "{}", { "content-type": "text/plain" })
      checks.assertError(typeless, 415, {
        code: "invalid_body",
        reason: "unsupported_media_type",
        param: "Content-Type"
      })
      const twice = yield* post(
        server,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"tools/list\"}",
        {
          "content-type": "application/json"
        }
      )
      checks.assertError(twice, 400, { code: "invalid_body", reason: "invalid_field", param: "method" })
      const foreign = yield* post(server, listing, { origin: "https://evil.example" })
      checks.assertError(foreign, 403, { code: "forbidden", reason: "cross_site", param: "Origin" })
      assert.strictEqual((yield* post(server, listing, { origin: new URL(server.url).origin })).status, 200)
      const stream = yield* call(`${server.url}/mcp`, { headers: { authorization: `Bearer ${server.key.apiKey}` } })
      assert.strictEqual(stream.status, 405)
      assert.strictEqual(stream.headers.get("allow"), "POST")
    }))

  it.live("every request spends the workspace's rate limit, also those that no route of the API sees", () =>
    Effect.gen(function*() {
      const server = yield* ready({
        environment: { WAC_LIMITS: JSON.stringify({ workspaceTiers: { standard: 1 } }) }
      })
      const agent = yield* connected(server.url, server.key.apiKey)
      const answers = yield* Effect.all(
        Array.from({ length: 40 }, () => use(agent, "list_templates")),
        { concurrency: "unbounded" }
      )
      const refused = answers.filter(({ isError }) => isError)
      assert.isNotEmpty(refused)
      for (const { said } of refused) {
        assert.deepInclude(said.error, { code: "rate_limited", reason: "workspace" })
        assert.isAtLeast(said.error.retry_after_seconds, 1)
      }
      const others: ReadonlyArray<readonly [body: unknown, headers?: Record<string, string>]> = [
        [listing],
        [{ jsonrpc: "2.0", method: "notifications/initialized" }],
        [[listing]],
        [listing, { "mcp-protocol-version": "1999-01-01" }],
        ["{", { "content-type": "application/json" }]
      ]
      for (const [body, headers] of others) {
        const statuses = yield* Effect.all(
          Array.from({ length: 40 }, () => Effect.map(post(server, body, headers), ({ status }) => status)),
          { concurrency: "unbounded" }
        )
        assert.include(statuses, 429, JSON.stringify(body))
      }
    }))

  it.live("a message that is not a request of the protocol gets an error of the protocol", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const codeOf = (body: unknown, headers?: Record<string, string>) =>
        Effect.map(post(server, body, headers), ({ body, status }) => [status, body.error.code])
      assert.deepStrictEqual(yield* codeOf([listing]), [400, -32600])
      assert.deepStrictEqual(yield* codeOf({ id: 1, method: "ping" }), [400, -32600])
      assert.deepStrictEqual(yield* codeOf({ ...listing, params: [] }), [400, -32600])
      assert.deepStrictEqual(yield* codeOf({ ...listing, method: "resources/list" }), [200, -32601])
      assert.deepStrictEqual(yield* codeOf({ ...listing, method: "tools/call", params: { name: "x" } }), [200, -32602])
      const wrongly = { name: "list_events", arguments: [] }
      assert.deepStrictEqual(yield* codeOf({ ...listing, method: "tools/call", params: wrongly }), [200, -32602])
      assert.deepStrictEqual(yield* codeOf(listing, { "mcp-protocol-version": "1999-01-01" }), [400, -32600])
      const notification = yield* post(server, { jsonrpc: "2.0", method: "notifications/initialized" })
      assert.deepStrictEqual([notification.status, notification.text], [202, ""])
    }))

  it.live("the list of requests shows each call as the request of the API that it is", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const agent = yield* connected(server.url, server.key.apiKey)
      yield* use(agent, "send_template", template)
      const routes = (answer: { readonly body: { readonly data: ReadonlyArray<{ method: string; route: string }> } }) =>
        answer.body.data.map(({ method, route }) => `${method} ${route}`)
      const shown = yield* checks.until(
        call(`${server.url}/internal/requests`, { headers: server.session }),
        (answer) => routes(answer).includes("POST /v1/messages")
      )
      assert.include(routes(shown), "POST /mcp")
    }))

  it.live("the log has no key, intent, recipient or content of a call, whatever its level", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const server = yield* ready({ environment: { LOG_LEVEL: "trace" } })
        const agent = yield* connected(server.url, server.key.apiKey)
        const message = {
          to: "+15005550006",
          type: "template",
          template: { name: "order_update", language: "en_US", bodyParams: ["Zacharias", "1042"] }
        }
        const unknown = yield* use(agent, "send_template", { intent: "a-private-intent", message })
        assert.strictEqual(unknown.said.error.reason, "outcome_unknown")
        assert.include(unknown.said.error.what_to_do, "repeat the call exactly")
        yield* use(agent, "read_conversation", { contact: "+15005550006" })
        const log = lines().join("\n")
        assert.include(log, "/mcp")
        for (const secret of [server.key.apiKey, "private-intent", "Zacharias", "5005550006"]) {
          assert.notInclude(log, secret)
        }
      }).pipe(Effect.scoped)
    ))

  it.live("an intent and an Idempotency-Key of the API do not meet", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      yield* send(server, hello(), { "idempotency-key": "order-1042-shipped" })
      const agent = yield* connected(server.url, server.key.apiKey)
      assert.isFalse((yield* use(agent, "send_template", template)).said.already_sent)
    }))
})
