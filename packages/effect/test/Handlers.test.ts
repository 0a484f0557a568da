import { requestPayload, sign, SIGNATURE_HEADER } from "@wac/verifier"
import express from "express"
import fastify from "fastify"
import { createServer } from "node:http"
import { assert, describe, it, onTestFinished, vi } from "vitest"
import { type Auth, type CustomProvider, local, type SessionRequest, type Wac } from "../src/promises.ts"
import { bodyOf, closing, fresh, hello, serve, start, startLive, templates, until } from "./instance.ts"

/** Sends a request by one of the handlers. */
type Ask = (path: string, init?: RequestInit) => Promise<Response>

const byFetch = (wac: Wac): Ask => (path, init) => wac.handler(new Request(`http://127.0.0.1${path}`, init))
const over = (url: string): Ask => (path, init) => fetch(url + path, init)

const header = (key: string, extra: Record<string, string> = {}) => ({
  authorization: `Bearer ${key}`,
  "content-type": "application/json",
  "idempotency-key": crypto.randomUUID(),
  ...extra
})

const wire = JSON.stringify(hello())

const send = (ask: Ask, key: string, extra: Record<string, string> = {}, body = wire) =>
  ask("/v1/messages", { method: "POST", headers: header(key, extra), body })

type Reach = (
  options?: { readonly auth?: Auth; readonly dashboard?: boolean }
) => Promise<{ wac: Wac; ask: Ask; prefix: string }>

/** Every way to reach the routes. */
const ways: ReadonlyArray<readonly [name: string, reach: Reach]> = [
  ["the fetch handler", async (options) => {
    const wac = await startLive(options)
    return { wac, ask: byFetch(wac), prefix: "" }
  }],
  ["the fetch handler under a prefix", async (options) => {
    const wac = await startLive({ ...options, prefix: "/a/b" })
    return { wac, ask: (path, init) => byFetch(wac)(`/a/b${path}`, init), prefix: "/a/b" }
  }],
  ["node:http", async (options) => {
    const wac = await startLive(options)
    return { wac, ask: over(await serve(wac.nodeHandler)), prefix: "" }
  }],
  ["node:http under a prefix", async (options) => {
    const wac = await startLive({ ...options, prefix: "/messaging" })
    return { wac, ask: over(`${await serve(wac.nodeHandler)}/messaging`), prefix: "/messaging" }
  }],
  ["Express, which mounts it", async (options) => {
    const wac = await startLive(options)
    const app = express()
    app.use("/messaging", wac.nodeHandler)
    return { wac, ask: over(`${await serve(createServer(app))}/messaging`), prefix: "/messaging" }
  }],
  ["Fastify", async (options) => {
    const wac = await startLive({ ...options, prefix: "/messaging" })
    const app = fastify()
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser("*", (_request, _payload, done) => done(null))
      for (const path of ["/messaging", "/messaging/*"]) {
        scope.all(path, (request, reply) => {
          reply.hijack()
          wac.nodeHandler(request.raw, reply.raw)
        })
      }
    })
    closing(() => app.close())
    return { wac, ask: over(`${await app.listen({ port: 0, host: "127.0.0.1" })}/messaging`), prefix: "/messaging" }
  }]
]

const owner: Auth = { session: () => ({ userId: "42", email: "ana@example.com", role: "owner" }) }

describe.each(ways)("through %s", (_, reach) => {
  it("an agent with a key calls a tool, which is a request of the API", async () => {
    const { ask, wac } = await reach()
    const { apiKey } = await wac.keys.create({ name: "agent" })
    const call = (intent: string) =>
      ask("/mcp", {
        method: "POST",
        headers: header(apiKey!),
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "send_template", arguments: { intent, message: hello() } }
        })
      }).then((answer) => answer.json())
    const { result } = await call("welcome 1042")
    assert.deepInclude(result.structuredContent, { status: "sent", tenant_id: wac.id, already_sent: false })
    assert.strictEqual((await call("Welcome 1042")).result.structuredContent.already_sent, true)
  })

  it("a caller with a key can send, and a host's session opens the internal routes", async () => {
    const { ask, wac } = await reach({ auth: owner })
    const { apiKey, id } = await wac.keys.create({ name: "caller" })
    const sent = await send(ask, apiKey!)
    assert.strictEqual(sent.status, 200)
    const body = await sent.json()
    assert.deepInclude(body, { status: "sent", tenant_id: wac.id, api_key_id: id })
    assert.strictEqual((await wac.messages.get(body.message_id)).messageId, body.message_id)
    const session = await ask("/internal/session")
    assert.deepStrictEqual(await session.json(), {
      userId: "42",
      email: "ana@example.com",
      role: "owner",
      workspaceId: wac.id,
      workspaceName: "wac"
    })
  })

  it("a body that may be left out counts if it is sent", async () => {
    const { ask, wac } = await reach()
    const { apiKey } = await wac.keys.create({ name: "consent", scopes: ["contacts:write"] })
    const choose = async (body?: object) => {
      const response = await ask("/v1/contacts/%2B15551234567/opt-out", {
        method: "PUT",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      return [response.status, (await response.json()).error?.param]
    }
    assert.deepStrictEqual(await choose({ phone_number_id: "pn_nobody" }), [400, "phone_number_id"])
    assert.deepStrictEqual(await choose({}), [200, undefined])
    assert.deepStrictEqual(await choose(), [200, undefined])
  })

  it("the dashboard's pages and files are served below the mount if the host enables them", async () => {
    const { ask, prefix } = await reach({ auth: owner, dashboard: true })
    const first = await ask("/", { redirect: "manual" })
    assert.deepStrictEqual([first.status, first.headers.get("location")], [302, `${prefix}/dashboard`])
    const page = await ask("/dashboard/messages")
    const text = await page.text()
    assert.strictEqual(page.status, 200)
    assert.include(text, `<meta name="wac-root" content="${prefix}/">`)
    const files = [...text.matchAll(/<(?:script|link)[^>]*? (?:src|href)="([^"]+)"/g)].map(([, address]) => address!)
    assert.isAtLeast(files.length, 3)
    for (const file of files) {
      assert.isTrue(file.startsWith(`${prefix}/dashboard/`), file)
      assert.strictEqual((await ask(file.slice(prefix.length))).status, 200, file)
    }
  })

  it("without the dashboard, the root page links to the documentation, with and without a slash at its end", async () => {
    const { ask, prefix } = await reach()
    assert.strictEqual((await ask("/dashboard")).status, 404)
    assert.strictEqual((await ask("/setup")).status, 404)
    const linked = ["/docs", "/openapi.json", "/llms.txt", "/docs/errors", "/readyz", "/healthz"]
    for (const end of ["/", ""]) {
      const page = await ask(end)
      const text = await page.text()
      assert.strictEqual(page.status, 200)
      assert.include(text, "sends WhatsApp messages")
      const links = [...text.matchAll(/href="([^"#]+)"/g)].map(([, link]) =>
        new URL(link!, `http://127.0.0.1${prefix}${end}`).pathname
      )
      assert.includeMembers(links, linked.map((path) => `${prefix}${path}`))
      for (const link of links) assert.strictEqual((await ask(link.slice(prefix.length))).status, 200, link)
    }
  })

  it("requests for the head of the stream of changes leave room for pages that watch it", async () => {
    const { ask } = await reach({ auth: owner })
    // one more than pages may watch a workspace
    for (let n = 0; n <= 100; n++) {
      assert.strictEqual((await ask("/internal/stream", { method: "HEAD" })).status, 200)
    }
    const page = await ask("/internal/stream")
    assert.strictEqual(page.status, 200)
    await page.body!.cancel()
  })

  it("errors have their status, body and headers", async () => {
    const { ask, wac } = await reach()
    const { apiKey } = await wac.keys.create({ name: "caller" })
    const wanted: ReadonlyArray<readonly [number, string | undefined, Promise<Response>]> = [
      [401, "missing_key", ask("/v1/templates")],
      [401, "missing_session", ask("/internal/webhook")],
      [400, "malformed_json", send(ask, apiKey!, {}, "{")],
      [413, "too_large", send(ask, apiKey!, {}, JSON.stringify({ to: "x".repeat(70_000) }))],
      [415, "unsupported_media_type", send(ask, apiKey!, { "content-type": "text/plain" })],
      [404, undefined, ask("/v1/nothing")],
      [405, undefined, ask("/v1/messages", { method: "DELETE" })]
    ]
    for (const [status, reason, asked] of wanted) {
      const response = await asked
      const { error } = await response.json()
      assert.strictEqual(response.status, status, JSON.stringify(error))
      assert.strictEqual(error.reason, reason)
      assert.strictEqual(response.headers.get("request-id"), error.request_id)
      assert.strictEqual(response.headers.get("cache-control"), "no-store")
      assert.strictEqual(response.headers.get("x-content-type-options"), "nosniff")
    }
  })

  it("every path responds 405 to methods that it lacks, and lists its own in Allow", async () => {
    const { ask } = await reach()
    const paths = [
      ["/v1/messages", "GET, HEAD, POST"],
      ["/v1/messages/msg_01ARZ3NDEKTSV4RRFFQ69G5FAV", "DELETE, GET, HEAD"],
      ["/internal/webhook", "DELETE, GET, HEAD, PUT"],
      ["/healthz", "GET, HEAD"],
      ["/docs", "GET, HEAD"],
      ["/openapi.json", "GET, HEAD"],
      ["/llms.txt", "GET, HEAD"],
      ["/postman.json", "GET, HEAD"]
    ] as const
    for (const [path, allow] of paths) {
      for (const method of ["DELETE", "PATCH", "PUT", "OPTIONS"]) {
        if (allow.includes(method)) continue
        const response = await ask(path, { method })
        assert.strictEqual(response.status, 405, `${method} ${path}`)
        assert.strictEqual(response.headers.get("allow"), allow)
        assert.strictEqual((await response.json()).error.code, "not_found")
      }
    }
  })

  it("the documentation is served below the mount, and can be cached", async () => {
    const { ask, prefix } = await reach()
    const page = await ask("/docs")
    assert.strictEqual(page.status, 200)
    assert.include(page.headers.get("content-security-policy"), "frame-ancestors 'none'")
    // relative to the page, so that they work wherever it is mounted
    const links = [...(await page.text()).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link!)
    assert.isAbove(links.length, 2)
    for (const link of links) {
      const { pathname } = new URL(link, `http://host${prefix}/docs`)
      assert.isTrue(pathname.startsWith(`${prefix}/`), link)
      assert.strictEqual((await ask(pathname.slice(prefix.length))).status, 200, link)
    }
    const document = await ask("/openapi.json", { headers: { "accept-encoding": "identity" } })
    assert.deepStrictEqual((await document.clone().json()).servers[0].url, prefix === "" ? "/" : prefix)
    const etag = document.headers.get("etag")!
    assert.match(document.headers.get("cache-control")!, /^public, max-age=/)
    const again = await ask("/openapi.json", {
      headers: { "accept-encoding": "identity", "if-none-match": etag },
      cache: "no-store"
    })
    assert.strictEqual(again.status, 304)
    const head = await ask("/openapi.json", { method: "HEAD", headers: { "accept-encoding": "identity" } })
    assert.deepStrictEqual([head.status, await head.text(), head.headers.get("etag")], [200, "", etag])
  })

  it("a request's signature covers the whole address as it was sent", async () => {
    const { ask, prefix, wac } = await reach()
    const { apiKey, signingSecret } = await wac.keys.create({ name: "signs", requireSignature: true })
    const idempotencyKey = crypto.randomUUID()
    const signed = (target: string) =>
      sign(requestPayload({ method: "POST", target, idempotencyKey, body: wire }), signingSecret!)
    const asked = async (target: string) =>
      send(ask, apiKey!, { "idempotency-key": idempotencyKey, [SIGNATURE_HEADER]: await signed(target) })
    assert.strictEqual((await asked("/elsewhere/v1/messages")).status, 401)
    assert.strictEqual((await asked(`${prefix}/v1/messages`)).status, 200)
  })
})

describe("a request", () => {
  it("a request gets the same response as from a standalone server, header by header", async () => {
    const { wac } = await start({ auth: owner })
    const url = await serve(wac.nodeHandler)
    const { apiKey } = await wac.keys.create({ name: "caller" })
    const transport = ["connection", "date", "keep-alive", "transfer-encoding"]
    const shown = async (response: Response) => ({
      status: response.status,
      headers: [...response.headers].filter(([name]) => !transport.includes(name) && name !== "request-id"),
      body: (await response.text()).replace(/req_\w+/, "req_")
    })
    const requests: ReadonlyArray<readonly [string, RequestInit]> = [
      ["/v1/templates?limit=2", { headers: { authorization: `Bearer ${apiKey}` } }],
      ["/v1/templates", { method: "HEAD", headers: { authorization: `Bearer ${apiKey}` } }],
      ["/internal/api-keys", {}],
      ["/internal/api-keys", { method: "POST", headers: { "content-type": "application/json" }, body: "{}" }],
      ["/healthz", {}],
      // `fetch` sends this header itself, a Request does not
      ["/openapi.json", { headers: { "accept-encoding": "identity" } }],
      ["/docs", { headers: { "accept-encoding": "identity" } }],
      ["/", {}],
      ["/nowhere", { method: "DELETE" }]
    ]
    for (const [path, init] of requests) {
      // both spend from rate limits
      const strip = ({ headers, ...rest }: Awaited<ReturnType<typeof shown>>) => ({
        ...rest,
        headers: headers.map(([name, value]) => name === "ratelimit" ? [name, ""] : [name, value])
      })
      const [web, node] = [await byFetch(wac)(path, init), await fetch(url + path, init)]
      assert.deepStrictEqual(strip(await shown(web)), strip(await shown(node)), path)
    }
  })

  it("a request outside of the prefix gets 404", async () => {
    const wac = await startLive({ prefix: "/messaging" })
    const statuses = await Promise.all(
      ["/healthz", "/messagingx/healthz", "/other/messaging/healthz", "/messaging/healthz", "/messaging"].map(
        async (path) => (await byFetch(wac)(path)).status
      )
    )
    assert.deepStrictEqual(statuses, [404, 404, 404, 200, 200])
  })

  it.each(["/messaging", "/messaging?x", "/messaging/", "/messaging/?x"])(
    "the address at which Express mounts it leads to the dashboard below the mount: %s",
    async (path) => {
      const wac = await startLive({ auth: owner, dashboard: true })
      const app = express()
      app.use("/messaging", wac.nodeHandler)
      const first = await over(await serve(createServer(app)))(path, { redirect: "manual" })
      assert.deepStrictEqual([first.status, first.headers.get("location")], [302, "/messaging/dashboard"])
    }
  )

  it.each(
    [["host", owner, "mail accounts"], [
      "built-in",
      local({ owner: { email: "ana@example.com", password: "correct horse" } }),
      "mail"
    ]] as const
  )(
    "the dashboard of %s accounts knows whether people can be invited to them",
    async (_, auth, lacks) => {
      const wac = await startLive({ auth, dashboard: true })
      const page = await over(await serve(createServer(wac.nodeHandler)))("/dashboard")
      assert.include(await page.text(), `<meta name="wac-lacks" content="${lacks}">`)
    }
  )

  it("a host's session function gets everything that identifies a request", async () => {
    const asked: Array<SessionRequest> = []
    const auth: Auth = {
      session: async (request) => {
        asked.push(request)
        const user = (request.node as { user?: string } | undefined)?.user ?? request.headers["x-user"]
        return user === undefined ? null : { userId: user, email: "a@example.com", role: "member" }
      }
    }
    const wac = await startLive({ auth })
    const app = express()
    app.use((request, _response, next) => {
      if (request.headers["x-cookie"] === "good") (request as { user?: string }).user = "express-user"
      next()
    })
    app.use("/m", wac.nodeHandler)
    const url = await serve(createServer(app))
    const signedIn = await fetch(`${url}/m/internal/session`, { headers: { "x-cookie": "good" } })
    assert.strictEqual((await signedIn.json()).userId, "express-user")
    assert.strictEqual((await fetch(`${url}/m/internal/session`)).status, 401)
    const web = await byFetch(wac)("/internal/session", { headers: { "X-User": "7" } })
    assert.strictEqual((await web.json()).userId, "7")
    assert.isDefined(asked[0]!.node)
    assert.isDefined(asked.at(-1)!.web)
    const writing = await byFetch(wac)("/internal/webhook/pause", {
      method: "POST",
      headers: { "x-user": "7", "sec-fetch-site": "same-origin" }
    })
    assert.strictEqual((await writing.json()).error.reason, "role_not_allowed")
  })

  it("an aborted Fetch API request ends, and its work is interrupted", async () => {
    const reached = Promise.withResolvers<void>()
    const wac = await startLive({
      auth: {
        session: () => {
          reached.resolve()
          return new Promise(() => {})
        }
      }
    })
    const caller = new AbortController()
    const waiting = byFetch(wac)("/internal/session", { signal: caller.signal })
    await reached.promise
    caller.abort()
    assert.strictEqual((await waiting).status, 499)
    const aborted = byFetch(wac)("/internal/session", { signal: AbortSignal.abort() })
    assert.strictEqual((await aborted).status, 499)
    await wac.close()
  })

  it("what a person changes under an Idempotency-Key is in the audit, even if they hang up meanwhile", async () => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isHeld = false
    const provider: CustomProvider = {
      phoneNumber: "+12025550100",
      send: async () => ({ status: "accepted", providerMessageId: "1" }),
      templates: async () => {
        if (!isHeld) return []
        reached.resolve()
        await released.promise
        return []
      }
    }
    const wac = await startLive({ auth: owner, provider })
    isHeld = true
    const sync = (init: RequestInit = {}) =>
      byFetch(wac)("/internal/templates/sync", {
        method: "POST",
        headers: { "sec-fetch-site": "same-origin", "idempotency-key": "sync-1" },
        ...init
      })
    const abort = new AbortController()
    const left = sync({ signal: abort.signal })
    await reached.promise
    abort.abort()
    await left.catch(() => {})
    released.resolve()
    const again = await sync()
    assert.deepStrictEqual([again.status, again.headers.get("idempotent-replayed")], [200, "true"])
    const audit = await (await byFetch(wac)("/internal/audit")).json()
    assert.deepStrictEqual(audit.data.map(({ action }: { readonly action: string }) => action), ["template.sync"])
  })

  it("a message that a person sends is in the audit, even if they hang up meanwhile", async () => {
    const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const provider: CustomProvider = {
      phoneNumber: "+12025550100",
      send: async () => {
        reached.resolve()
        await released.promise
        return { status: "accepted", providerMessageId: "1" }
      },
      templates
    }
    const wac = await startLive({ auth: owner, provider })
    const abort = new AbortController()
    const left = byFetch(wac)("/internal/messages", {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin", "content-type": "application/json", "idempotency-key": "send-1" },
      body: wire,
      signal: abort.signal
    })
    await reached.promise
    abort.abort()
    await left.catch(() => {})
    released.resolve()
    const audited = async () => (await (await byFetch(wac)("/internal/audit")).json()).data
    await until(async () => (await audited()).length > 0)
    const [sent] = (await wac.messages.list().page()).data
    assert.deepStrictEqual(
      (await audited()).map(({ action, target }: Record<string, unknown>) => [action, target]),
      [["message.send", sent!.messageId]]
    )
  })

  it("if the host's session function fails, the response is 500, and the log says why", async () => {
    const { log, wac } = await start({
      auth: {
        session: () => {
          throw new Error("the host's store is away")
        }
      }
    })
    const response = await byFetch(wac)("/internal/session")
    assert.strictEqual(response.status, 500)
    assert.notInclude(await response.text(), "store is away")
    assert.isTrue(log.some(({ error, level }) => level === "error" && error!.includes("store is away")))
  })

  it("a request is refused while the service stops, and one in flight is answered first", async () => {
    const wac = await startLive()
    const url = await serve(wac.nodeHandler)
    const { apiKey } = await wac.keys.create({ name: "caller" })
    const slow = JSON.stringify(hello("+15005550010"))
    const asked = [send(over(url), apiKey!, {}, slow), send(byFetch(wac), apiKey!, {}, slow)]
    const { provider_message_id } = await (await send(byFetch(wac), apiKey!)).json()
    assert.isString(provider_message_id)
    await until(async () => (await wac.messages.list({ status: "sending" }).page()).data.length === 2)
    const closed = wac.close()
    assert.strictEqual((await byFetch(wac)("/healthz")).status, 503)
    const late = await fetch(`${url}/healthz`)
    assert.strictEqual(late.status, 503)
    assert.strictEqual((await late.json()).error.code, "server_error")
    assert.strictEqual(late.headers.get("retry-after"), "1")
    const answers = await Promise.all(asked)
    assert.deepStrictEqual(answers.map(({ status }) => status), [200, 200])
    // so that the host's connections end with their responses
    assert.deepStrictEqual(answers.map(({ headers }) => headers.get("connection")), ["close", "close"])
    await closed
  })
})

it("a node:http request passed to the fetch handler fails with the name of the right handler", async () => {
  const { wac } = await start()
  let error: unknown
  const url = await serve((request, response) => {
    void wac.handler(request as never).catch((thrown: unknown) => {
      error = thrown
    }).finally(() => response.end())
  })
  await fetch(url)
  assert.match(String(error), /nodeHandler/)
})

/** Hosts that read a request's body before they pass the request on. */
const parsers: ReadonlyArray<readonly [name: string, reach: (wac: Wac) => Promise<Ask>]> = [
  ["Express with express.json() above the mount", async (wac) => {
    const app = express()
    app.use(express.json())
    app.use("/messaging", wac.nodeHandler)
    return over(`${await serve(createServer(app))}/messaging`)
  }],
  ["Fastify in a handler, after its own parser", async (wac) => {
    const app = fastify()
    app.all("/messaging/*", (request, reply) => {
      reply.hijack()
      request.raw.url = request.raw.url!.slice("/messaging".length)
      wac.nodeHandler(request.raw, reply.raw)
    })
    closing(() => app.close())
    return over(`${await app.listen({ port: 0, host: "127.0.0.1" })}/messaging`)
  }],
  ["node:http that reads it", async (wac) =>
    over(
      await serve((request, response) => {
        void bodyOf(request).then(() => wac.nodeHandler(request, response))
      })
    )],
  ["a fetch host that reads it", async (wac) => async (path, init) => {
    const request = new Request(`http://127.0.0.1${path}`, init)
    if (init?.body !== undefined) await request.text()
    return wac.handler(request)
  }]
]

describe.each(parsers)("a body parser before us, %s", (_, reach) => {
  it("a parsed body gets 500 body_already_parsed, which explains how to mount; requests without a body are served", async () => {
    const { log, wac } = await start()
    const ask = await reach(wac)
    const { apiKey } = await wac.keys.create({ name: "caller" })
    const response = await send(ask, apiKey!)
    assert.strictEqual(response.status, 500)
    const { error } = await response.json()
    assert.deepInclude(error, { code: "server_error", reason: "body_already_parsed" })
    assert.match(error.message, /mount wac before any body parser.*express\.json\(\).*onRequest/)
    assert.isTrue(log.some(({ level, message }) => level === "error" && message === error.message))
    assert.strictEqual((await ask("/healthz")).status, 200)
    assert.strictEqual((await wac.messages.list().page()).data.length, 0)
  })
})

it("the response to a request that Fastify injects waits for nothing once the body was read", async () => {
  const { wac } = await start({ prefix: "/messaging" })
  const { apiKey } = await wac.keys.create({ name: "caller" })
  const app = fastify()
  app.all("/messaging/*", {
    onRequest: async (request, reply) => {
      reply.hijack()
      wac.nodeHandler(request.raw, reply.raw)
    }
  }, () => {})
  closing(() => app.close())
  const { setTimeout } = globalThis
  const timers: Array<string> = []
  vi.spyOn(globalThis, "setTimeout").mockImplementation((...given) => {
    timers.push(new Error("a timer").stack!)
    return setTimeout(...given)
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const url = "/messaging/v1/messages"
  const { statusCode } = await app.inject({ method: "POST", url, headers: header(apiKey!), payload: wire })
  assert.strictEqual(statusCode, 200)
  assert.deepStrictEqual(timers.filter((stack) => stack.includes("NodeExchange")), [])
})

describe("metrics", () => {
  it("metrics() returns what GET /metrics shows, for this instance only", async () => {
    const { wac: other } = await start()
    const { clock, wac } = await start({ receivers: { allowInsecure: true, allowCidrs: ["127.0.0.0/8"] } })
    await wac.webhook.set({
      url: await serve((request, response) => {
        request.resume()
        response.end()
      })
    })
    await wac.messages.send(hello(), fresh())
    await clock.advance("1 second")
    const text = await wac.metrics()
    assert.match(text, /^wac_webhook_attempts_total\{.*outcome="delivered".*\} 3$/m)
    const served = await (await fetch(`${await serve(wac.nodeHandler)}/metrics`)).text()
    const named = (metrics: string) => [...metrics.matchAll(/^# TYPE (wac_\S+)/gm)].map(([, name]) => name).sort()
    assert.deepStrictEqual(named(text), named(served))
    assert.notMatch(await other.metrics(), /outcome="delivered"[^\n]* [1-9]/)
    await wac.close()
    await wac.metrics().then(() => assert.fail("it is closed"), () => {})
  })
})
