import { assert, describe, it } from "@effect/vitest"
import { type Delivery, WebhookTransport } from "@wac/core"
import { Duration, Effect, Exit, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import type { IncomingMessage } from "node:http"
import type { Socket } from "node:net"
import { setImmediate } from "node:timers/promises"
import { getCACertificates, setDefaultCACertificates } from "node:tls"
import { parseCidrs } from "../src/ReceiverAddress.ts"
import { maxBodyBytes } from "../src/ReceiverExchange.ts"
import type { ReceiverRules } from "../src/ReceiverGuardDns.ts"
import * as certificates from "./certificates.ts"
import {
  allowedCidrs,
  body,
  headers,
  post,
  reply,
  serve,
  serveRaw,
  serveTls,
  timeout,
  withLoopback,
  withRules
} from "./receivers.ts"

const untimed = { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }

describe("the request", () => {
  it.effect("a delivery is one POST of exactly the given body and headers", () =>
    Effect.gen(function*() {
      const seen: Array<{ request: IncomingMessage; body: Buffer }> = []
      const { port, url } = yield* serve((request, res) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          seen.push({ request, body: Buffer.concat(chunks) })
          res.end()
        })
      })
      yield* post(url)
      assert.strictEqual(seen.length, 1)
      const [{ body: received, request }] = seen as [(typeof seen)[0]]
      assert.strictEqual(request.method, "POST")
      assert.strictEqual(request.url, "/hook?a=1")
      assert.deepStrictEqual(received, Buffer.from(body))
      assert.deepStrictEqual({ ...request.headers }, {
        ...headers,
        host: `127.0.0.1:${port}`,
        connection: "keep-alive",
        "content-length": `${Buffer.byteLength(body)}`,
        "user-agent": "wac"
      })
    }).pipe(withLoopback))

  it.effect("deliveries reuse a connection and send no cookie", () =>
    Effect.gen(function*() {
      const cookies: Array<string | undefined> = []
      const receiver = yield* serve((request, res) => {
        cookies.push(request.headers.cookie)
        res.setHeader("set-cookie", ["session=secret"]).end("ok")
      })
      for (const _ of [1, 2, 3]) {
        assert.strictEqual((yield* post(receiver.url)).outcome, "delivered")
        // a connection is free one turn of the loop after its answer
        yield* Effect.promise(() => setImmediate())
      }
      assert.strictEqual(receiver.sockets.length, 1)
      assert.deepStrictEqual(cookies, [undefined, undefined, undefined])
    }).pipe(withLoopback))

  it.effect("deliveries ignore the proxies of the environment", () =>
    Effect.gen(function*() {
      const proxied: Array<string | undefined> = []
      const proxy = yield* serve((request, res) => {
        proxied.push(request.url)
        res.end()
      })
      const receiver = yield* serve(reply(200))
      const names = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "NODE_USE_ENV_PROXY"]
      const before = names.map((name) => process.env[name])
      yield* Effect.addFinalizer(() =>
        Effect.sync(() =>
          names.forEach((name, i) => {
            if (before[i] === undefined) delete process.env[name]
            else process.env[name] = before[i]
          })
        )
      )
      for (const name of names) {
        process.env[name] = name === "NODE_USE_ENV_PROXY"
          ? "1"
          : `http://127.0.0.1:${proxy.port}`
      }
      const answer = yield* post(receiver.url).pipe(withLoopback)
      assert.strictEqual(answer.outcome, "delivered")
      assert.strictEqual(receiver.sockets.length, 1)
      assert.deepStrictEqual(proxied, [])
    }))

  it.effect("connections are closed with the layer", () =>
    Effect.gen(function*() {
      const receiver = yield* serve(reply(200))
      yield* post(receiver.url).pipe(withLoopback)
      yield* Effect.promise(() => receiver.closed)
    }))
})

describe("the response", () => {
  it.effect("only 200 counts as success", () =>
    Effect.gen(function*() {
      const { url } = yield* serve(reply(200, { "x-trace": "t1" }))
      const answer = yield* post(url)
      assert.strictEqual(answer.outcome, "delivered")
      assert.strictEqual(answer.statusCode, 200)
      assert.strictEqual(answer.message, "answered 200")
      assert.strictEqual(answer.response?.body, "thanks")
      assert.strictEqual(answer.response?.headers["x-trace"], "t1")
      assert.isNull(answer.retryAfter)
    }).pipe(withLoopback))

  for (const status of [201, 202, 204, 206, 300, 304, 400, 404, 410, 500, 502]) {
    it.effect(`status ${status} is a failure`, () =>
      Effect.gen(function*() {
        const { url } = yield* serve(reply(status, { "retry-after": "30" }))
        const answer = yield* post(url)
        assert.strictEqual(answer.outcome, "status")
        assert.strictEqual(answer.statusCode, status)
        assert.strictEqual(answer.message, `answered ${status}; only 200 counts`)
        assert.isNull(answer.retryAfter)
      }).pipe(withLoopback))
  }

  for (const status of [301, 302, 303, 307, 308]) {
    it.effect(`status ${status} is a redirect, which is not followed`, () =>
      Effect.gen(function*() {
        const target = yield* serve(reply(200))
        const { url } = yield* serve(reply(status, { location: target.url }))
        const answer = yield* post(url)
        assert.strictEqual(answer.outcome, "redirect")
        assert.strictEqual(answer.statusCode, status)
        const { origin } = new URL(target.url)
        assert.strictEqual(answer.message, `answered ${status} to ${origin}/hook; redirects are not followed`)
        assert.strictEqual(target.sockets.length, 0)
      }).pipe(withLoopback))
  }

  for (const line of ["100 Continue", "102 Processing", "103 Early Hints\r\nlink: </a>", "199 Something"]) {
    it.effect(`the final response counts after any number of ${line.slice(0, 3)}`, () =>
      Effect.gen(function*() {
        const { url } = yield* serve((request, res) => {
          request.socket.write(`HTTP/1.1 ${line}\r\n\r\n`.repeat(3))
          res.end("done")
        })
        const { outcome, response, statusCode } = yield* post(url)
        assert.deepStrictEqual([outcome, statusCode, response?.body], ["delivered", 200, "done"])
      }).pipe(withLoopback))
  }

  const waits: ReadonlyArray<readonly [value: string, wait: Duration.Duration | null]> = [
    ["120", Duration.seconds(120)],
    ["0", Duration.zero],
    ["99999999999999999999", Duration.hours(24)],
    ["Thu, 01 Jan 1970 00:01:30 GMT", Duration.seconds(30)],
    ["Thu, 01 Jan 1970 00:00:10 GMT", Duration.zero],
    ["Fri, 01 Jan 2100 00:00:00 GMT", Duration.hours(24)],
    ["-5", null],
    ["1.5", null],
    ["1970-01-01T00:01:30Z", null],
    ["Someday, soon GMT", null],
    ["soon", null]
  ]
  for (const [value, wait] of waits) {
    it.effect(`Retry-After is read with 429 and 503: ${value}`, () =>
      Effect.gen(function*() {
        yield* TestClock.setTime(Duration.toMillis("1 minute"))
        for (const status of [429, 503]) {
          const { url } = yield* serve(reply(status, { "retry-after": value }))
          const answer = yield* post(url)
          assert.strictEqual(answer.outcome, "status")
          assert.deepStrictEqual(answer.retryAfter, wait)
        }
      }).pipe(withLoopback))
  }

  it.effect("the response's body is read up to 16 KiB", () =>
    Effect.gen(function*() {
      const receiver = yield* serve((_, res) => {
        res.write("a".repeat(1024 * 1024))
      })
      const answer = yield* post(receiver.url)
      assert.strictEqual(answer.outcome, "delivered")
      assert.strictEqual(answer.response?.body, "a".repeat(maxBodyBytes))
      yield* Effect.promise(() => receiver.closed)
    }).pipe(withLoopback))

  it.effect("the response's body is stored as text without NUL or half characters", () =>
    Effect.gen(function*() {
      const texts = ["a\u0000b", `x${"é".repeat(maxBodyBytes)}`]
      const { url } = yield* serve((_, res) => void res.end(texts.shift()))
      assert.strictEqual((yield* post(url)).response?.body, "a\uFFFDb")
      assert.strictEqual((yield* post(url)).response?.body, `x${"é".repeat(maxBodyBytes / 2 - 1)}`)
    }).pipe(withLoopback))

  it.effect("the response's headers are stored within limits and without cookies", () =>
    Effect.gen(function*() {
      const { url } = yield* serve((_, res) => {
        res.setHeader("set-cookie", ["session=secret"]).setHeader("x-long", "v".repeat(5000))
        res.setHeader("x-two", ["1", "2"])
        for (let i = 0; i < 200; i++) res.setHeader(`x-${i}`, "1")
        res.end()
      })
      const kept = (yield* post(url)).response?.headers ?? {}
      assert.strictEqual(Object.keys(kept).length, 64)
      assert.strictEqual(kept["x-long"]?.length, 1024)
      assert.strictEqual(kept["x-two"], "1, 2")
      assert.notProperty(kept, "set-cookie")
    }).pipe(withLoopback))
})

describe("an incomplete exchange", () => {
  it.effect("without a listener, the outcome is connect", () =>
    Effect.gen(function*() {
      const { url } = yield* Effect.scoped(serve(reply(200)))
      const answer = yield* post(url)
      assert.deepStrictEqual(answer, {
        outcome: "connect",
        statusCode: null,
        message: "refused the connection",
        address: "127.0.0.1",
        timings: { ...untimed, connectMs: 0 },
        response: null,
        retryAfter: null
      })
    }).pipe(withLoopback))

  it.effect("if the connection ends before a response, the outcome is connect", () =>
    Effect.gen(function*() {
      for (const answer of [(socket: Socket) => void socket.resetAndDestroy(), (socket: Socket) => void socket.end()]) {
        const { url } = yield* serveRaw(answer)
        const { message, outcome } = yield* post(url)
        assert.strictEqual(outcome, "connect")
        assert.strictEqual(message, "closed the connection without a response")
      }
    }).pipe(withLoopback))

  it.effect("if the connection ends within the response, 200 is not enough", () =>
    Effect.gen(function*() {
      for (const status of [200, 500]) {
        const { url } = yield* serveRaw((socket) => {
          socket.write(`HTTP/1.1 ${status} X\r\ncontent-length: 100\r\n\r\nhalf`, () => socket.destroy())
        })
        const answer = yield* post(url)
        assert.strictEqual(answer.outcome, status === 200 ? "connect" : "status")
        assert.strictEqual(answer.statusCode, status)
        assert.strictEqual(answer.response?.body, "half")
      }
    }).pipe(withLoopback))

  it.effect("if the response is not HTTP, the outcome is connect", () =>
    Effect.gen(function*() {
      const { url } = yield* serveRaw((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"))
      const { message, outcome } = yield* post(url)
      assert.strictEqual(outcome, "connect")
      assert.strictEqual(message, "did not answer in HTTP")
    }).pipe(withLoopback))

  it.effect("if the response's headers are endless, the outcome is connect", () =>
    Effect.gen(function*() {
      const { url } = yield* serveRaw((socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(1024 * 1024)}`))
      const { message, outcome } = yield* post(url)
      assert.strictEqual(outcome, "connect")
      assert.strictEqual(message, "answered with headers that are too large")
    }).pipe(withLoopback))

  for (const allowed of [[], allowedCidrs]) {
    it.effect(`if the name does not resolve, with ${allowed.length} allowed ranges, the outcome is dns`, () =>
      Effect.gen(function*() {
        const { message, outcome } = yield* post("http://nonexistent.invalid/")
        assert.strictEqual(outcome, "dns")
        assert.match(message, /^has a host name that (does not exist|could not be looked up)/)
      }).pipe(withRules({ allowedCidrs: allowed })))
  }

  it.effect("if the name resolves to no address, the outcome is dns", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* post("http://receiver.example/")).outcome, "dns")
    }).pipe(withRules({ lookup: async () => [] })))

  it.effect("if the receiver hangs, the timeout closes the connection", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const receiver = yield* serve(() => asked.resolve())
      const posting = yield* Effect.forkChild(post(receiver.url))
      yield* Effect.promise(() => asked.promise)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(posting)).outcome, "timeout")
      yield* Effect.promise(() => receiver.closed)
    }).pipe(withLoopback))

  it.effect("if the body drips, the caller's deadline closes the connection", () =>
    Effect.gen(function*() {
      const dripped = Promise.withResolvers<void>()
      const receiver = yield* serve((_, res) => {
        let drops = 0
        const timer = setInterval(() => {
          res.write(".")
          if (++drops === 5) dripped.resolve()
        }, 5)
        res.on("close", () => clearInterval(timer))
      })
      const posting = yield* Effect.forkChild(post(receiver.url))
      yield* Effect.promise(() => dripped.promise)
      assert.isUndefined(posting.pollUnsafe())
      yield* Fiber.interrupt(posting)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(posting)))
      yield* Effect.promise(() => receiver.closed)
    }).pipe(withLoopback))

  it.effect("if the attempt is interrupted before it is connected, nothing is sent", () =>
    Effect.gen(function*() {
      let requests = 0
      const asked = Promise.withResolvers<void>()
      const found = Promise.withResolvers<ReadonlyArray<string>>()
      const receiver = yield* serve((_, res) => {
        requests++
        res.end()
      })
      const lookup = () => {
        asked.resolve()
        return found.promise
      }
      yield* Effect.gen(function*() {
        const posting = yield* Effect.forkChild(post(`http://receiver.example:${receiver.port}/`))
        yield* Effect.promise(() => asked.promise)
        yield* Fiber.interrupt(posting)
        found.resolve(["127.0.0.1"])
        // a later one finds nothing left over
        yield* post(`http://127.0.0.1:${receiver.port}/`)
      }).pipe(withRules({ lookup }))
      assert.deepStrictEqual([requests, receiver.sockets.length], [1, 1])
    }))

  it.effect("an impossible URL or header is reported as a failed attempt", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* post("nonsense")).outcome, "connect")
      const transport = yield* WebhookTransport.WebhookTransport
      const answer = yield* transport.post({
        url: "http://127.0.0.1:1/",
        headers: { "x-secret": "sk\r\nx: y" },
        body,
        timeout
      })
      assert.strictEqual(answer.outcome, "connect")
      assert.notInclude(answer.message, "sk")
    }).pipe(withLoopback))
})

describe("TLS", () => {
  const localhost = certificates.make({ name: "localhost" })
  const trusted = Effect.acquireRelease(
    Effect.sync(() => {
      const before = getCACertificates("default")
      setDefaultCACertificates([...before, localhost.cert])
      return before
    }),
    (before) => Effect.sync(() => setDefaultCACertificates(before))
  )

  it.effect("a certificate of an unknown authority is refused", () =>
    Effect.gen(function*() {
      const { port } = yield* serveTls(localhost)
      const answer = yield* post(`https://localhost:${port}/`)
      assert.strictEqual(answer.outcome, "tls")
      const detail = "for localhost, issued by itself (localhost), valid from 2026-01-01 to 2099-12-31"
      assert.strictEqual(answer.message, `has a self-signed certificate: it is ${detail}`)
    }).pipe(withLoopback))

  it.effect("a trusted certificate for the name is accepted", () =>
    Effect.gen(function*() {
      yield* trusted
      const { port } = yield* serveTls(localhost)
      assert.strictEqual((yield* post(`https://localhost:${port}/`)).outcome, "delivered")
    }).pipe(withRules({ allowInsecure: false })))

  it.effect("a trusted certificate for a different name is refused", () =>
    Effect.gen(function*() {
      yield* trusted
      const { port } = yield* serveTls(localhost)
      const answer = yield* post(`https://receiver.example:${port}/`)
      assert.strictEqual(answer.outcome, "tls")
      const detail = "for localhost, issued by itself (localhost), valid from 2026-01-01 to 2099-12-31"
      assert.strictEqual(answer.message, `has a certificate for another host name: it is ${detail}`)
    }).pipe(withRules({ lookup: async () => ["127.0.0.1"] })))

  it.effect("a server that does not speak TLS, or hangs up, fails the attempt as tls", () =>
    Effect.gen(function*() {
      const { port } = yield* serve(reply(200))
      const plain = yield* post(`https://127.0.0.1:${port}/`)
      assert.strictEqual(plain.outcome, "tls")
      assert.include(plain.message, "answered without TLS")
      const rude = yield* serveRaw((socket) => socket.end())
      const closed = yield* post(`https://127.0.0.1:${rude.port}/`)
      assert.strictEqual(closed.outcome, "tls")
      assert.strictEqual(closed.message, "closed the connection during the TLS handshake")
    }).pipe(withLoopback))
})

describe("the guard at every connection", () => {
  const blockedBy = (
    rules: Partial<ReceiverRules>,
    urlOf: (port: number) => string,
    why: string,
    timings: Delivery.AttemptTimings | null = null
  ) =>
    Effect.gen(function*() {
      const receiver = yield* serve(reply(200))
      const answer = yield* post(urlOf(receiver.port))
      assert.deepStrictEqual(answer, {
        outcome: "blocked_address",
        statusCode: null,
        message: why,
        address: null,
        timings,
        response: null,
        retryAfter: null
      })
      assert.strictEqual(receiver.sockets.length, 0)
    }).pipe(withRules({ allowedCidrs: [], ...rules }))

  const is = (reason: string) => `has a host that is ${reason}; only public addresses are allowed`

  const leadsTo = (reason: string) => `has a host that leads to ${reason}; only public addresses are allowed`

  for (
    const [host, reason] of [
      ["127.0.0.1", "a loopback address"],
      ["2130706433", "a loopback address"],
      ["0x7f.1", "a loopback address"],
      ["[::ffff:127.0.0.1]", "a loopback address"],
      ["0.0.0.0", "the unspecified address"],
      ["localhost", "a name of the server itself"]
    ] as const
  ) {
    it.effect(`the guard refuses to connect to ${host}`, () =>
      blockedBy({}, (port) => `http://${host}:${port}/`, is(reason)))
  }

  it.effect("the guard refuses metadata addresses even if all ranges are allowed", () => {
    const all = Result.getOrThrow(parseCidrs("0.0.0.0/0"))
    return blockedBy(
      { allowedCidrs: all },
      () => "http://169.254.169.254/latest/meta-data",
      is("a link-local or metadata address")
    )
  })

  it.effect("the guard refuses a name with a forbidden address", () =>
    blockedBy(
      { lookup: async () => ["127.0.0.1"] },
      (port) => `http://receiver.example:${port}/`,
      leadsTo("a loopback address"),
      { ...untimed, lookupMs: 0 }
    ))

  it.effect("the guard refuses a name with one forbidden address among others", () =>
    blockedBy(
      { lookup: async () => ["93.184.216.34", "::ffff:127.0.0.1"] },
      (port) => `http://receiver.example:${port}/`,
      leadsTo("a loopback address"),
      { ...untimed, lookupMs: 0 }
    ))

  it.effect("the connection uses the judged address, without a second lookup", () =>
    Effect.gen(function*() {
      let lookups = 0
      const receiver = yield* serve((request, res) => void res.end(request.headers.host))
      const answer = yield* post(`http://receiver.example:${receiver.port}/`).pipe(withRules({
        lookup: async () => lookups++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]
      }))
      assert.strictEqual(answer.outcome, "delivered")
      assert.strictEqual(answer.response?.body, `receiver.example:${receiver.port}`)
      assert.strictEqual(lookups, 1)
    }))

  it.effect("localhost is reachable if loopback is allowed, regardless of DNS", () =>
    Effect.gen(function*() {
      const { port } = yield* serve(reply(200))
      for (const host of ["localhost", "localhost.", "a.localhost", "[::ffff:127.0.0.1]"]) {
        assert.strictEqual((yield* post(`http://${host}:${port}/`)).outcome, "delivered")
      }
    }).pipe(withRules({
      allowedCidrs: Result.getOrThrow(parseCidrs("127.0.0.0/8")),
      lookup: async () => ["10.0.0.1"]
    })))

  it.effect("http is allowed only if the operator allows it", () =>
    blockedBy(
      { allowInsecure: false, allowedCidrs },
      (port) => `http://127.0.0.1:${port}/`,
      "has a URL that is not https; only https is allowed"
    ))
})
