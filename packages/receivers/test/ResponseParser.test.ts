import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { request as makeRequest } from "node:http"
import { duplexPair } from "node:stream"
import { Malformed, ResponseParser } from "../src/ResponseParser.ts"

interface Parsed {
  readonly statusCode: number | null
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  readonly isComplete: boolean
  readonly keepsOpen: boolean
  /** How many bytes are left over. */
  readonly rest: number
  readonly error: string | null
}

/** Parses the pieces and then, if asked to, the connection's end. */
const parsed = (pieces: ReadonlyArray<Buffer>, isClosed = false): Parsed => {
  let statusCode: number | null = null
  let headers = {}
  let body = ""
  let rest = 0
  let error: string | null = null
  const parser = new ResponseParser({
    head: (status, all) => {
      assert.isNull(statusCode)
      statusCode = status
      headers = Object.fromEntries(all)
    },
    body: (piece) => {
      body += piece.toString("latin1")
    }
  })
  try {
    for (const piece of pieces) rest += piece.length - parser.take(piece)
    if (isClosed) parser.close()
  } catch (thrown) {
    assert.instanceOf(thrown, Malformed)
    error = thrown.message
  }
  const isComplete = parser.isOver
  return { statusCode, headers, body, isComplete, keepsOpen: isComplete && parser.keepsOpen, rest, error }
}

const bytes = (text: string) => Buffer.from(text, "latin1")

const of = (text: string, isClosed = false) => parsed([bytes(text)], isClosed)

const complete = { statusCode: 200, headers: {}, body: "", isComplete: true, keepsOpen: true, rest: 0, error: null }

describe("where a response ends", () => {
  it("a body ends after its Content-Length", () => {
    const headers = { "content-length": "2" }
    assert.deepStrictEqual(of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), { ...complete, headers, body: "ok" })
    const more = of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok HTTP")
    assert.deepStrictEqual(more, { ...complete, headers, body: "ok", rest: 5 })
    const less = of("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no", true)
    assert.deepStrictEqual([less.body, less.isComplete, less.error], ["o", false, null])
  })

  it("a body in chunks ends after the last chunk and the trailers", () => {
    const headers = { "transfer-encoding": "chunked" }
    const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    const body = "a;name=\"value\"\r\n0123456789\r\n2\r\nok\r\n0\r\n"
    for (const end of ["\r\n", "x-sum: 1\r\nx-more: 2\r\n\r\n"]) {
      assert.deepStrictEqual(of(head + body + end), { ...complete, headers, body: "0123456789ok" })
    }
    assert.isFalse(of(head + body, true).isComplete)
  })

  it("a body without a length, or with a different last coding, ends with the connection", () => {
    for (const header of ["", "transfer-encoding: chunked, gzip\r\n", "transfer-encoding: gzip\r\n"]) {
      const text = `HTTP/1.1 200 OK\r\n${header}\r\n0\r\n\r\n`
      assert.isFalse(of(text).isComplete)
      const { body, isComplete, keepsOpen } = of(text, true)
      assert.deepStrictEqual([body, isComplete, keepsOpen], ["0\r\n\r\n", true, false])
    }
  })

  it("a response with 204, 304 or 101 has no body, whatever its headers are", () => {
    for (const statusCode of [204, 304, 101]) {
      for (const header of ["", "content-length: 2\r\n", "transfer-encoding: chunked\r\n"]) {
        const { body, isComplete, rest } = of(`HTTP/1.1 ${statusCode} X\r\n${header}\r\nok`)
        assert.deepStrictEqual([body, isComplete, rest], ["", true, 2])
      }
    }
  })

  it("informational responses leave nothing behind", () => {
    const informational =
      "HTTP/1.1 100 Continue\r\nx-a: 1\r\ncontent-length: 9\r\n\r\nHTTP/1.1 103\r\nlink: </a>\r\n\r\n"
    const headers = { "content-length": "0" }
    assert.deepStrictEqual(of(`${informational}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`), { ...complete, headers })
  })
})

describe("whether a connection stays open", () => {
  it.each(
    [
      ["1.1", undefined, true],
      ["1.1", "keep-alive", true],
      ["1.1", "Close", false],
      ["1.1", "x, close", false],
      ["1.1", "x-close", true],
      ["1.0", undefined, false],
      ["1.0", "Keep-Alive", true],
      ["1.0", "keep-alive,close", false],
      ["2.0", undefined, false]
    ] as const
  )("after HTTP/%s with Connection: %s, it stays open: %s", (version, connection, keepsOpen) => {
    const header = connection === undefined ? "" : `connection: ${connection}\r\n`
    assert.strictEqual(of(`HTTP/${version} 200 OK\r\n${header}content-length: 0\r\n\r\n`).keepsOpen, keepsOpen)
  })
})

describe("headers", () => {
  it("the values of a repeated header are joined, except if it can have only one", () => {
    const { headers } = of("HTTP/1.1 302\r\nX-A: 1\r\nLocation: /a\r\nx-a:2\r\nlocation: /b\r\n\r\n")
    assert.deepStrictEqual(headers, { "x-a": "1, 2", location: "/a" })
  })

  it("a value has no blanks around it, may be empty, and is read byte by byte", () => {
    const { headers } = of("HTTP/1.1 200 OK\r\na: \t b  c\t \r\nd:\r\n__proto__: \u00E9\r\n\r\n")
    assert.deepStrictEqual(Object.entries(headers), [["a", "b  c"], ["d", ""], ["__proto__", "\u00E9"]])
  })
})

describe("what breaks HTTP's rules", () => {
  const ok = "HTTP/1.1 200 OK\r\n"
  const broken: ReadonlyArray<readonly [error: string, response: string]> = [
    ["did not answer in HTTP", "SSH-2.0-OpenSSH"],
    ["did not answer in HTTP", "HTT "],
    ["did not answer in HTTP", "<html>\n"],
    ["answered in an unknown version of HTTP", "HTTP/3.0 200 OK\r\n"],
    ["answered with a malformed status line", "HTTP/1.1 2x0 OK\r\n"],
    ["answered with a malformed status line", "HTTP/1.1 20 OK\r\n"],
    ["answered with a malformed status line", "HTTP/1.1 2000 OK\r\n"],
    ["answered with a malformed status line", "HTTP/1.1 099 OK\r\n"],
    ["answered with a malformed status line", "HTTP/1.1  200 OK\r\n"],
    ["answered with a malformed status line", "HTTP/1.1 200 O\u0000K\r\n"],
    ["answered with a malformed status line", "HTTP/1.1 200 OK\n"],
    ["answered with a malformed header", `${ok}no header\r\n`],
    ["answered with a malformed header", `${ok}: empty\r\n`],
    ["answered with a malformed header", `${ok}name : blank\r\n`],
    ["answered with a malformed header", `${ok}a: 1\r\n folded\r\n`],
    ["answered with a malformed header", `${ok}a: 1\n`],
    ["answered with a malformed header", `${ok}a: 1\rb: 2\r\n`],
    ["answered with a malformed header", `${ok}a: \u0000\r\n`],
    ["answered with two Content-Length headers", `${ok}content-length: 2\r\nContent-Length: 2\r\n`],
    ["answered with a Content-Length that is not a number", `${ok}content-length: 2, 2\r\n\r\n`],
    ["answered with a Content-Length that is not a number", `${ok}content-length: -2\r\n\r\n`],
    ["answered with a Content-Length that is not a number", `${ok}content-length:\r\n\r\n`],
    ["answered with a Content-Length that is not a number", `${ok}content-length: ${"9".repeat(20)}\r\n\r\n`],
    [
      "answered with both Content-Length and Transfer-Encoding",
      `${ok}content-length: 2\r\ntransfer-encoding: gzip\r\n\r\n`
    ],
    ["answered with a malformed chunk", `${ok}transfer-encoding: chunked\r\n\r\n2x\r\n`],
    ["answered with a malformed chunk", `${ok}transfer-encoding: chunked\r\n\r\n-2\r\n`],
    ["answered with a malformed chunk", `${ok}transfer-encoding: chunked\r\n\r\n${"f".repeat(20)}\r\n`],
    ["answered with a malformed chunk", `${ok}transfer-encoding: chunked\r\n\r\n2\r\nokay\r\n`],
    ["answered with headers that are too large", `${ok}x: ${"y".repeat(16 * 1024)}`],
    ["answered with headers that are too large", ok + "x: y\r\n".repeat(4096)],
    ["answered with headers that are too large", "\r\n".repeat(16 * 1024)],
    [
      "answered with headers that are too large",
      `${ok}transfer-encoding: chunked\r\n\r\n0\r\n${"x: y\r\n".repeat(4096)}`
    ]
  ]

  it("a response that breaks HTTP's rules is refused, with the rule in the message", () => {
    for (const [error, response] of broken) {
      assert.strictEqual(of(response).error, error, JSON.stringify(response.slice(0, 99)))
    }
  })
})

/** Parts of responses, from which whole ones are made: most are well formed, and some are not. */
const Response = Schema.Struct({
  before: Schema.Literals(["", "", "\r\n"]),
  informational: Schema.Array(Schema.Literals(["100 Continue", "103"])).check(Schema.isMaxLength(2)),
  version: Schema.Literals(["1.1", "1.1", "1.1", "1.0", "1.2"]),
  status: Schema.Literals(["200 OK", "200 OK", "500", "204 ", "304 x", "404 caf\u00E9", "20 x", "OK"]),
  headers: Schema.Array(Schema.Literals([
    "x-a: 1",
    "X-A:2",
    "x-b: \t a b \t",
    "location: /a",
    "Location: /b",
    "connection: close",
    "Connection: Keep-Alive",
    "x-c:",
    "a b: 1",
    "x-d: \u00E9",
    "x-e: a\u0007",
    " folded"
  ])).check(Schema.isMaxLength(4)),
  framing: Schema.Literals([
    "content-length: 5",
    "content-length: 5",
    "Content-Length: 0",
    "transfer-encoding: chunked",
    "Transfer-Encoding: Chunked",
    "transfer-encoding: gzip, chunked",
    "transfer-encoding: gzip",
    "content-length: 5\r\ncontent-length: 5",
    "content-length: 5\r\ntransfer-encoding: chunked",
    "content-length: x",
    "x-none: 1"
  ]),
  chunks: Schema.Array(
    Schema.Literals(["5\r\nhello", "A\r\n0123456789", "5;a=b\r\nhello", "5 x\r\nhello", "5\r\nhell"])
  )
    .check(Schema.isMaxLength(3)),
  end: Schema.Literals(["0\r\n\r\n", "0\r\n\r\n", "0\r\nx-t: 1\r\n\r\n", "0\r\n", "x\r\n"]),
  cut: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 400 }))
})

const text = ({ before, chunks, cut, end, framing, headers, informational, status, version }: typeof Response.Type) => {
  const head = before + informational.map((line) => `HTTP/1.1 ${line}\r\nx-i: 1\r\n\r\n`).join("") +
    `HTTP/${version} ${status}\r\n${[...headers, framing].map((line) => `${line}\r\n`).join("")}\r\n`
  const body = /^[23]04/.test(status)
    ? ""
    : /chunked$/i.test(framing)
    ? chunks.map((chunk) => `${chunk}\r\n`).join("") + end
    : "hello"
  const all = head + body
  return cut < 300 ? all : all.slice(0, cut - 300)
}

type Read = Pick<Parsed, "statusCode" | "headers" | "body" | "isComplete">

/** What Node's client reads of a response, after which the connection ends. */
const readByNode = (response: string) =>
  Effect.promise(() =>
    new Promise<Read>((resolve) => {
      const [ours, theirs] = duplexPair()
      let read: Read = { statusCode: null, headers: {}, body: "", isComplete: false }
      theirs.once("data", () => theirs.end(bytes(response)))
      ours.on("close", () => setImmediate(() => resolve(read)))
      // an agent would make another connection of it
      const request = makeRequest({ createConnection: () => ours, method: "POST" })
      request.on("error", () => {})
      request.on("response", (message) => {
        read = { ...read, statusCode: message.statusCode ?? null, headers: { ...message.headers } as Read["headers"] }
        message.on("data", (piece: Buffer) => {
          read = { ...read, body: read.body + piece.toString("latin1") }
        })
        message.on("error", () => {})
        message.on("close", () => {
          read = { ...read, isComplete: message.complete }
          ours.destroy()
        })
      })
      request.on("close", () => ours.destroy())
      request.end("x")
    })
  )

describe("any response", () => {
  it.prop(
    "a response is read the same however its bytes are divided",
    { parts: Response, lengths: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 }))) },
    ({ lengths, parts }) => {
      const whole = bytes(text(parts))
      const single = Array.from(whole, (_, i) => whole.subarray(i, i + 1))
      const pieces: Array<Buffer> = []
      let at = 0
      for (const length of [...lengths, whole.length]) {
        pieces.push(whole.subarray(at, at + length))
        at += length
      }
      const { error, rest: _, ...read } = parsed([whole], true)
      for (const divided of [single, pieces]) {
        const { error: otherError, rest: _, ...otherRead } = parsed(divided, true)
        assert.deepStrictEqual([otherRead, otherError], [read, error])
      }
    }
  )

  it.effect.prop(
    "a response is read as Node's client reads it",
    { parts: Response },
    ({ parts }) =>
      Effect.gen(function*() {
        const response = text(parts)
        const { body, headers, isComplete, statusCode } = of(response, true)
        const node = yield* readByNode(response)
        assert.deepStrictEqual({ statusCode, headers, body, isComplete }, node, JSON.stringify(response))
      }),
    { arbitrary: { runs: 300 } }
  )
})
