/**
 * The client against servers on loopback that answer as a test says: what it sends, when it tries again, and what it
 * fails with.
 */
import { requestPayload, verify } from "@wac/verifier"
import { getEventListeners } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, assert, describe, it, onTestFinished, vi } from "vitest"
import { type ClientOptions, createClient, type ErrorReason, type SendOptions, WacError } from "../src/index.ts"

interface Seen {
  readonly method: string
  readonly target: string
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

type Answer = (response: ServerResponse, request: Seen) => void

const servers: Array<Server> = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that gives these answers in turn, the last of them again and again. */
const serve = async (...answers: ReadonlyArray<Answer>) => {
  const seen: Array<Seen> = []
  const server = createServer(async (request, response) => {
    let body = ""
    for await (const chunk of request) body += chunk
    const one = { method: request.method!, target: request.url!, headers: request.headers, body }
    seen.push(one)
    answers[Math.min(seen.length, answers.length) - 1]!(response, one)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return { seen, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

const json = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer => (response) => {
  response.writeHead(status, { "content-type": "application/json", ...headers })
  response.end(JSON.stringify(body))
}

const failing = (status: number, code: string, reason: string, headers?: Readonly<Record<string, string>>) =>
  json(status, { error: { code, reason, message: "in words", request_id: "req_1" } }, headers)

const sent = {
  status: "sent",
  message_id: "msg_1",
  provider_message_id: "wamid.1",
  tenant_id: "ws_1",
  api_key_id: "key_1"
}
/** The same in the names of programs. */
const result = {
  status: "sent",
  messageId: "msg_1",
  providerMessageId: "wamid.1",
  workspaceId: "ws_1",
  apiKeyId: "key_1",
  replayed: false
}
const broken: Answer = (response) => void response.socket!.destroy()
const throttled = failing(429, "rate_limited", "pair", { "retry-after": "6" })
const running = failing(503, "server_error", "in_progress", { "retry-after": "1" })

const hello = { to: "+15551234567", type: "text", text: { body: "Hällo" } } as const

/** A client whose waits are noted, not waited; `random` 0 waits longest. */
const clientOf = (baseUrl: string, options: Partial<ClientOptions> = {}, random = 0) => {
  const waits: Array<number> = []
  let now = Date.parse("2026-11-21T00:00:00Z")
  const clock: NonNullable<ClientOptions["clock"]> = {
    now: () => now,
    random: () => random,
    sleep: async (millis, signal) => {
      signal.throwIfAborted()
      waits.push(millis)
      now += millis
    }
  }
  return { waits, now: () => now, client: createClient({ baseUrl, apiKey: "wac_live_x", clock, ...options }) }
}

const rejected = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    await promise
  } catch (error) {
    return error
  }
  return assert.fail("it did not fail")
}

const apiError = async (promise: Promise<unknown>): Promise<WacError> => {
  const error = await rejected(promise)
  return error instanceof WacError ? error : assert.fail(`${error}`)
}

/** The error of a call without an answer. */
const noResponse = async (promise: Promise<unknown>, reason: ErrorReason): Promise<WacError> => {
  const error = await apiError(promise)
  assert.deepEqual([error.code, error.reason], ["no_response", reason] as never)
  return error
}

describe("a send", () => {
  it("a send is one POST with a new Idempotency-Key", async () => {
    const { baseUrl, seen } = await serve(json(200, sent))
    const { client } = clientOf(baseUrl)
    assert.deepEqual(await client.messages.send(hello), result as never)
    assert.deepEqual(await client.messages.send(hello, { idempotencyKey: "order-1" }), result as never)
    const [first, second] = seen
    assert.deepEqual([first!.method, first!.target, JSON.parse(first!.body)], ["POST", "/v1/messages", hello])
    assert.strictEqual(first!.headers.authorization, "Bearer wac_live_x")
    assert.strictEqual(first!.headers["content-type"], "application/json")
    assert.match(first!.headers["idempotency-key"] as string, /^[0-9a-f-]{36}$/)
    assert.strictEqual(second!.headers["idempotency-key"], "order-1")
    assert.notProperty(first!.headers, "x-service-signature")
  })

  it("a send is retried under the same key after 429, 5xx and broken connections, with exponential backoff", async () => {
    const { baseUrl, seen } = await serve(
      broken,
      failing(500, "server_error", "internal"),
      (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
      failing(504, "server_error", "outcome_unknown"),
      json(200, sent)
    )
    const { client, waits } = clientOf(baseUrl)
    assert.deepEqual(await client.messages.send(hello), result as never)
    assert.deepEqual(waits, [500, 1000, 2000, 4000])
    assert.strictEqual(new Set(seen.map(({ headers }) => headers["idempotency-key"])).size, 1)
    assert.strictEqual(new Set(seen.map(({ body }) => body)).size, 1)
  })

  it.each([
    ["eight seconds at most", 0, [500, 1000, 2000, 4000, 8000, 8000]],
    ["shortened by chance", 0.5, [375, 750, 1500, 3000, 6000, 6000]]
  ])("the waits that a client chooses are %s", async (_, random, expected) => {
    const { baseUrl } = await serve(broken)
    const { client, waits } = clientOf(baseUrl, { retries: 6 }, random)
    await noResponse(client.messages.send(hello), "unreachable")
    assert.deepEqual(waits, expected)
  })

  it("a retry waits at least as long as Retry-After", async () => {
    const longer = failing(429, "rate_limited", "workspace", { "retry-after": "10" })
    const { baseUrl } = await serve(throttled, running, longer, json(200, sent))
    const { client, waits } = clientOf(baseUrl)
    await client.messages.send(hello)
    assert.deepEqual(waits, [6000, 1000, 10_000])
  })

  it.each([408, 425, 429, 500, 502, 503, 504])("a send is retried after %i from a proxy", async (status) => {
    const { baseUrl, seen } = await serve(
      (response) => response.writeHead(status).end("<h1>Later</h1>"),
      json(200, sent)
    )
    assert.deepEqual(await clientOf(baseUrl).client.messages.send(hello), result as never)
    assert.strictEqual(seen.length, 2)
  })

  it("a retry waits until the date in Retry-After", async () => {
    const at = new Date(Date.parse("2026-11-21T00:00:20Z")).toUTCString()
    const { baseUrl } = await serve(failing(503, "server_error", "overloaded", { "retry-after": at }), json(200, sent))
    const { client, waits } = clientOf(baseUrl)
    await client.messages.send(hello)
    assert.deepEqual(waits, [20_000])
  })

  it.each([
    [400, "invalid_body", "missing_field"],
    [401, "unauthorized", "revoked_key"],
    [403, "forbidden", "outside_service_window"],
    [409, "idempotency_conflict", "payload_mismatch"],
    [500, "server_error", "body_already_parsed"],
    [504, "server_error", "delivery_unknown"]
  ])("a send is not repeated after %i %s %s", async (status, code, reason) => {
    const { baseUrl, seen } = await serve(failing(status, code, reason))
    const error = await apiError(clientOf(baseUrl).client.messages.send(hello, { idempotencyKey: "k" }))
    assert.deepEqual(
      [error.status, error.code, error.reason, error.message, error.requestId, error.idempotencyKey],
      [status, code, reason, "in words (req_1)", "req_1", "k"] as never
    )
    assert.strictEqual(seen.length, 1)
  })

  it("a send fails after the maximum number of retries, with the last error and the key", async () => {
    const { baseUrl, seen } = await serve(throttled)
    const error = await apiError(clientOf(baseUrl, { retries: 2 }).client.messages.send(hello))
    assert.deepEqual([error.reason, error.retryAfter], ["pair", 6000])
    assert.strictEqual(error.idempotencyKey, seen[0]!.headers["idempotency-key"])
    assert.strictEqual(seen.length, 3)
  })

  const unavailable = failing(503, "server_error", "storage_unavailable")
  it.each<[string, Answer, string, Answer, string]>([
    ["a broken connection", broken, "unreachable", unavailable, "storage_unavailable"],
    ["a proxy's page", (response) => response.writeHead(504).end("Later"), "unexpected_response", throttled, "pair"],
    [
      "an unknown outcome",
      failing(504, "server_error", "outcome_unknown"),
      "outcome_unknown",
      unavailable,
      "storage_unavailable"
    ],
    ["a send that still runs", running, "in_progress", failing(401, "unauthorized", "revoked_key"), "revoked_key"],
    ["a send that still runs", running, "in_progress", failing(500, "server_error", "internal"), "internal"],
    ["a broken connection", broken, "unreachable", failing(408, "invalid_body", "invalid_field"), "invalid_field"],
    ["a broken connection", broken, "unreachable", failing(403, "forbidden", "missing_scope"), "missing_scope"],
    [
      "a broken connection",
      broken,
      "unreachable",
      failing(403, "forbidden", "workspace_suspended"),
      "workspace_suspended"
    ]
  ])("after %s, a send whose retries settle nothing still says that it may have gone out", async (...given) => {
    const [, first, reason, last, lastReason] = given
    const { baseUrl } = await serve(first, last)
    const failed: Array<unknown> = []
    const { client } = clientOf(baseUrl, { retries: 1, hooks: { onError: ({ error }) => void failed.push(error) } })
    const error = await apiError(client.messages.send(hello, { idempotencyKey: "k" }))
    assert.deepEqual([error.reason, error.idempotencyKey], [reason, "k"] as never)
    const cause = error.cause as WacError
    assert.deepEqual([cause.reason, error.retryAfter], [lastReason, cause.retryAfter] as never)
    assert.deepEqual(failed, [error])
  })

  it.each([
    [403, "forbidden", "opted_out"],
    [409, "idempotency_conflict", "payload_mismatch"],
    [504, "server_error", "delivery_unknown"],
    [504, "server_error", "outcome_unknown"]
  ])("a send fails with %i %s %s if that settles a broken connection", async (status, code, reason) => {
    const { baseUrl } = await serve(broken, failing(status, code, reason))
    const error = await apiError(clientOf(baseUrl, { retries: 1 }).client.messages.send(hello))
    assert.deepEqual([error.status, error.reason, error.cause], [status, reason, undefined] as never)
  })

  it("a request without a key fails with its last error, whatever came before", async () => {
    const { baseUrl } = await serve(broken, unavailable)
    const error = await apiError(clientOf(baseUrl, { retries: 1 }).client.messages.get("msg_1"))
    assert.deepEqual([error.reason, error.cause], ["storage_unavailable", undefined] as never)
  })

  it("a send fails immediately if Retry-After exceeds the timeout", async () => {
    const { baseUrl, seen } = await serve(throttled)
    const error = await apiError(clientOf(baseUrl, { timeout: 6000 }).client.messages.send(hello))
    assert.strictEqual(error.reason, "pair")
    assert.strictEqual(seen.length, 1)
  })

  it("a send waits for a response no longer than its timeout", async () => {
    const { baseUrl } = await serve(() => {})
    const error = await noResponse(
      createClient({ baseUrl, apiKey: "k", timeout: 100 }).messages.send(hello, { idempotencyKey: "k" }),
      "timeout"
    )
    assert.strictEqual(error.idempotencyKey, "k")
  })

  it("the default timeout is 30 seconds, and a request without a response is repeated after 15", async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const begun = Date.now()
    const asked: Array<number> = []
    const silent: typeof fetch = (_, init) =>
      new Promise((_, reject) => {
        asked.push(Date.now() - begun)
        init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason))
      })
    const client = createClient({
      baseUrl: "https://wac.example.com/v1",
      apiKey: "k",
      fetch: silent,
      clock: {
        now: () => Date.now(),
        random: () => 0,
        sleep: (millis) => new Promise((resolve) => setTimeout(resolve, millis))
      }
    })
    const failed = rejected(client.messages.send(hello)).then((error) => [error, Date.now() - begun] as const)
    await vi.advanceTimersByTimeAsync(60_000)
    const [error, after] = await failed
    if (!(error instanceof WacError)) return assert.fail(`${error}`)
    assert.deepEqual([error.reason, after, asked], ["timeout", 30_000, [0, 15_500]] as never)
  })

  it("a call's own timeout, retries and signal override the client's", async () => {
    const { baseUrl, seen } = await serve(throttled)
    const { client } = clientOf(baseUrl, { retries: 0, timeout: 1 })
    const error = await apiError(client.messages.send(hello, { retries: 2, timeout: 20_000 }))
    assert.deepEqual([error.reason, seen.length], ["pair", 3] as never)
    await apiError(clientOf(baseUrl).client.messages.get("msg_1", { retries: 0 }))
    assert.strictEqual(seen.length, 4)
    const aborted = AbortSignal.abort(new Error("enough"))
    assert.strictEqual(
      (await rejected(client.templates.list({}, { signal: aborted }).toArray()) as Error).message,
      "enough"
    )
    assert.strictEqual(seen.length, 4)
  })

  it("a call's options that are undefined count as omitted, so that the client's hold", async () => {
    const { baseUrl, seen } = await serve(throttled)
    const { client } = clientOf(baseUrl, { retries: 0 })
    const undefinedOptions: object = { retries: undefined, timeout: undefined, signal: undefined }
    await apiError(client.messages.get("msg_1", undefinedOptions))
    await apiError(client.messages.send(hello, undefinedOptions))
    assert.strictEqual(seen.length, 2)
  })

  it.each([
    [{ timeout: 0 }, "timeout", "invalid_field"],
    [{ timeout: NaN }, "timeout", "invalid_field"],
    [{ retries: -1 }, "retries", "invalid_field"],
    [{ retries: 1.5 }, "retries", "invalid_field"],
    [{ idempotencyKey: "" }, "idempotencyKey", "invalid_idempotency_key"],
    [{ idempotencyKey: "two words" }, "idempotencyKey", "invalid_idempotency_key"],
    [{ idempotencyKey: "é" }, "idempotencyKey", "invalid_idempotency_key"],
    [{ idempotencyKey: "x".repeat(256) }, "idempotencyKey", "invalid_idempotency_key"],
    [{ singal: undefined }, "singal", "unknown_field"]
  ])("a send is refused before any request with %j", async (options, param, reason) => {
    const { baseUrl, seen } = await serve(json(200, sent))
    const error = await apiError(clientOf(baseUrl).client.messages.send(hello, options as SendOptions))
    assert.deepInclude(error as object, { code: "invalid_body", param, reason, status: 400 })
    assert.include(error.message, param)
    assert.strictEqual(seen.length, 0)
  })

  it("what JSON cannot hold is refused before any request", async () => {
    const { baseUrl, seen } = await serve(json(200, sent))
    const { client } = clientOf(baseUrl)
    const cycle: Record<string, unknown> = { ...hello }
    cycle["self"] = cycle
    for (const content of [cycle, { ...hello, count: 1n }]) {
      const error = await apiError(client.messages.send(content as unknown as typeof hello))
      assert.deepInclude(error as object, { code: "invalid_body", reason: "invalid_field", status: 400 })
      const refused = await apiError(client.campaigns.addRecipients("cmp_1", [content] as never))
      assert.deepInclude(refused as object, { code: "invalid_body", reason: "invalid_field", status: 400 })
    }
    assert.strictEqual(seen.length, 0)
  })

  it("a result has its response: request id, limits, whether it is a replay, and the number of attempts", async () => {
    const { baseUrl } = await serve(
      throttled,
      json(200, sent, {
        "request-id": "req_2",
        "idempotent-replayed": "true",
        "ratelimit-policy": "\"workspace\";q=200;w=2, \"pair\";q=45;w=270",
        "ratelimit": "\"workspace\";r=199;t=1, \"pair\";r=44;t=6"
      }),
      json(200, sent)
    )
    const { client } = clientOf(baseUrl)
    const { headers, ...response } = (await client.messages.send(hello)).lastResponse
    assert.deepEqual(response, {
      status: 200,
      requestId: "req_2",
      replayed: true,
      attempts: 2,
      limits: [
        { name: "workspace", remaining: 199, resetAfter: 1000, quota: 200, window: 2000 },
        { name: "pair", remaining: 44, resetAfter: 6000, quota: 45, window: 270_000 }
      ]
    })
    assert.strictEqual(headers.get("content-type"), "application/json")
    const plain = await client.messages.send(hello)
    assert.deepEqual(
      [plain.lastResponse.replayed, plain.lastResponse.limits, plain.lastResponse.requestId],
      [false, [], undefined] as never
    )
    assert.deepEqual(Object.keys(plain), Object.keys(result))
  })

  it("an error has its response, and the page that explains the error", async () => {
    const { baseUrl } = await serve(json(403, {
      error: { code: "forbidden", reason: "opted_out", message: "x", request_id: "req_1", doc_url: "https://x/docs" }
    }, { "request-id": "req_1" }))
    const error = await apiError(clientOf(baseUrl).client.messages.send(hello))
    assert.deepEqual([error.docUrl, error.lastResponse?.requestId, error.lastResponse?.status], [
      "https://x/docs",
      "req_1",
      403
    ] as never)
  })

  it("the hooks get each request, response, retry and failure, without secrets", async () => {
    const { baseUrl, seen } = await serve(throttled, broken, failing(403, "forbidden", "opted_out"))
    const told: Array<readonly [name: string, report: Readonly<Record<string, unknown>>]> = []
    const tell = (name: string) => (report: object) => void told.push([name, { ...report }])
    const kept: Array<Headers> = []
    const { client } = clientOf(baseUrl, {
      signingSecret: "whsec_secret",
      hooks: {
        onRequest: (request) => {
          kept.push(request.headers)
          told.push(["request", { ...request, headers: Object.fromEntries(request.headers) }])
          request.headers.set("traceparent", `of-${request.attempt}`)
        },
        onResponse: tell("response"),
        onRetry: tell("retry"),
        onError: tell("error")
      }
    })
    await apiError(client.messages.send(hello, { idempotencyKey: "k" }))
    assert.deepEqual(
      told.map(([name, { attempt, status, waitMs }]) => [name, attempt, status ?? waitMs]),
      [
        ["request", 1, undefined],
        ["response", 1, 429],
        ["retry", 1, 6000],
        ["request", 2, undefined],
        ["retry", 2, 1000],
        ["request", 3, undefined],
        ["response", 3, 403],
        ["error", 3, undefined]
      ]
    )
    for (const [, { idempotencyKey, method, url }] of told) {
      assert.deepEqual([method, url, idempotencyKey], ["POST", `${baseUrl}/messages`, "k"])
    }
    assert.deepEqual(seen.map(({ headers }) => headers["traceparent"]), ["of-1", "of-2", "of-3"])
    assert.notMatch(JSON.stringify(told), /wac_live_x|whsec_|v1=|authorization/i)
    // a hook may keep the headers and read them after the request was sent
    for (const headers of kept) {
      assert.deepStrictEqual([headers.get("authorization"), headers.get("x-service-signature")], [null, null])
    }
    assert.strictEqual(seen[0]!.headers.authorization, "Bearer wac_live_x")
    assert.isString(seen[0]!.headers["x-service-signature"])
  })

  it("the hooks get the response with a file, as that with JSON", async () => {
    const { baseUrl } = await serve((response) => {
      response.writeHead(206, { "content-type": "text/plain", "content-range": "bytes 0-0/10" }).end("0")
    })
    const told: Array<unknown> = []
    const { client } = clientOf(baseUrl, { hooks: { onResponse: ({ status, url }) => void told.push([status, url]) } })
    await client.media.open("med_1")
    assert.deepStrictEqual(told, [[206, `${baseUrl}/media/med_1`]])
  })

  it("an empty file whose response names no type has the general type", async () => {
    const { baseUrl } = await serve((response) => response.writeHead(416, { "content-range": "bytes */0" }).end())
    const { client } = clientOf(baseUrl)
    const { mimeType, size, stream } = await client.media.open("med_1")
    assert.deepEqual([mimeType, size], ["application/octet-stream", 0])
    assert.strictEqual(await new Response(stream()).text(), "")
  })

  describe("a file's stream", () => {
    const size = 1_000_000
    const first: Answer = (response) =>
      void response.writeHead(206, { "content-type": "image/png", "content-range": `bytes 0-0/${size}` }).end("0")

    /** A server that has the file; `content` gets the response to the request for the whole of it. */
    const stored = async (content: Answer) => {
      const asked = Promise.withResolvers<ServerResponse>()
      const left = Promise.withResolvers<void>()
      const { baseUrl, seen } = await serve(first, (response, request) => {
        response.once("close", left.resolve)
        content(response, request)
        asked.resolve(response)
      })
      return { baseUrl, seen, asked: asked.promise, left: left.promise }
    }
    const headersOnly: Answer = (response) => void response.writeHead(206).flushHeaders()
    const aPiece: Answer = (response) => void response.writeHead(206).write("0123456789")

    it("a stream that is cancelled while its response goes on ends its request", async () => {
      const { baseUrl, left } = await stored(aPiece)
      const { stream } = await clientOf(baseUrl).client.media.open("med_1")
      const reader = stream().getReader()
      assert.strictEqual((await reader.read()).value!.length, 10)
      await reader.cancel()
      await left
    })

    it.each([["before", () => {}], ["after", headersOnly]] as const)(
      "a stream that is cancelled %s its headers have come ends its request",
      async (_, content) => {
        const { asked, baseUrl, left } = await stored(content)
        const { stream } = await clientOf(baseUrl).client.media.open("med_1")
        const reader = stream().getReader()
        await asked
        await reader.cancel()
        await left
      }
    )

    const whole: Answer = (response) => void response.writeHead(206).end("0123456789")
    const breaking: Answer = (response) => {
      response.writeHead(206, { "content-length": 20 }).write("0123456789", () => response.destroy())
    }

    it.each<[string, Answer, (reader: ReadableStreamDefaultReader) => Promise<unknown>]>([
      ["read to its end", whole, (reader) => reader.read().then(() => reader.read())],
      ["broken", breaking, (reader) => reader.read().then(() => rejected(reader.read()))],
      ["refused", failing(404, "not_found", "not_found"), (reader) => rejected(reader.read())],
      ["cancelled", aPiece, (reader) => reader.read().then(() => reader.cancel())]
    ])("a stream that was %s leaves no listener on the call's signal", async (_, content, use) => {
      const { baseUrl } = await stored(content)
      const { signal } = new AbortController()
      const { stream } = await clientOf(baseUrl).client.media.open("med_1", { signal })
      await use(stream().getReader())
      assert.lengthOf(getEventListeners(signal, "abort"), 0)
    })

    it.each([["before its response begins", () => {}], ["while its response goes on", aPiece]] as const)(
      "the signal of the call ends a stream %s",
      async (_, content) => {
        const { asked, baseUrl, left } = await stored(content)
        const leaving = new AbortController()
        const { stream } = await clientOf(baseUrl).client.media.open("med_1", { signal: leaving.signal })
        const reader = stream().getReader()
        if (content === aPiece) await reader.read()
        else await asked
        const reason = new Error("no longer needed")
        leaving.abort(reason)
        assert.strictEqual(await rejected(reader.read()), reason)
        await left
        assert.strictEqual(await rejected(stream().getReader().read()), reason)
      }
    )

    it("the options of the call hold for the request of a stream", async () => {
      const { baseUrl, seen } = await stored(failing(503, "server_error", "storage_unavailable"))
      const { stream } = await clientOf(baseUrl).client.media.open("med_1", { retries: 1 })
      const error = await apiError(stream().getReader().read())
      assert.deepEqual([error.reason, seen.length], ["storage_unavailable", 3])
    })
  })

  it("a send goes out even if a hook throws, and the hook's error is printed", async () => {
    const printed = vi.spyOn(console, "error").mockImplementation(() => {})
    onTestFinished(() => printed.mockRestore())
    const { baseUrl, seen } = await serve(json(200, sent))
    const mistaken = () => {
      throw new Error("of the hook")
    }
    const { client } = clientOf(baseUrl, { hooks: { onRequest: mistaken, onResponse: mistaken } })
    assert.deepEqual(await client.messages.send(hello), result as never)
    assert.deepEqual([seen.length, printed.mock.calls.length], [1, 2])
  })

  it("a send goes out even if a hook rejects, and the hook's error is printed", async () => {
    const error = new Error("of the hook")
    const { promise, resolve } = Promise.withResolvers<unknown>()
    const printed = vi.spyOn(console, "error").mockImplementation(resolve)
    onTestFinished(() => printed.mockRestore())
    const { baseUrl } = await serve(json(200, sent))
    const { client } = clientOf(baseUrl, { hooks: { onResponse: () => Promise.reject(error) } })
    assert.deepEqual(await client.messages.send(hello), result as never)
    assert.strictEqual(await promise, error)
  })

  it("an unreachable service is reported with the key of the send", async () => {
    const { baseUrl } = await serve(broken)
    const error = await noResponse(
      clientOf(baseUrl, { retries: 1 }).client.messages.send(hello, { idempotencyKey: "k" }),
      "unreachable"
    )
    assert.deepEqual([error.idempotencyKey, error.status], ["k", undefined])
  })

  it("an intermediary's page does not count as a response", async () => {
    const { baseUrl, seen } = await serve((response) => response.writeHead(403).end("<h1>Forbidden</h1>"))
    const error = await noResponse(clientOf(baseUrl).client.messages.send(hello), "unexpected_response")
    assert.deepEqual([error.status, seen.length], [403, 1])
  })

  it("redirects are not followed, because the key is for one service", async () => {
    const elsewhere = await serve(json(200, sent))
    const { baseUrl, seen } = await serve((response) => response.writeHead(307, { location: elsewhere.baseUrl }).end())
    const error = await noResponse(clientOf(baseUrl).client.messages.send(hello), "unexpected_response")
    assert.deepEqual([error.status, seen.length], [307, 1])
    assert.deepEqual(elsewhere.seen, [])
  })

  it("the signal ends a call during a request and between two", async () => {
    const { baseUrl } = await serve(() => {})
    const calling = new AbortController()
    const call = rejected(clientOf(baseUrl).client.messages.send(hello, { signal: calling.signal }))
    calling.abort(new Error("enough"))
    assert.strictEqual((await call as Error).message, "enough")

    const failing = await serve(throttled)
    const waiting = new AbortController()
    const wait = rejected(
      createClient({ baseUrl: failing.baseUrl, apiKey: "k" }).messages.send(hello, { signal: waiting.signal })
    )
    while (failing.seen.length === 0) await new Promise(setImmediate)
    waiting.abort(new Error("enough"))
    assert.strictEqual((await wait as Error).message, "enough")
    assert.strictEqual(failing.seen.length, 1)
  })

  it("every attempt has a new signature if there is a signing secret", async () => {
    const { baseUrl, seen } = await serve(throttled, json(200, sent))
    const { client, now } = clientOf(baseUrl, { signingSecret: "whsec_secret" })
    const begun = now()
    await client.messages.send(hello)
    const times = []
    for (const { body, headers, method, target } of seen) {
      const payload = requestPayload({ method, target, idempotencyKey: headers["idempotency-key"] as string, body })
      const verified = await verify(payload, headers["x-service-signature"] as string, "whsec_secret", {
        now: now() / 1000
      })
      if (!verified.ok) return assert.fail(verified.reason)
      times.push(verified.timestamp * 1000 - begun)
    }
    assert.deepEqual(times, [0, 6000])
  })
})

describe("a message", () => {
  it("a message is requested by its id, whatever characters the id contains", async () => {
    const { baseUrl, seen } = await serve(json(200, { message_id: "msg_1" }))
    const { client } = clientOf(baseUrl, { signingSecret: "whsec_secret" })
    assert.strictEqual((await client.messages.get("msg_1/../x?y")).messageId, "msg_1")
    assert.strictEqual(seen[0]!.target, "/v1/messages/msg_1%2F..%2Fx%3Fy")
    assert.notProperty(seen[0]!.headers, "x-service-signature")
  })
})

describe("a list", () => {
  const page = (ids: ReadonlyArray<string>, next: string | null) =>
    json(200, { data: ids.map((id) => ({ id })), has_more: next !== null, next_cursor: next })

  it("a list is read page by page, each when it is needed", async () => {
    const { baseUrl, seen } = await serve(page(["a", "b"], "c/1"), page(["c"], null))
    const { client } = clientOf(baseUrl)
    const ids = []
    for await (const { id } of client.events.list({ since: 0, type: "message.sent" })) {
      ids.push(id)
      if (id === "b") assert.strictEqual(seen.length, 1)
    }
    assert.deepEqual(ids, ["a", "b", "c"])
    assert.deepEqual(seen.map(({ target }) => target), [
      "/v1/events?since=1970-01-01T00%3A00%3A00.000Z&type=message.sent&limit=100",
      "/v1/events?since=1970-01-01T00%3A00%3A00.000Z&type=message.sent&limit=100&cursor=c%2F1"
    ])
  })

  it("a list returns its pages, and each iteration starts again", async () => {
    const { baseUrl, seen } = await serve(page(["a"], null))
    const list = clientOf(baseUrl).client.templates.list({ status: "approved" })
    for (let i = 0; i < 2; i++) {
      for await (const { data, nextCursor } of list.pages({ cursor: "x", limit: 2 })) {
        assert.deepEqual([data.map(({ id }) => id), nextCursor], [["a"], null])
      }
    }
    assert.deepEqual((await list.page()).data.map(({ id }) => id), ["a"])
    assert.deepEqual(seen.map(({ target }) => target), [
      "/v1/templates?status=approved&limit=2&cursor=x",
      "/v1/templates?status=approved&limit=2&cursor=x",
      "/v1/templates?status=approved"
    ])
  })

  it("a list is collected into an array, whole or limited, without further requests", async () => {
    const { baseUrl, seen } = await serve(page(["a", "b"], "c"), page(["c"], null), page(["a", "b"], "c"))
    const list = clientOf(baseUrl).client.messages.list({ status: "failed", until: new Date(0) })
    assert.deepEqual((await list.toArray() as ReadonlyArray<{ readonly id?: string }>).map(({ id }) => id), [
      "a",
      "b",
      "c"
    ])
    assert.strictEqual((await list.toArray(2)).length, 2)
    assert.strictEqual((await list.toArray(0)).length, 0)
    assert.strictEqual(seen.length, 3)
    assert.strictEqual(seen[0]!.target, "/v1/messages?status=failed&until=1970-01-01T00%3A00%3A00.000Z&limit=100")
  })

  it("a list ends with the last page, whose cursor leads to later items", async () => {
    const { baseUrl, seen } = await serve(
      json(200, { data: [{ id: "a" }], has_more: false, next_cursor: "later" }, { "request-id": "req_1" })
    )
    const told = []
    for await (
      const { lastResponse, nextCursor } of clientOf(baseUrl).client.events.list({ order: "newest" }).pages()
    ) {
      told.push([nextCursor, lastResponse.requestId])
    }
    assert.deepEqual(told, [["later", "req_1"]])
    assert.deepEqual(seen.map(({ target }) => target), ["/v1/events?order=newest&limit=100"])
  })

  it("a list retries a failed page", async () => {
    const { baseUrl } = await serve(page(["a"], "c"), throttled, page(["b"], null))
    const ids = []
    for await (const { id } of clientOf(baseUrl).client.templates.list()) ids.push(id)
    assert.deepEqual(ids, ["a", "b"])
  })
})

describe("a client", () => {
  it.each([
    ["not an address", "wac_live_x"],
    ["wac.example.com/v1", "wac_live_x"],
    ["localhost:8080/v1", "wac_live_x"],
    ["https://wac.example.com", "wac_live_x"],
    ["https://wac.example.com/v1?x=1", "wac_live_x"],
    ["https://wac.example.com/v1", ""],
    ["https://wac.example.com/v1", "two words"],
    ["https://wac.example.com/v1", undefined as unknown as string]
  ])("no client is made of %j and %j", (baseUrl, apiKey) => {
    assert.throws(() => createClient({ baseUrl, apiKey }), WacError, / must be /)
  })

  it("the client keeps the path before /v1, with or without a trailing slash", async () => {
    const { baseUrl, seen } = await serve(json(200, sent))
    for (const path of ["/team/v1", "/team/v1/"]) {
      await clientOf(new URL(path, baseUrl).href).client.messages.send(hello)
    }
    assert.deepEqual(seen.map(({ target }) => target), ["/team/v1/messages", "/team/v1/messages"])
  })

  it("the client cannot be created in a browser", () => {
    const browser = globalThis as { document?: unknown }
    browser.document = {}
    try {
      assert.throws(() => createClient({ baseUrl: "https://wac.example.com/v1", apiKey: "k" }), /secrets of servers/)
    } finally {
      delete browser.document
    }
  })
})

describe("a message to be sent later", () => {
  const result = {
    status: "queued",
    messageId: "msg_1",
    workspaceId: "ws_1",
    apiKeyId: "key_1",
    sendAt: "2026-11-22T00:00:00.000Z"
  }
  const queued = {
    status: "queued",
    message_id: "msg_1",
    tenant_id: "ws_1",
    api_key_id: "key_1",
    send_at: "2026-11-22T00:00:00.000Z"
  }

  it("enqueue asks for an answer before the send, with the times as text", async () => {
    const { baseUrl, seen } = await serve(json(202, queued))
    const { client } = clientOf(baseUrl)
    const answer = await client.messages.enqueue(hello, {
      idempotencyKey: "k",
      sendAt: new Date("2026-11-22T00:00:00Z"),
      sendUntil: "2026-11-23"
    })
    assert.deepStrictEqual([{ ...answer }, answer.lastResponse.status], [{ ...result, replayed: false } as never, 202])
    assert.deepInclude(seen[0]!.headers, { prefer: "respond-async", "idempotency-key": "k" })
    assert.deepStrictEqual(JSON.parse(seen[0]!.body), {
      ...hello,
      send_at: "2026-11-22T00:00:00.000Z",
      send_until: "2026-11-23"
    })
  })

  it("enqueue without options queues for now, under a key that retries keep", async () => {
    const { baseUrl, seen } = await serve(running, json(202, queued))
    const { client } = clientOf(baseUrl)
    await client.messages.enqueue(hello)
    assert.deepStrictEqual(seen.map(({ body }) => JSON.parse(body)), [hello, hello])
    assert.strictEqual(seen[0]!.headers["idempotency-key"], seen[1]!.headers["idempotency-key"])
  })

  it("enqueueMany sends each message with its own key and times, and a refusal is an error of its own", async () => {
    const error = { code: "forbidden", reason: "opted_out", param: "send_at", message: "in words", request_id: "req_1" }
    const { baseUrl, seen } = await serve(
      json(200, { results: [queued, { status: "refused", http_status: 403, error }] })
    )
    const { client } = clientOf(baseUrl)
    const results = await client.messages.enqueueMany([
      { ...hello, idempotencyKey: "a", sendAt: new Date("2026-11-22T00:00:00Z"), clientReference: "order" },
      { ...hello, idempotencyKey: "b" }
    ])
    assert.deepStrictEqual(results[0], result as never)
    const [, refused] = results
    if (refused?.status !== "refused") return assert.fail()
    assert.instanceOf(refused.error, WacError)
    assert.deepInclude(refused.error as object, {
      code: "forbidden",
      reason: "opted_out",
      param: "sendAt",
      status: 403,
      requestId: "req_1",
      idempotencyKey: "b"
    })
    assert.strictEqual(results.lastResponse.status, 200)
    assert.strictEqual(seen[0]!.target, "/v1/messages/batch")
    assert.deepStrictEqual(JSON.parse(seen[0]!.body), {
      messages: [
        { ...hello, idempotency_key: "a", send_at: "2026-11-22T00:00:00.000Z", client_reference: "order" },
        { ...hello, idempotency_key: "b" }
      ]
    })
  })

  it("enqueueMany that fails as a whole names no key, since no message has the key of its request", async () => {
    const { baseUrl, seen } = await serve(broken)
    const { client } = clientOf(baseUrl, { retries: 0 })
    const error = await noResponse(client.messages.enqueueMany([{ ...hello, idempotencyKey: "a" }]), "unreachable")
    assert.isUndefined(error.idempotencyKey)
    assert.isString(seen[0]!.headers["idempotency-key"])
  })

  it("cancel deletes the message", async () => {
    const { baseUrl, seen } = await serve(json(200, { message_id: "msg_1", status: "cancelled" }))
    const { client } = clientOf(baseUrl)
    assert.strictEqual((await client.messages.cancel("msg_1")).status, "cancelled")
    assert.deepStrictEqual([seen[0]!.method, seen[0]!.target], ["DELETE", "/v1/messages/msg_1"])
  })

  it("a send whose key has queued the message rejects with a conflict", async () => {
    const { baseUrl } = await serve(json(202, queued, { "request-id": "req_1" }))
    const { client } = clientOf(baseUrl)
    const error = await apiError(client.messages.send(hello, { idempotencyKey: "k" }))
    assert.deepInclude(error as object, {
      code: "idempotency_conflict",
      reason: "payload_mismatch",
      status: 409,
      requestId: "req_1",
      idempotencyKey: "k"
    })
    assert.include(error.message, "msg_1")
  })
})
