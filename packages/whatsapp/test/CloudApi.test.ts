import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Redacted } from "effect"
import * as CloudApi from "../src/CloudApi.ts"
import * as Upstream from "./upstream.ts"

const token = "EAAG-a-token"

const access = (baseUrl: string): CloudApi.Access => ({
  baseUrl,
  apiVersion: "v25.0",
  accessToken: Redacted.make(token)
})

const post: CloudApi.Call = {
  method: "POST",
  path: ["1234", "messages"],
  body: { text: "olá" },
  timeout: Duration.seconds(10),
  maxBytes: 1000
}

/** What comes of a call of that host. */
const call = (baseUrl: string, changes: Partial<CloudApi.Call> = {}) =>
  Effect.flatMap(CloudApi.make(), (api) => api.call(access(baseUrl), { ...post, ...changes }))

const lost = (why: string): CloudApi.Answer => ({ _tag: "Lost", why })

describe("a call", () => {
  it.live("a call makes one request as documented and returns its response", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "{\"id\":\"é\"}")
      assert.deepStrictEqual(yield* call(`${upstream.baseUrl}/graph/`), {
        _tag: "Answered",
        status: 200,
        json: { id: "é" },
        regainAfter: undefined
      })
      const [request] = upstream.received
      assert.strictEqual(upstream.received.length, 1)
      assert.strictEqual(`${request?.method} ${request?.target}`, "POST /graph/v25.0/1234/messages")
      assert.strictEqual(request?.body, "{\"text\":\"olá\"}")
      assert.strictEqual(request?.headers.get("authorization"), `Bearer ${token}`)
      assert.strictEqual(request?.headers.get("content-type"), "application/json")
    }))

  it.live("a GET has no body, and its query cannot change its path", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "{}")
      const { body: _, ...get } = post
      const api = yield* CloudApi.make()
      yield* api.call(access(upstream.baseUrl), {
        ...get,
        method: "GET",
        path: ["12/..", "x?y"],
        query: { after: "a&b=c", limit: "1" }
      })
      const [request] = upstream.received
      assert.strictEqual(request?.target, "/v25.0/12%2F../x%3Fy?after=a%26b%3Dc&limit=1")
      assert.strictEqual(request?.headers.get("content-length"), undefined)
    }))

  it.live("a call keeps its connection for the next call", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "{}")
      const api = yield* CloudApi.make({ maxConnections: 1 })
      for (let i = 0; i < 3; i++) yield* api.call(access(upstream.baseUrl), post)
      assert.strictEqual(upstream.connections(), 1)
      assert.strictEqual(upstream.received.length, 3)
    }))

  it.live("a call returns how long the provider refuses calls", () =>
    Effect.gen(function*() {
      const usage = JSON.stringify({ "12": [{ type: "messaging", estimated_time_to_regain_access: 7 }] })
      const upstream = yield* Upstream.always(400, "{}", { "x-business-use-case-usage": usage })
      const answer = yield* call(upstream.baseUrl)
      assert.deepInclude(answer, { status: 400, regainAfter: Duration.minutes(7) })
    }))

  const bodies: ReadonlyArray<readonly [string, number, string]> = [
    ["HTML", 502, "<html><body>Bad Gateway</body></html>"],
    ["nothing", 200, ""],
    ["half of JSON", 200, "{\"messages\":[{\"id\":"]
  ]
  for (const [name, status, body] of bodies) {
    it.live(`answered with ${name} has a status and no JSON`, () =>
      Effect.gen(function*() {
        const upstream = yield* Upstream.always(status, body)
        assert.deepInclude(yield* call(upstream.baseUrl), { _tag: "Answered", status, json: undefined })
        assert.strictEqual(upstream.received.length, 1)
      }))
  }

  it.live("a call does not follow a redirect", () =>
    Effect.gen(function*() {
      const other = yield* Upstream.always(200, "{}")
      const upstream = yield* Upstream.always(307, "", { location: `${other.baseUrl}/v25.0/1234/messages` })
      assert.deepInclude(yield* call(upstream.baseUrl), { _tag: "Answered", status: 307 })
      assert.strictEqual(other.received.length, 0)
    }))

  it.live("a call asks for no compression, and reads a compressed response as no JSON", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "\u001f\u008b", { "content-encoding": "gzip" })
      assert.deepInclude(yield* call(upstream.baseUrl), { _tag: "Answered", json: undefined })
      assert.strictEqual(upstream.received[0]?.headers.get("accept-encoding"), undefined)
    }))
})

describe("a call that has not left", () => {
  it.live("a call to a port without a listener is not sent", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* call(yield* Upstream.nowhere), { _tag: "NotSent", why: "ECONNREFUSED" })
    }))

  it.live("a call to a host without an address is not sent", () =>
    Effect.gen(function*() {
      const answer = yield* call("http://no-such-host.invalid")
      assert.strictEqual(answer._tag, "NotSent")
    }))

  it.live("a call to a server without TLS is not sent", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.serve(() => {}, (socket) => socket.write("220 mail.example ESMTP\r\n"))
      const answer = yield* call(upstream.baseUrl.replace("http:", "https:"))
      assert.deepStrictEqual(answer, { _tag: "NotSent", why: "ERR_SSL_WRONG_VERSION_NUMBER" })
      assert.strictEqual(upstream.received.length, 0)
    }))

  it.live("a call whose TLS handshake times out is not sent", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.serve(() => {})
      const answer = yield* call(upstream.baseUrl.replace("http:", "https:"), { timeout: Duration.millis(100) })
      assert.deepStrictEqual(answer, { _tag: "NotSent", why: "timeout" })
    }))

  it.live("a call to an invalid URL is not sent", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* call("graph.facebook.com"), { _tag: "NotSent", why: "ERR_INVALID_URL" })
      assert.deepStrictEqual(yield* call("ftp://127.0.0.1"), { _tag: "NotSent", why: "UND_ERR_INVALID_ARG" })
    }))

  it.live("a call that gets no free connection in time is not sent, then or later", () =>
    Effect.gen(function*() {
      const waiting: Array<() => void> = []
      const upstream = yield* Upstream.serve((socket) => waiting.push(() => socket.write(Upstream.response(200, "{}"))))
      const api = yield* CloudApi.make({ maxConnections: 1 })
      const first = yield* Effect.forkChild(api.call(access(upstream.baseUrl), post), { startImmediately: true })
      yield* upstream.untilReceived(1)
      const second = yield* api.call(access(upstream.baseUrl), { ...post, timeout: Duration.millis(100) })
      assert.deepStrictEqual(second, { _tag: "NotSent", why: "timeout" })
      waiting[0]!()
      assert.deepInclude(yield* Fiber.join(first), { _tag: "Answered" })
      // the next is behind the one that was given up
      const third = yield* Effect.forkChild(api.call(access(upstream.baseUrl), post), { startImmediately: true })
      yield* upstream.untilReceived(2)
      waiting[1]!()
      assert.deepInclude(yield* Fiber.join(third), { _tag: "Answered" })
      assert.strictEqual(upstream.received.length, 2)
    }))

  it.live("a call whose token cannot be in a header is not sent, and the token is not logged", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "{}")
      const api = yield* CloudApi.make()
      const answer = yield* api.call({ ...access(upstream.baseUrl), accessToken: Redacted.make("a\nb") }, post)
      assert.deepStrictEqual(answer, { _tag: "NotSent", why: "UND_ERR_INVALID_ARG" })
    }))
})

describe("a call over a connection that breaks as it is made", () => {
  it.live("a call over a breaking connection is made once, whether it had begun or not", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.breaking
      const answer = yield* call(upstream.baseUrl)
      assert.include(["NotSent", "Lost"], answer._tag)
      assert.propertyVal(answer, "why", "ECONNRESET")
      assert.strictEqual(upstream.connections(), 1)
    }))
})

describe("a call that is lost", () => {
  const silent = lost("timeout")
  const faults: ReadonlyArray<readonly [string, Parameters<typeof Upstream.serve>[0], CloudApi.Answer]> = [
    ["reset after the request", (socket) => socket.resetAndDestroy(), lost("ECONNRESET")],
    ["closed after the request", (socket) => socket.end(), lost("UND_ERR_SOCKET")],
    ["closed in the headers", (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-"), lost("UND_ERR_SOCKET")],
    [
      "closed in the body",
      (socket) => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"messages\":[]}"),
      lost("UND_ERR_SOCKET")
    ],
    ["no HTTP", (socket) => socket.end("220 mail.example ESMTP\r\n"), lost("HTTPParserError")],
    ["silence", () => {}, silent],
    ["headers without end", (socket) => {
      const header = `x-${"a".repeat(1000)}: ${"b".repeat(1000)}\r\n`
      socket.write(`HTTP/1.1 200 OK\r\n${header.repeat(50)}`)
    }, lost("UND_ERR_HEADERS_OVERFLOW")],
    [
      "a body too large",
      (socket) => socket.write(Upstream.response(200, `"${"x".repeat(1000)}"`)),
      lost(
        "the answer is too large"
      )
    ],
    ["a body without end", (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
      const chunk = `400\r\n${"x".repeat(1024)}\r\n`
      const more = () => socket.write(chunk, (error) => error == null && more())
      more()
    }, lost("the answer is too large")],
    ["a trickle", (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n")
      const timer = setInterval(() => socket.write(" "), 20)
      socket.on("close", () => clearInterval(timer))
    }, silent]
  ]
  for (const [name, fault, expected] of faults) {
    it.live(`${name}; it is not made again`, () =>
      Effect.gen(function*() {
        const upstream = yield* Upstream.serve(fault)
        const timeout = expected === silent ? Duration.seconds(1) : post.timeout
        assert.deepStrictEqual(yield* call(upstream.baseUrl, { timeout }), expected)
        assert.strictEqual(upstream.received.length, 1)
      }))
  }

  it.live("a call is lost and not repeated if its reused connection is reset", () =>
    Effect.gen(function*() {
      let answered = 0
      const upstream = yield* Upstream.serve((socket) => {
        if (answered++ === 0) socket.write(Upstream.response(200, "{}"))
        else socket.resetAndDestroy()
      })
      const api = yield* CloudApi.make({ maxConnections: 1 })
      assert.deepInclude(yield* api.call(access(upstream.baseUrl), post), { _tag: "Answered" })
      assert.deepStrictEqual(yield* api.call(access(upstream.baseUrl), post), lost("ECONNRESET"))
      assert.strictEqual(upstream.received.length, 2)
      assert.strictEqual(upstream.connections(), 1)
    }))

  it.live("an interrupted call closes its connection", () =>
    Effect.gen(function*() {
      const closed = yield* Deferred.make<void>()
      const upstream = yield* Upstream.serve((socket) => {
        socket.on("close", () => Deferred.doneUnsafe(closed, Exit.void))
      })
      const api = yield* CloudApi.make()
      const fiber = yield* Effect.forkChild(api.call(access(upstream.baseUrl), post), { startImmediately: true })
      yield* upstream.untilReceived(1)
      yield* Fiber.interrupt(fiber)
      yield* Deferred.await(closed)
    }))
})
