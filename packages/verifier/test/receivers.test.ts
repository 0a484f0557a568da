import express from "express"
import Fastify, { type FastifyInstance, type FastifyRequest } from "fastify"
import { type Context, Hono } from "hono"
import { EventEmitter } from "node:events"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { assert, describe, it, vi } from "vitest"
import * as ForExpress from "../src/Express.ts"
import * as ForFastify from "../src/Fastify.ts"
import * as ForFetch from "../src/Fetch.ts"
import * as ForHono from "../src/Hono.ts"
import type { Secrets, WebhookEvent } from "../src/index.ts"
import { delivery, event, secret } from "./delivery.ts"

type Handler = (event: WebhookEvent) => unknown
interface Options {
  readonly secret: Secrets | (() => Promise<Secrets>)
  readonly maxBytes?: number
  readonly onError?: (error: unknown) => void
}
type Send = (init: RequestInit) => Promise<Response>
type Use = (send: Send) => Promise<void>

const overHttp = async (listener: RequestListener, use: Use) => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhook`
  try {
    await use((init) => fetch(url, { method: "POST", ...init }))
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

const withFastify = async (register: (app: FastifyInstance) => unknown, use: Use) => {
  const app = Fastify()
  await register(app)
  await app.ready()
  await overHttp((request, response) => app.routing(request, response), use)
}

const within = (fetching: (request: Request) => Response | Promise<Response>, use: Use) =>
  use(async (init) => fetching(new Request("http://host/webhook", { method: "POST", ...init })))

/** Each framework, set up as its documentation says. */
const setUps: { readonly [name: string]: (options: Options, handler: Handler, use: Use) => Promise<void> } = {
  "node:http": (options, handler, use) => overHttp(ForExpress.webhook(options, handler), use),
  "express, before express.json()": (options, handler, use) =>
    overHttp(express().post("/webhook", ForExpress.webhook(options, handler)).use(express.json()), use),
  "express, with express.raw()": (options, handler, use) =>
    overHttp(
      express().post("/webhook", express.raw({ type: "*/*", limit: 1000 }), ForExpress.webhook(options, handler)),
      use
    ),
  "express, with express.json() that keeps the raw body": (options, handler, use) =>
    overHttp(
      express().use(express.json({
        limit: 1000,
        verify: (request, _, bytes) => Object.assign(request, { rawBody: bytes })
      })).post("/webhook", ForExpress.webhook(options, handler)),
      use
    ),
  "fastify": (options, handler, use) =>
    withFastify((app) => app.register(ForFastify.webhook({ ...options, path: "/webhook" }, handler)), use),
  "fastify, a route with a parser of one's own": (options, handler, use) =>
    withFastify((app) => {
      app.addContentTypeParser(
        "application/json",
        { parseAs: "buffer", bodyLimit: 1000 },
        (_: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => done(null, body)
      )
      app.post("/webhook", ForFastify.webhookHandler(options, handler))
    }, use),
  "fetch": (options, handler, use) => within(ForFetch.webhook(options, handler), use),
  "hono": (options, handler, use) =>
    within((request) => new Hono().post("/webhook", ForHono.webhook(options, handler)).fetch(request), use),
  "hono, after a middleware that read the text": (options, handler, use) =>
    within((request) =>
      new Hono().use(async (c, next) => {
        await c.req.text()
        await next()
      }).post("/webhook", ForHono.webhook(options, handler)).fetch(request), use),
  "hono, after a middleware that read the bytes": (options, handler, use) =>
    within((request) =>
      new Hono().use(async (c, next) => {
        await c.req.arrayBuffer()
        await next()
      }).post("/webhook", ForHono.webhook(options, handler)).fetch(request), use)
}

/** The same, with the body parsed or read before us. */
const mistaken: { readonly [name: string]: (options: Options, handler: Handler, use: Use) => Promise<void> } = {
  "express, after express.json()": (options, handler, use) =>
    overHttp(express().use(express.json()).post("/webhook", ForExpress.webhook(options, handler)), use),
  "fastify, a route without the plugin": (options, handler, use) =>
    withFastify((app) => app.post("/webhook", ForFastify.webhookHandler(options, handler)), use),
  "fetch, after request.json()": (options, handler, use) =>
    within(async (request) => {
      await request.json()
      return ForFetch.webhook(options, handler)(request)
    }, use),
  "hono, after a middleware that cloned nothing": (options, handler, use) =>
    within((request) =>
      new Hono().use(async (c, next) => {
        await c.req.raw.json()
        await next()
      }).post("/webhook", ForHono.webhook(options, handler)).fetch(request), use)
}

for (const [name, setUp] of Object.entries(setUps)) {
  describe(name, () => {
    it("the receiver passes the event on, and responds with 200 when the handler is done", async () => {
      const events: Array<unknown> = []
      const handler = async (event: WebhookEvent) => {
        await new Promise((resolve) => setImmediate(resolve))
        events.push(event)
      }
      await setUp({ secret: ["whsec_other", secret] }, handler, async (send) => {
        const response = await send(await delivery())
        assert.strictEqual(response.status, 200)
        assert.deepEqual(await response.json(), { received: true })
        assert.deepEqual<unknown>(events, [event])
      })
    })

    it("the receiver responds with 400 and the mistake, and does not call the handler", async () => {
      const handler = vi.fn<Handler>()
      await setUp({ secret }, handler, async (send) => {
        const { body, headers } = await delivery()
        for (
          const [init, reason] of [
            [{ body, headers: { "content-type": "application/json" } }, "missing_header"],
            [{ body: `${body}\n`, headers }, "signature_mismatch"],
            [await delivery("{}"), "not_an_event"]
          ] as const
        ) {
          const response = await send(init)
          assert.strictEqual(response.status, 400)
          const answered = await response.text()
          assert.strictEqual(JSON.parse(answered).reason, reason)
          assert.notInclude(answered, secret)
        }
      })
      await setUp({ secret: () => Promise.resolve(undefined) }, handler, async (send) => {
        assert.include(await (await send(await delivery())).json(), { reason: "missing_secret" })
      })
      assert.strictEqual(handler.mock.calls.length, 0)
    })

    it("the receiver responds with 500 if the handler throws, and does not reveal the error", async () => {
      const thrown = new Error("the password is 1234")
      const errors: Array<unknown> = []
      const options = { secret, onError: (error: unknown) => void errors.push(error) }
      await setUp(options, () => Promise.reject(thrown), async (send) => {
        const response = await send(await delivery())
        assert.strictEqual(response.status, 500)
        assert.notInclude(await response.text(), "1234")
        assert.deepEqual(errors, [thrown])
      })
    })
  })
}

// What a middleware has read is in the memory already.
for (const [name, setUp] of Object.entries(setUps).filter(([name]) => !name.includes("middleware"))) {
  it(`${name}: the response to a body over the limit is 413`, async () => {
    await setUp({ secret, maxBytes: 1000 }, () => assert.fail("called"), async (send) => {
      assert.strictEqual((await send(await delivery("x".repeat(1001)))).status, 413)
    })
  })
}

for (const [name, setUp] of Object.entries(mistaken)) {
  it(`${name}: an already parsed body is reported`, async () => {
    const handler = vi.fn<Handler>()
    await setUp({ secret }, handler, async (send) => {
      const response = await send(await delivery())
      assert.strictEqual(response.status, 400)
      assert.deepEqual(await response.json(), {
        reason: "body_already_parsed",
        message: "the body was already parsed; pass the raw bytes"
      })
    })
    assert.strictEqual(handler.mock.calls.length, 0)
  })
}

describe("a body without a length", () => {
  const stream = (chunks: number) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (let i = 0; i < chunks; i++) controller.enqueue(new Uint8Array(100))
        controller.close()
      }
    })

  for (const name of ["node:http", "fetch", "hono", "fastify"]) {
    it(`${name}: reading stops at the limit`, async () => {
      await setUps[name]!({ secret, maxBytes: 1000 }, () => assert.fail("called"), async (send) => {
        const { headers } = await delivery()
        const init = (chunks: number) => ({ body: stream(chunks), headers, duplex: "half" }) as RequestInit
        assert.strictEqual((await send(init(10))).status, 400)
        assert.strictEqual((await send(init(11))).status, 413)
      })
    })
  }
})

it("node:http: a request that ended before a middleware passed it on is refused", async () => {
  const refused = Promise.withResolvers<string>()
  const receiver = ForExpress.webhook(
    { secret, onRefused: ({ reason }) => refused.resolve(reason) },
    () => assert.fail("called")
  )
  const { body, headers } = await delivery()
  const arrived = Promise.withResolvers<void>()
  const listener: RequestListener = async (request, response) => {
    arrived.resolve()
    await new Promise((resolve) => request.once("close", resolve))
    await receiver(request, response)
  }
  await overHttp(listener, async (send) => {
    const sender = new AbortController()
    const sending = send({ body, headers, signal: sender.signal }).catch(() => {})
    await arrived.promise
    sender.abort()
    await sending
    assert.strictEqual(await refused.promise, "invalid_body")
  })
})

it("an unusable limit, as from a missing variable, counts as the default", async () => {
  const [within, over] = [1_048_576, 1_048_577].map((length) => new Uint8Array(length))
  for (const maxBytes of [NaN, -1]) {
    for (const name of ["node:http", "fetch", "hono", "fastify"]) {
      await setUps[name]!({ secret, maxBytes }, () => assert.fail("called"), async (send) => {
        assert.strictEqual((await send(await delivery(within))).status, 400, name)
        assert.strictEqual((await send(await delivery(over))).status, 413, name)
      })
    }
  }
})

describe("a body that comes byte by byte", () => {
  const response = { statusCode: 0, headersSent: false, setHeader: () => {}, end: () => {} }

  // a source that uses its piece again shows whether that is kept, for hundreds of times the memory of the byte in it
  it("node:http: a body that comes byte by byte is gathered without keeping the pieces", async () => {
    const { body, headers } = await delivery()
    const request = Object.assign(new EventEmitter(), { headers })
    const events: Array<unknown> = []
    const answered = ForExpress.webhook({ secret }, (event) => events.push(event))(request, response)
    const piece = new Uint8Array(1)
    for (const byte of Buffer.from(body)) {
      piece[0] = byte
      request.emit("data", piece)
    }
    request.emit("end")
    await answered
    assert.deepEqual<unknown>(events, [event])
  })

  it("fetch: a body that comes byte by byte is gathered without keeping the pieces", async () => {
    const { body, headers } = await delivery()
    const bytes = Buffer.from(body).values()
    const piece = new Uint8Array(1)
    const source = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        const { done, value } = bytes.next()
        if (done) return controller.close()
        piece[0] = value
        controller.enqueue(piece)
      }
    }, { highWaterMark: 0 })
    await setUps["fetch"]!({ secret }, () => {}, async (send) => {
      assert.strictEqual((await send({ body: source, headers, duplex: "half" } as RequestInit)).status, 200)
    })
  })
})

describe("the settings", () => {
  it("onRefused gets each refused request", async () => {
    const seen: Array<unknown> = []
    const options = {
      secret,
      onRefused: (problem: object, request: Request) => void seen.push(problem, request.method)
    }
    await ForFetch.webhook(options, () => assert.fail("called"))(new Request("http://host", { method: "POST" }))
    assert.deepEqual(seen, [
      { reason: "missing_header", message: "the header X-Service-Signature is missing" },
      "POST"
    ])
  })

  type Bindings = { Bindings: { readonly SECRET: string } }
  const succeeds: Use = async (send) => assert.strictEqual((await send(await delivery())).status, 200)

  it("the handler gets the framework's arguments: a Worker's environment, Hono's context, the request", async () => {
    const worker = ForFetch.webhook<readonly [Request, { readonly SECRET: string }]>(
      { secret: (_, { SECRET }) => SECRET },
      (_event, request, { SECRET }) => assert.deepEqual([request.method, SECRET], ["POST", secret])
    )
    const request = new Request("http://host/", { method: "POST", ...await delivery() })
    assert.strictEqual((await worker(request, { SECRET: secret })).status, 200)

    const hono = new Hono<Bindings>().post(
      "/webhook",
      ForHono.webhook(
        { secret: ({ env }: Context<Bindings>) => env.SECRET },
        (_event, { req }) => assert.strictEqual(req.path, "/webhook")
      )
    )
    await within((request) => hono.fetch(request, { SECRET: secret }), succeeds)
    const path = { path: "/webhook", secret }
    await withFastify((app) =>
      app.register(
        ForFastify.webhook(path, (_event, { url }: FastifyRequest) => assert.strictEqual(url, "/webhook"))
      ), succeeds)
    await overHttp(
      express().post(
        "/webhook",
        ForExpress.webhook({ secret }, (_event, { path }: express.Request) => assert.strictEqual(path, "/webhook"))
      ),
      succeeds
    )
  })

  it("without onError, the handler's error is printed", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {})
    try {
      const thrown = new Error("broken")
      const receiver = ForFetch.webhook({ secret }, () => {
        throw thrown
      })
      const answered = await receiver(new Request("http://host/", { method: "POST", ...await delivery() }))
      assert.strictEqual(answered.status, 500)
      assert.deepEqual(printed.mock.calls, [[thrown]])
    } finally {
      printed.mockRestore()
    }
  })

  it("callbacks are awaited, and their errors are printed without changing the response", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {})
    try {
      const thrown = new Error("the log is full")
      const ways: ReadonlyArray<() => Promise<void>> = [
        () => {
          throw thrown
        },
        async () => {
          await new Promise((resolve) => setImmediate(resolve))
          throw thrown
        }
      ]
      for (const fail of ways) {
        const receiver = ForFetch.webhook({ secret, onRefused: fail, onError: fail }, () => Promise.reject(new Error()))
        const forged = new Request("http://host/", { method: "POST" })
        assert.strictEqual((await receiver(forged)).status, 400)
        const genuine = new Request("http://host/", { method: "POST", ...await delivery() })
        assert.strictEqual((await receiver(genuine)).status, 500)
      }
      assert.deepEqual(printed.mock.calls, Array.from({ length: 4 }, () => [thrown]))
    } finally {
      printed.mockRestore()
    }
  })

  it("the envelope setting decides the type of the handler's event", async () => {
    const body = JSON.stringify({ type: "message.delivered", tenant_id: "ws_1", data: { delivered_at: "now" } })
    const receiver = ForFetch.webhook(
      { secret, envelope: "b" },
      (event) => event.type === "message.delivered" ? assert.strictEqual(event.data.delivered_at, "now") : undefined
    )
    assert.strictEqual(
      (await receiver(new Request("http://host/", { method: "POST", ...await delivery(body) }))).status,
      200
    )
  })
})
