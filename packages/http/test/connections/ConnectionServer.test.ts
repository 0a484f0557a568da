import { Duration } from "effect"
import { Agent, get, IncomingMessage, type ServerOptions, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { assert, describe, it, onTestFinished } from "vitest"
import * as ClientErrors from "../../src/connections/ClientErrors.ts"
import {
  ConnectionServer,
  standardStopTimes,
  standardTimes,
  type StopTimes,
  type Times
} from "../../src/connections/ConnectionServer.ts"

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** A server whose requests are answered when the test says so; `begun` are those that it was given so far. */
const serve = async (
  times: Times = standardTimes,
  answer?: (exchange: Exchange) => void,
  options?: ServerOptions
) => {
  const begun: Array<Exchange> = []
  const waiting: Array<() => void> = []
  const server = ClientErrors.answer(new ConnectionServer(options, times))
  server.on("request", (request, response) => {
    begun.push({ request, response })
    answer?.({ request, response })
    for (const wake of waiting.splice(0)) wake()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const until = async (count: number) => {
    while (begun.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
  }
  return { server, port, begun, until }
}

/** A connection: what has come over it, and its end. */
const open = async (port: number) => {
  const socket = connect(port, "127.0.0.1")
  let text = ""
  const looking: Array<() => void> = []
  const look = () => {
    for (const again of looking.splice(0)) again()
  }
  socket.setEncoding("latin1").on("data", (piece: string) => {
    text += piece
    look()
  })
  socket.on("error", () => {})
  const closed = new Promise<string>((resolve) => socket.on("close", () => resolve(text)))
  await new Promise((resolve) => socket.once("connect", resolve))
  onTestFinished(() => void socket.destroy())
  const holds = async (pattern: RegExp) => {
    while (!pattern.test(text)) await new Promise<void>((resolve) => looking.push(resolve))
    return text
  }
  return { socket, closed, holds, text: () => text }
}

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

const asks = (count: number, from = 0) => Array.from({ length: count }, (_, i) => ask(`/${from + i}`)).join("")

const statusesIn = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

const bodiesIn = (text: string) => [...text.matchAll(/\r\n\r\n(\/\d+)/g)].map(([, body]) => body)

/** Answers with the path. */
const echo = ({ request, response }: Exchange) => void response.end(request.url)

/** Two turns of the event loop: what came before has been read. */
const turns = async () => {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve))
}

describe("pipelined requests", () => {
  it("pipelined requests start one at a time, in order", async () => {
    const { begun, port, until } = await serve()
    const { holds, socket } = await open(port)
    socket.write(asks(3))
    for (let i = 0; i < 3; i++) {
      await until(i + 1)
      await turns()
      assert.deepStrictEqual(begun.map(({ request }) => request.url), ["/0", "/1", "/2"].slice(0, i + 1))
      begun[i]!.response.end(`/${i}`)
    }
    assert.deepStrictEqual(bodiesIn(await holds(/\/2$/)), ["/0", "/1", "/2"])
  })

  it("thousands of pipelined requests get their responses in order", async () => {
    const { port } = await serve(
      standardTimes,
      ({ request, response }) => setImmediate(() => response.end(request.url))
    )
    const { closed, socket } = await open(port)
    const count = 5000
    socket.write(asks(count - 1) + ask(`/${count - 1}`).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"))
    assert.deepStrictEqual(bodiesIn(await closed), Array.from({ length: count }, (_, i) => `/${i}`))
  })

  it("while many requests wait, no more are read, so the client cannot write", async () => {
    const { begun, port, until } = await serve()
    const { socket } = await open(port)
    socket.write(asks(1))
    await until(1)
    // more than what a read takes and both sides of a connection keep
    const large = asks(20_000)
    const sockets = 8
    for (let i = 0; i < sockets; i++) socket.write(large)
    await turns()
    assert.isAbove(socket.writableLength, large.length)
    assert.strictEqual(begun.length, 1)
  })

  it("requests are created a few at a time, however many one read contains", async () => {
    let made = 0
    class Counted extends IncomingMessage {
      constructor(socket: Socket) {
        super(socket)
        made++
      }
    }
    const { port, until } = await serve(standardTimes, undefined, { IncomingMessage: Counted })
    const connections = await Promise.all(Array.from({ length: 10 }, () => open(port)))
    for (const { socket } of connections) socket.write(asks(1000))
    await until(connections.length)
    await turns()
    assert.isAtMost(made, 50 * connections.length)
  })

  it("the bodies of pipelined requests arrive completely, in any pieces", async () => {
    const { port } = await serve(standardTimes, ({ request, response }) => {
      let length = 0
      request.on("data", (piece: Buffer) => length += piece.length).on("end", () => response.end(`/${length}`))
    })
    const { holds, socket } = await open(port)
    const sizes = [10, 100_000, 0, 1024, 2_000_000, 5]
    for (const size of sizes) {
      const body = "x".repeat(size)
      socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n${body}`)
    }
    assert.deepStrictEqual(bodiesIn(await holds(/\/5$/)), sizes.map((size) => `/${size}`))
  })

  it("no request starts after a response that ends the connection", async () => {
    const { begun, port } = await serve(standardTimes, ({ response }) => {
      response.setHeader("connection", "close")
      response.end("/1")
    })
    const { closed, socket } = await open(port)
    socket.write(asks(5))
    assert.deepStrictEqual(statusesIn(await closed), [200])
    assert.strictEqual(begun.length, 1)
  })

  it("requests get their responses before the error for later invalid HTTP", async () => {
    const { begun, port, until } = await serve()
    const { closed, socket } = await open(port)
    socket.write(`${asks(2)}no HTTP\r\n\r\n`)
    await until(1)
    await turns()
    begun[0]!.response.end()
    await until(2)
    begun[1]!.response.end()
    assert.deepStrictEqual(statusesIn(await closed), [200, 200, 400])
  })

  it("each request gets one response if a body is broken", async () => {
    const { begun, port, until } = await serve()
    const { closed, socket } = await open(port)
    socket.write(`${asks(1)}POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n`)
    await until(1)
    await turns()
    begun[0]!.response.end()
    assert.deepStrictEqual(statusesIn(await closed), [200, 400])
    assert.strictEqual(begun.length, 1)
  })

  it("each request gets one response if a body breaks after its response", async () => {
    const { begun, port, until } = await serve()
    const { closed, socket } = await open(port)
    socket.write("POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
    await until(1)
    begun[0]!.response.write("/1")
    await turns()
    socket.write("no length\r\n")
    assert.deepStrictEqual(statusesIn(await closed), [200])
  })
})

describe("a request", () => {
  const short: Times = {
    headers: Duration.millis(100),
    request: Duration.millis(200),
    taking: Duration.millis(200),
    idle: standardTimes.idle,
    every: Duration.millis(20)
  }

  it("a connection stays open between requests for longer than load balancers keep theirs", async () => {
    const { port } = await serve(standardTimes, ({ response }) => response.end())
    const { headers } = await fetch(`http://127.0.0.1:${port}`)
    assert.isAbove(Number(/^timeout=(\d+)$/.exec(headers.get("keep-alive")!)![1]), 60)
  })

  it("a request has 15 s for its headers, and the time of the longest upload for its body", () => {
    const server = new ConnectionServer()
    assert.strictEqual(server.headersTimeout, 15_000)
    assert.strictEqual(server.requestTimeout, 31 * 60_000)
    assert.strictEqual(server.timeout, 30_000)
    server.close()
  })

  it("a request whose headers take too long gets 408, and the connection ends", async () => {
    const { port } = await serve(short)
    const { closed, socket } = await open(port)
    socket.write("GET / HTTP/1.1\r\nHost: local")
    const text = await closed
    assert.match(text, /^HTTP\/1\.1 408 [^]*connection: close[^]*\{"error":\{"code":"invalid_body"/)
  })

  it("a connection ends if the client does not read its response, but not while the client waits for one", async () => {
    const { begun, port, until } = await serve(short)
    const [deaf, patient] = [await open(port), await open(port)]
    deaf.socket.pause()
    patient.socket.write(ask("/"))
    await until(1)
    deaf.socket.write(ask("/"))
    await until(2)
    const { response } = begun[1]!
    const ended = new Promise((resolve) => response.on("close", resolve))
    response.end(Buffer.alloc(64 * 1024 * 1024))
    await ended
    assert.isFalse(response.writableFinished)
    begun[0]!.response.end("/0")
    assert.match(await patient.holds(/\/0$/), /^HTTP\/1\.1 200 /)
  })
})

describe("a stop", () => {
  const quick: StopTimes = {
    idle: Duration.millis(50),
    late: Duration.millis(100),
    answer: Duration.millis(600),
    end: Duration.millis(800)
  }

  it("a stop takes at most the 9.5 s of contract §8, and leaves the provider its 8 s", () => {
    assert.strictEqual(Duration.toMillis(standardStopTimes.end), 9500)
    const begunLast = Duration.toMillis(standardStopTimes.late)
    assert.isAtMost(begunLast + 8000, Duration.toMillis(standardStopTimes.answer))
  })

  it("a stop ends connections without a request, used or not", async () => {
    const { port, server } = await serve(standardTimes, echo)
    const [kept, fresh] = [await open(port), await open(port)]
    kept.socket.write(ask("/1"))
    await kept.holds(/\/1$/)
    await server.stop(quick)
    assert.deepStrictEqual(statusesIn(await kept.closed), [200])
    assert.strictEqual(await fresh.closed, "")
  })

  it("a stop completes earlier requests, and requests in transit", async () => {
    const { begun, port, server, until } = await serve()
    const [busy, coming] = [await open(port), await open(port)]
    busy.socket.write(ask("/0"))
    await until(1)
    const stopped = server.stop(quick)
    coming.socket.write(ask("/1"))
    await until(2)
    for (const { request, response } of begun) {
      response.setHeader("connection", "close")
      echo({ request, response })
    }
    assert.deepStrictEqual(bodiesIn(await busy.closed), ["/0"])
    assert.deepStrictEqual(bodiesIn(await coming.closed), ["/1"])
    await stopped
  })

  const assertStopped = (text: string) => {
    assert.match(text, /^HTTP\/1\.1 503 /)
    assert.match(text, /\r\nretry-after: 1\r\n/i)
    assert.match(text, /\r\nconnection: close\r\n/i)
    assert.match(text, /\{"error":\{"code":"server_error","message":"[^"]+","reason":"overloaded"/)
  }

  it("a stop responds with 503 to requests that start too late or take too long", async () => {
    const { begun, port, server, until } = await serve()
    const [long, late, idle] = [await open(port), await open(port), await open(port)]
    long.socket.write(ask("/0"))
    late.socket.write("GET /1 HTTP/1.1\r\n")
    await until(1)
    const stopped = server.stop({ ...quick, idle: quick.late, late: quick.idle })
    await idle.closed
    late.socket.write("Host: localhost\r\n\r\n")
    assertStopped(await late.closed)
    assertStopped(await long.closed)
    assert.strictEqual(begun.length, 1)
    await stopped
  })

  it("a stop ends even if a client does not read its response", async () => {
    const { begun, port, server, until } = await serve()
    const { socket } = await open(port)
    socket.pause()
    socket.write(ask("/"))
    await until(1)
    begun[0]!.response.end(Buffer.alloc(64 * 1024 * 1024))
    await server.stop(quick)
  })

  it("a stop accepts no more connections", async () => {
    const { port, server } = await serve(standardTimes, echo)
    await server.stop(quick)
    const refused = await new Promise<string | undefined>((resolve) => {
      const socket: Socket = connect(port, "127.0.0.1", () => resolve(undefined))
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code))
    })
    assert.strictEqual(refused, "ECONNREFUSED")
  })
})

it("the next request on a kept connection gets its response", async () => {
  const { port } = await serve(standardTimes, echo)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const once = () =>
    new Promise<number>((resolve, reject) => {
      get({ port, host: "127.0.0.1", path: "/1", agent }, (response) => {
        const { localPort } = response.socket
        response.resume().on("end", () => resolve(localPort!))
      }).on("error", reject)
    })
  const first = await once()
  assert.strictEqual(await once(), first)
})

it("few requests of strangers start in a turn of the event loop, however many arrive at once", async () => {
  const { begun, port, server, until } = await serve(standardTimes, echo)
  const sockets: Array<Socket> = []
  server.on("connection", (socket: Socket) => sockets.push(socket))
  const many = 40
  await Promise.all(Array.from({ length: many }, () => open(port)))
  while (sockets.length < many) await turns()
  // as if one look at all connections found a request on each
  for (const [i, socket] of sockets.entries()) socket.emit("data", Buffer.from(ask(`/${i}`)))
  assert.isAtMost(begun.length, 4)
  await until(many)
  assert.deepStrictEqual(begun.map(({ request }) => request.url), sockets.map((_, i) => `/${i}`))
})
