import { assert, describe, it } from "@effect/vitest"
import { WebhookTransport } from "@wac/core"
import { Effect, Fiber, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { createServer as createHttpServer } from "node:http"
import { createSecureServer } from "node:http2"
import { createServer as createHttpsServer } from "node:https"
import { createServer, type Server, type Socket } from "node:net"
import { getCACertificates, type SecureVersion, setDefaultCACertificates } from "node:tls"
import { ReceiverExchange } from "../src/ReceiverExchange.ts"
import * as certificates from "./certificates.ts"
import {
  headers,
  listen,
  post,
  type Receiver,
  reply,
  serve,
  serveRaw,
  serveTls,
  timeout,
  withLoopback,
  withRules
} from "./receivers.ts"

const untimed = { lookupMs: null, connectMs: null, tlsMs: null, firstByteMs: null, bodyMs: null }

/** Posts, and lets the time run out once `reached` is settled. */
const runOut = (url: string, reached: Promise<unknown>) =>
  Effect.gen(function*() {
    const posting = yield* Effect.forkChild(post(url), { startImmediately: true })
    yield* Effect.promise(() => reached)
    yield* TestClock.adjust("5 seconds")
    return yield* Fiber.join(posting)
  })

/** A server that takes connections and does with each what it is told, before anything came over it. */
const serveTcp = (take: (socket: Socket) => void) => listen(createServer(take))

const trust = (cert: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = getCACertificates("default")
      setDefaultCACertificates([...before, cert])
      return before
    }),
    (before) => Effect.sync(() => setDefaultCACertificates(before))
  )

const localhost = certificates.make({ name: "localhost" })

describe("phases", () => {
  it.effect("the phases of an attempt are timed, with the address of the connection", () =>
    Effect.gen(function*() {
      yield* trust(localhost.cert)
      const { port } = yield* serveTls(localhost)
      const named = yield* post(`https://localhost:${port}/`)
      assert.deepStrictEqual([named.outcome, named.address], ["delivered", "127.0.0.1"])
      assert.deepStrictEqual(named.timings, { lookupMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0, bodyMs: 0 })
      const plain = yield* serve(reply(200))
      const { timings } = yield* post(plain.url)
      assert.deepStrictEqual(timings, { ...untimed, connectMs: 0, firstByteMs: 0, bodyMs: 0 })
    }).pipe(withLoopback))

  it.effect("on a kept connection, only the phases of the response are timed", () =>
    Effect.gen(function*() {
      const receiver = yield* serve(reply(200))
      yield* post(receiver.url)
      const again = yield* post(receiver.url)
      assert.deepStrictEqual(again.timings, { ...untimed, firstByteMs: 0, bodyMs: 0 })
      assert.deepStrictEqual([again.address, receiver.sockets.length], ["127.0.0.1", 1])
    }).pipe(withLoopback))

  it.effect("a connection with TLS is kept too", () =>
    Effect.gen(function*() {
      yield* trust(localhost.cert)
      const receiver = yield* serveTls(localhost)
      for (const isKept of [false, true, true]) {
        const { outcome, timings } = yield* post(`https://localhost:${receiver.port}/`)
        assert.deepStrictEqual([outcome, timings?.tlsMs], ["delivered", isKept ? null : 0])
      }
      assert.strictEqual(receiver.sockets.length, 1)
    }).pipe(withLoopback))

  it.effect("phases are measured by the clock", () => {
    const found = Promise.withResolvers<ReadonlyArray<string>>()
    const asked = Promise.withResolvers<void>()
    const lookup = () => {
      asked.resolve()
      return found.promise
    }
    return Effect.gen(function*() {
      const requested = Promise.withResolvers<void>()
      let end = () => {}
      const { port } = yield* serve((_, res) => {
        end = () => res.end("ok")
        requested.resolve()
      })
      const posting = yield* Effect.forkChild(post(`http://receiver.example:${port}/`))
      yield* Effect.promise(() => asked.promise)
      yield* TestClock.adjust("30 millis")
      found.resolve(["127.0.0.1"])
      yield* Effect.promise(() => requested.promise)
      yield* TestClock.adjust("700 millis")
      end()
      const { timings } = yield* Fiber.join(posting)
      assert.deepStrictEqual(timings, { ...untimed, lookupMs: 30, connectMs: 0, firstByteMs: 700, bodyMs: 0 })
    }).pipe(withRules({ lookup }))
  })
})

describe("a timeout reports its phase", () => {
  it.effect("a timeout during the DNS lookup is reported as such", () => {
    const asked = Promise.withResolvers<void>()
    const lookup = () => {
      asked.resolve()
      return new Promise<never>(() => {})
    }
    return Effect.gen(function*() {
      const answer = yield* runOut("https://receiver.example/", asked.promise)
      assert.deepStrictEqual(answer, {
        outcome: "timeout",
        statusCode: null,
        message: "has a host name whose DNS lookup did not end within 5 seconds",
        address: null,
        timings: untimed,
        response: null,
        retryAfter: null
      })
    }).pipe(withRules({ lookup }))
  })

  it.effect("a timeout during the TLS handshake with a silent server is reported as such", () =>
    Effect.gen(function*() {
      const hello = Promise.withResolvers<void>()
      const receiver = yield* serveRaw(() => hello.resolve())
      const answer = yield* runOut(`https://localhost:${receiver.port}/`, hello.promise)
      assert.deepStrictEqual([answer.outcome, answer.address], ["timeout", "127.0.0.1"])
      assert.strictEqual(
        answer.message,
        "accepted the connection after 0 ms, then did not complete the TLS handshake within 5 seconds"
      )
      assert.deepStrictEqual(answer.timings, { ...untimed, lookupMs: 0, connectMs: 0 })
      yield* Effect.promise(() => receiver.closed)
    }).pipe(withLoopback))

  const silences: ReadonlyArray<readonly [how: string, say: (socket: Socket) => void]> = [
    ["says nothing", () => {}],
    ["says it goes on", (socket) => socket.write("HTTP/1.1 102 Processing\r\n\r\n")],
    ["drips its headers", (socket) => socket.write("HTTP/1.1 200 OK\r\nx-drip: .")]
  ]
  for (const [how, say] of silences) {
    it.effect(`a timeout is reported as such for a server that ${how}`, () =>
      Effect.gen(function*() {
        const requested = Promise.withResolvers<void>()
        const receiver = yield* serveRaw((socket) => {
          say(socket)
          requested.resolve()
        })
        const answer = yield* runOut(receiver.url, requested.promise)
        assert.deepStrictEqual([answer.outcome, answer.statusCode, answer.response], ["timeout", null, null])
        assert.strictEqual(answer.message, "connected after 0 ms, then did not answer within 5 seconds")
        assert.deepStrictEqual(answer.timings, { ...untimed, connectMs: 0 })
        yield* Effect.promise(() => receiver.closed)
      }).pipe(withLoopback))
  }

  it.effect("a timeout of the response over a kept connection is reported as such", () =>
    Effect.gen(function*() {
      const requested = Promise.withResolvers<void>()
      let requests = 0
      const receiver = yield* serve((_, res) => {
        if (requests++ === 0) res.end()
        else requested.resolve()
      })
      yield* post(receiver.url)
      const answer = yield* runOut(receiver.url, requested.promise)
      assert.deepStrictEqual([answer.outcome, answer.message], ["timeout", "did not answer within 5 seconds"])
      assert.deepStrictEqual([answer.address, answer.timings], ["127.0.0.1", untimed])
      assert.strictEqual(receiver.sockets.length, 1)
    }).pipe(withLoopback))

  it.effect("a timeout during the response's body is reported with the received part", () =>
    Effect.gen(function*() {
      const arrived = Promise.withResolvers<void>()
      const take = ReceiverExchange.prototype.take
      yield* Effect.acquireRelease(
        Effect.sync(() => {
          ReceiverExchange.prototype.take = function(chunk) {
            arrived.resolve()
            return take.call(this, chunk)
          }
        }),
        () =>
          Effect.sync(() => {
            ReceiverExchange.prototype.take = take
          })
      )
      const receiver = yield* serve((_, res) => {
        res.writeHead(200, { "x-trace": "t1" }).write("half of ")
      })
      const answer = yield* runOut(receiver.url, arrived.promise)
      assert.deepStrictEqual([answer.outcome, answer.statusCode], ["timeout", 200])
      assert.strictEqual(answer.message, "answered 200 after 0 ms, then did not finish its response within 5 seconds")
      assert.deepStrictEqual([answer.response?.body, answer.response?.headers["x-trace"]], ["half of ", "t1"])
      assert.deepStrictEqual(answer.timings, { ...untimed, connectMs: 0, firstByteMs: 0 })
      yield* Effect.promise(() => receiver.closed)
    }).pipe(withLoopback))
})

describe("a broken connection reports its phase", () => {
  const breaks = (receiver: Receiver, url: string, outcome: string, message: string) =>
    Effect.gen(function*() {
      const answer = yield* post(url)
      assert.deepStrictEqual([answer.outcome, answer.message], [outcome, message])
      assert.isAtLeast(receiver.sockets.length, 1)
    })

  it.effect("a connection that breaks before the request is reported as such", () =>
    Effect.gen(function*() {
      const receiver = yield* serveTcp((socket) => void socket.resetAndDestroy())
      yield* breaks(receiver, receiver.url, "connect", "closed the connection without a response")
    }).pipe(withLoopback))

  it.effect("a connection that breaks in the TLS handshake is reported as such", () =>
    Effect.gen(function*() {
      for (const rude of [(socket: Socket) => void socket.end(), (socket: Socket) => void socket.resetAndDestroy()]) {
        const receiver = yield* serveRaw(rude)
        const url = `https://127.0.0.1:${receiver.port}/`
        yield* breaks(receiver, url, "tls", "closed the connection during the TLS handshake")
      }
    }).pipe(withLoopback))

  it.effect("a connection that breaks after 1xx is reported as such", () =>
    Effect.gen(function*() {
      const receiver = yield* serveRaw((socket) => {
        socket.write("HTTP/1.1 102 Processing\r\n\r\n", () => socket.resetAndDestroy())
      })
      yield* breaks(receiver, receiver.url, "connect", "closed the connection without a response")
    }).pipe(withLoopback))

  it.effect("a connection with an unrequested response is reported as such", () =>
    Effect.gen(function*() {
      const line = "101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x"
      const receiver = yield* serveRaw((socket) => void socket.write(`HTTP/1.1 ${line}\r\n\r\n`))
      yield* breaks(receiver, receiver.url, "connect", "answered 101 to switch to another protocol")
    }).pipe(withLoopback))

  it.effect("a connection that breaks in the response's body is reported as such", () =>
    Effect.gen(function*() {
      const receiver = yield* serveRaw((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf", () => socket.resetAndDestroy())
      })
      const message = "answered 200, but closed the connection before the end of the response"
      yield* breaks(receiver, receiver.url, "connect", message)
    }).pipe(withLoopback))

  it.effect("if a kept connection breaks, the request is sent again over a new connection", () =>
    Effect.gen(function*() {
      let requests = 0
      const receiver = yield* serve((request, res) => {
        if (++requests === 2) request.socket.resetAndDestroy()
        else res.end()
      })
      yield* post(receiver.url)
      const answer = yield* post(receiver.url)
      assert.deepStrictEqual([answer.outcome, requests, receiver.sockets.length], ["delivered", 3, 2])
      assert.strictEqual(answer.timings?.connectMs, 0)
    }).pipe(withLoopback))

  it.effect("if the connection breaks twice, the failure is reported and nothing is sent a third time", () =>
    Effect.gen(function*() {
      let requests = 0
      const receiver = yield* serve((request, res) => {
        if (++requests > 1) request.socket.resetAndDestroy()
        else res.end()
      })
      yield* post(receiver.url)
      yield* breaks(receiver, receiver.url, "connect", "closed the connection without a response")
      assert.strictEqual(requests, 3)
    }).pipe(withLoopback))
})

describe("a refused certificate is described", () => {
  const refused = (wish: certificates.Wish, host: string) =>
    Effect.gen(function*() {
      const credentials = certificates.make(wish)
      if (wish.issuer === undefined) yield* trust(credentials.cert)
      const { port } = yield* serveTls(credentials)
      const { address, message, outcome, timings } = yield* post(`https://${host}:${port}/`)
      assert.deepStrictEqual([outcome, address], ["tls", "127.0.0.1"])
      assert.deepStrictEqual(timings, { ...untimed, lookupMs: 0, connectMs: 0, tlsMs: 0 })
      return message
    })
  const elsewhere = withRules({ lookup: async () => ["127.0.0.1"] })

  it.effect("an expired certificate is described", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* refused({ name: "old.example", from: "2020-02-03", to: "2021-02-03" }, "old.example"),
        "has an expired certificate: it is for old.example, issued by itself (old.example), " +
          "valid from 2020-02-03 to 2021-02-03"
      )
    }).pipe(elsewhere))

  it.effect("a certificate that is not valid yet is described", () =>
    Effect.gen(function*() {
      assert.strictEqual(
        yield* refused({ name: "new.example", from: "2090-02-03" }, "new.example"),
        "has a certificate that is not valid yet: it is for new.example, issued by itself (new.example), " +
          "valid from 2090-02-03 to 2099-12-31"
      )
    }).pipe(elsewhere))

  it.effect("a certificate for a different host with many names is described", () =>
    Effect.gen(function*() {
      const names = ["a.example", "*.b.example", "c.example", "d.example", "e.example"]
      assert.strictEqual(
        yield* refused({ name: "a.example", names }, "receiver.example"),
        "has a certificate for another host name: it is for a.example, *.b.example, c.example and 2 more, " +
          "issued by itself (a.example), valid from 2026-01-01 to 2099-12-31"
      )
    }).pipe(elsewhere))

  it.effect("a certificate of an unknown authority is described", () =>
    Effect.gen(function*() {
      const issuer = certificates.authority("Acme CA 1")
      assert.strictEqual(
        yield* refused({ name: "receiver.example", issuer }, "receiver.example"),
        "has a certificate of an unknown authority, or sends an incomplete chain: it is for receiver.example, " +
          "issued by Acme CA 1, valid from 2026-01-01 to 2099-12-31"
      )
    }).pipe(elsewhere))

  it.effect("the description of a certificate is short plain text", () =>
    Effect.gen(function*() {
      const issuer = certificates.authority(`<b>${"x".repeat(60)}\u0007\n\u202E${"y".repeat(20_000)}`)
      const names = Array.from({ length: 40 }, (_, i) => `${"n".repeat(400)}${i}.example`)
      const message = yield* refused({ name: "\u0000\n", names, issuer }, "receiver.example")
      assert.isBelow(message.length, 500)
      assert.match(message, /^[ -~]+$/)
      assert.include(message, "and 37 more")
    }).pipe(elsewhere))
})

describe("a response that breaks HTTP's rules", () => {
  const answers: ReadonlyArray<readonly [why: string, answer: string]> = [
    ["answered with two Content-Length headers", "200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok"],
    [
      "answered with both Content-Length and Transfer-Encoding",
      "200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    ],
    [
      "answered with both Content-Length and Transfer-Encoding",
      "200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    ],
    ["answered with a Content-Length that is not a number", "200 OK\r\ncontent-length: two\r\n\r\nok"],
    ["answered with a malformed header", "200 OK\r\nno header\r\n\r\nok"],
    ["answered with a malformed status line", "2x0 OK\r\n\r\nok"],
    ["answered 200, but with a malformed body", "200 OK\r\ntransfer-encoding: chunked\r\n\r\n2x\r\nok\r\n0\r\n\r\n"]
  ]
  it.effect("a response that breaks HTTP's rules fails the attempt, with the rule in the message", () =>
    Effect.gen(function*() {
      for (const [why, answer] of answers) {
        const { url } = yield* serveRaw((socket) => void socket.write(`HTTP/1.1 ${answer}`))
        const { message, outcome } = yield* post(url)
        assert.deepStrictEqual([outcome, message], ["connect", why], answer)
      }
    }).pipe(withLoopback))
})

describe("a response before the request", () => {
  const early = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"
  const before = "answered 200 before the request was sent; only a response to the whole request counts"

  it.effect("a response sent on connecting does not count as delivered", () =>
    Effect.gen(function*() {
      const receiver = yield* serveTcp((socket) => void socket.write(early))
      const { message, outcome, statusCode } = yield* post(receiver.url)
      assert.deepStrictEqual([outcome, statusCode, message], ["connect", 200, before])
    }).pipe(withLoopback))

  it.effect("a response before the whole request was read does not count as delivered", () =>
    Effect.gen(function*() {
      const receiver = yield* serveTcp((socket) => {
        socket.once("readable", () => {
          socket.read(1)
          socket.write(early)
        })
      })
      const transport = yield* WebhookTransport.WebhookTransport
      // more than the buffers of both sockets hold
      const answer = yield* transport.post({ url: receiver.url, headers, body: "x".repeat(32 * 1024 * 1024), timeout })
      assert.deepStrictEqual([answer.outcome, answer.message], ["connect", before])
    }).pipe(withLoopback))

  it.effect("bytes left over on a kept connection cause the request to be sent over a new connection", () =>
    Effect.gen(function*() {
      let requests = 0
      const receiver = yield* serveTcp((socket) => {
        socket.on("data", () => {
          requests++
          socket.write(early)
        })
      })
      yield* post(receiver.url)
      receiver.sockets[0]!.write(early)
      assert.strictEqual((yield* post(receiver.url)).outcome, "delivered")
      assert.deepStrictEqual([requests, receiver.sockets.length], [2, 2])
    }).pipe(withLoopback))

  it.effect("bytes left over need not be a response for the request to be sent over a new connection", () =>
    Effect.gen(function*() {
      const receiver = yield* serve(reply(200))
      yield* post(receiver.url)
      receiver.sockets[0]!.write("no HTTP")
      assert.strictEqual((yield* post(receiver.url)).outcome, "delivered")
      assert.strictEqual(receiver.sockets.length, 2)
    }).pipe(withLoopback))
})

describe("a redirect reports its target", () => {
  for (
    const [location, shown] of [
      ["https://new.example/hooks/?token=secret#part", " to https://new.example/hooks/"],
      ["/moved?token=secret", " to http://127.0.0.1:PORT/moved"],
      ["https://user:secret@new.example/", " to https://new.example/"],
      [`https://new.example/${"a".repeat(900)}`, ` to https://new.example/${"a".repeat(176)}`],
      ["mailto:secret@new.example", " to mailto:"],
      ["https://", ""],
      [undefined, ""]
    ] as const
  ) {
    it.effect(`${location?.slice(0, 60)}`, () =>
      Effect.gen(function*() {
        const { port, url } = yield* serve(reply(301, location === undefined ? {} : { location }))
        const answer = yield* post(url)
        assert.strictEqual(answer.outcome, "redirect")
        assert.strictEqual(
          answer.message.replace(`${port}`, "PORT"),
          `answered 301${shown}; redirects are not followed`
        )
      }).pipe(withLoopback))
  }
})

describe("a TLS handshake that fails is described", () => {
  const servers: ReadonlyArray<readonly [what: string, server: () => Server, message: string]> = [
    ...["TLSv1", "TLSv1.1"].map((version) =>
      [
        `supports only ${version}`,
        () =>
          createHttpsServer({
            ...localhost,
            minVersion: version as SecureVersion,
            maxVersion: version as SecureVersion,
            ciphers: "DEFAULT@SECLEVEL=0"
          }),
        "supports no secure version of TLS; 1.2 or 1.3 is required"
      ] as const
    ),
    [
      "speaks only HTTP/2",
      () => createSecureServer(localhost),
      "refuses HTTP/1.1, as a server that speaks only HTTP/2 does; it is required"
    ],
    [
      "speaks HTTP without TLS",
      () => createHttpServer(reply(200)),
      "answered without TLS, which https requires: is this its port?"
    ],
    [
      "speaks neither HTTP nor TLS",
      () => createServer((socket) => socket.end("220 mail.example ESMTP\r\n")),
      "answered without TLS, which https requires: is this its port?"
    ],
    ...(["TLSv1.2", "TLSv1.3"] as const).map((version) =>
      [
        `requires a client certificate over ${version}`,
        () => createHttpsServer({ ...localhost, requestCert: true, minVersion: version, maxVersion: version }),
        "requires a client certificate, and none is sent"
      ] as const
    ),
    [
      "has no cipher in common",
      () => createHttpsServer({ ...localhost, maxVersion: "TLSv1.2", ciphers: "NULL-SHA256:@SECLEVEL=0" }),
      "refused the TLS handshake: it may support no cipher that is secure"
    ],
    [
      "does not serve the host name",
      () =>
        createServer((socket) => {
          // a fatal alert, unrecognized_name (RFC 8446 §6)
          socket.once("data", () => socket.end(Buffer.from([21, 3, 3, 0, 2, 2, 112])))
        }),
      "does not serve this host name over TLS"
    ]
  ]
  it.effect.each(servers)(
    "the failed handshake of a server that %s is described",
    ([, server, message]) =>
      Effect.gen(function*() {
        yield* trust(localhost.cert)
        const { port } = yield* listen(server())
        const answer = yield* post(`https://localhost:${port}/`)
        assert.deepStrictEqual([answer.outcome, answer.message], ["tls", message])
      }).pipe(withLoopback)
  )
})

describe("a failed DNS lookup reports the reason", () => {
  for (
    const [code, message] of [
      ["ENOTFOUND", "has a host name that does not exist"],
      ["ENODATA", "has a host name that leads to no address"],
      ["ETIMEOUT", "has a host name that could not be looked up: its name servers did not answer"],
      ["ESERVFAIL", "has a host name that could not be looked up"]
    ] as const
  ) {
    it.effect(code, () =>
      Effect.gen(function*() {
        const answer = yield* post("https://receiver.example/?token=secret")
        assert.deepStrictEqual([answer.outcome, answer.message], ["dns", message])
        assert.deepStrictEqual([answer.address, answer.timings], [null, { ...untimed, lookupMs: 0 }])
      }).pipe(withRules({ lookup: () => Promise.reject(Object.assign(new Error("secret"), { code })) })))
  }
})

describe("a receiver's text", () => {
  const evil = "s3cret<script>"
  const answers: ReadonlyArray<string> = [
    `HTTP/1.1 500 ${evil}\r\nx-a: ${evil}\r\ncontent-length: 14\r\n\r\n${evil}`,
    `HTTP/1.1 302 ${evil}\r\nlocation: https://a.example/?${evil}\r\ncontent-length: 0\r\n\r\n`,
    `HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n${evil}`,
    `HTTP/1.1 200 OK\r\ncontent-length: ${evil}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\n${evil}\r\n\r\n`,
    `HTTP/1.1 101 ${evil}\r\nconnection: upgrade\r\nupgrade: ${evil}\r\n\r\n`,
    `${evil}\r\n\r\n`
  ]
  it.effect("a receiver's text appears neither in messages nor in logs", () => {
    const logged: Array<unknown> = []
    const logger = Logger.make(({ message }) => void logged.push(message))
    return Effect.gen(function*() {
      for (const answer of answers) {
        const receiver = yield* serveRaw((socket) => void socket.end(answer))
        for (const scheme of ["http", "https"]) {
          const { message, outcome } = yield* post(`${scheme}://127.0.0.1:${receiver.port}/hook?token=${evil}`)
          assert.notStrictEqual(outcome, "delivered", answer)
          assert.notInclude(message, "s3cret")
        }
      }
      assert.notInclude(JSON.stringify(logged), "s3cret")
    }).pipe(
      withLoopback,
      Effect.provide(Logger.layer([logger])),
      Effect.provideService(References.MinimumLogLevel, "All")
    )
  })
})
