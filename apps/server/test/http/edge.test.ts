/**
 * Where strangers meet the server: what is no proper request, answers that come before the request has, pages in
 * browsers, and connections when it stops.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { createHash } from "node:crypto"
import * as checks from "../checks.ts"
import { type Answer, call, hello, noticed, ownPage, ready, start } from "../harness.ts"
import { moving } from "../movable.ts"

/** How many answers came. */
const answersIn = (text: string): number => [...text.matchAll(/HTTP\/1\.1 \d{3} /g)].length

/** A head in these lines, which may lack what `checks.head` always has. */
const lines = (...all: ReadonlyArray<string>) => [...all, "", ""].join("\r\n")

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("a connection", (it) => {
  it.effect.each<[string, string, string | undefined]>([
    ["two hosts", lines("GET /healthz HTTP/1.1", "Host: localhost", "Host: localhost"), "Host"],
    ["two different hosts", lines("GET /healthz HTTP/1.1", "Host: localhost", "Host: evil.example"), "Host"],
    ["an empty host", lines("GET /healthz HTTP/1.1", "Host:"), "Host"],
    ["no host", lines("GET /healthz HTTP/1.1"), "Host"],
    ["an invalid host", lines("GET /healthz HTTP/1.1", "Host: a b"), "Host"],
    ["a host with a path", lines("GET /healthz HTTP/1.1", "Host: localhost/x"), "Host"],
    ["a host with a user", lines("GET /healthz HTTP/1.1", "Host: x@localhost"), "Host"],
    ["a port that is none", lines("GET /healthz HTTP/1.1", "Host: localhost:99999"), "Host"],
    ["HTTP/0.9", lines("GET /healthz HTTP/0.9", "Host: localhost"), undefined],
    ["HTTP/2.0", lines("GET /healthz HTTP/2.0", "Host: localhost"), undefined],
    ["HTTP/9.9", lines("GET /healthz HTTP/9.9", "Host: localhost"), undefined]
  ])(
    "that brings a request with %s gets 400 in the shape of errors, and ends",
    ([, head, param]) =>
      Effect.gen(function*() {
        const { url } = yield* checks.Served
        const { answer, text } = yield* checks.exchange(url, head)
        checks.assertInvalid(answer, "invalid_field", param)
        assert.strictEqual(answer.headers.get("connection"), "close")
        assert.strictEqual(answersIn(text), 1)
      })
  )

  it.effect("a request over HTTP/1.0 needs no Host", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      assert.strictEqual((yield* checks.exchange(url, lines("GET /healthz HTTP/1.0"))).answer.status, 200)
    }))

  /** Requests that are answered before their body has come. */
  const early = (server: checks.Ready): ReadonlyArray<readonly [status: number, request: string, type?: string]> => {
    const key = `Authorization: Bearer ${server.key.apiKey}`
    return [
      [401, "POST /v1/messages HTTP/1.1"],
      [404, "POST /nowhere HTTP/1.1"],
      [405, "POST /healthz HTTP/1.1"],
      [200, "GET /healthz HTTP/1.1"],
      [413, `POST /v1/messages HTTP/1.1\r\n${key}`],
      [415, `POST /v1/messages HTTP/1.1\r\n${key}`, "text/plain"],
      [403, "POST /internal/session HTTP/1.1\r\nOrigin: https://evil.example"]
    ]
  }

  it.effect("a connection ends after a response to an incomplete request, and no later request runs", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const messages = call(`${server.url}/internal/messages`, { headers: server.session })
      const before = (yield* messages).text
      const body = JSON.stringify(hello())
      for (const [status, request, type = "application/json"] of early(server)) {
        const connection = yield* checks.connect(server.url)
        const rest = 70_000
        yield* connection.write(
          lines(request, "Host: localhost", `Content-Type: ${type}`, `Content-Length: ${rest}`) + "{"
        )
        yield* checks.until(connection.peek, (text) => text.includes("\r\n\r\n"))
        // the rest, and a request behind it
        yield* Effect.ignore(connection.write(
          " ".repeat(rest - 1) + lines(
            "POST /v1/messages HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            `Authorization: Bearer ${server.key.apiKey}`,
            `Idempotency-Key: ${crypto.randomUUID()}`,
            `Content-Length: ${body.length}`
          ) + body
        ))
        const { answer, text } = yield* connection.read
        assert.strictEqual(answer.status, status, text)
        assert.strictEqual(answer.headers.get("connection"), "close", request)
        assert.strictEqual(answersIn(text), 1, text)
      }
      assert.strictEqual((yield* messages).text, before)
    }))

  it.effect("a connection continues after an early response to a complete request", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      for (const [status, request, type = "application/json"] of early(server)) {
        if (status === 413) continue
        const connection = yield* checks.connect(server.url)
        yield* connection.write(
          lines(request, "Host: localhost", `Content-Type: ${type}`, "Content-Length: 2") + "{}" +
            checks.head("GET /healthz")
        )
        const { answer, text } = yield* connection.read
        assert.deepStrictEqual([answer.status, answersIn(text)], [status, 2], text)
      }
    }))

  it.effect("pipelined requests get their responses in order", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const count = 100
      const paths = Array.from({ length: count }, (_, i) => `/nowhere/${i}`)
      const { text } = yield* checks.exchange(
        url,
        paths.map((path) => lines(`GET ${path} HTTP/1.1`, "Host: localhost")).join("") + checks.head("GET /healthz")
      )
      assert.strictEqual(answersIn(text), count + 1)
      assert.isTrue(text.endsWith("{\"status\":\"ok\"}"))
    }))
})

describe("a body", () => {
  it.live("a body that does not arrive within 30 s is refused at every endpoint, and the connection ends", () =>
    Effect.gen(function*() {
      const { key, pass, session, url } = yield* moving(ready())
      for (
        const [path, ...headers] of [
          ["/v1/messages", `Authorization: Bearer ${key.apiKey}`],
          ["/internal/api-keys", `Cookie: ${session.cookie}`, "Sec-Fetch-Site: same-origin"],
          ["/internal/session", "Sec-Fetch-Site: same-origin"]
        ]
      ) {
        for (const framing of ["Content-Length: 100", "Transfer-Encoding: chunked", "Expect: 100-continue"]) {
          const connection = yield* checks.connect(url)
          const length = framing.startsWith("Expect") ? ["Content-Length: 100"] : []
          yield* connection.write(
            lines(
              `POST ${path} HTTP/1.1`,
              "Host: localhost",
              "Content-Type: application/json",
              `Idempotency-Key: ${crypto.randomUUID()}`,
              ...headers,
              ...length,
              framing
            )
          )
          yield* noticed(url)
          // a byte now and then does not help
          yield* connection.write(framing.startsWith("Transfer") ? "1\r\n{\r\n" : "{")
          yield* noticed(url)
          yield* pass("29 seconds")
          yield* noticed(url)
          assert.notInclude(yield* connection.peek, " 400 ")
          yield* pass("1 second")
          const { text } = yield* connection.read
          assert.match(text, /HTTP\/1\.1 400 Bad Request\r\n[^]*connection: close\r\n/i)
          assert.match(text, /"reason":"malformed_json"/)
        }
      }
    }).pipe(Effect.scoped))
})

describe("pages in browsers", () => {
  const pages = ["/dashboard", "/dashboard/setup", "/docs", "/docs/errors"]

  const policyOf = (answer: Answer): string => answer.headers.get("content-security-policy") ?? ""

  it.live("security.txt names the contact that the operator gave, and expires within a year", () =>
    Effect.gen(function*() {
      const { url } = yield* start({ environment: { SECURITY_CONTACT: "security@example.com" } })
      const answer = yield* call(`${url}/.well-known/security.txt`)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-type"), "text/plain; charset=utf-8")
      const fields = new Map(answer.text.trimEnd().split("\n").map((line) => line.split(": ") as [string, string]))
      assert.sameMembers([...fields.keys()], ["Contact", "Expires"])
      assert.strictEqual(fields.get("Contact"), "mailto:security@example.com")
      assert.match(fields.get("Expires")!, checks.timeShape)
      assert.isAbove(Date.parse(fields.get("Expires")!), checks.now())
      assert.isBelow(Date.parse(fields.get("Expires")!), checks.now() + 365 * 24 * 60 * 60 * 1000)
    }).pipe(Effect.scoped))

  it.live("without a contact there is no security.txt", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      checks.assertError(yield* call(`${url}/.well-known/security.txt`), 404, { code: "not_found" })
    }).pipe(Effect.scoped))

  it.live("every page forbids framing and sends no referrer", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      for (const path of pages) {
        const answer = yield* call(url + path)
        assert.strictEqual(answer.status, 200, path)
        assert.include(policyOf(answer), "frame-ancestors 'none'", path)
        assert.strictEqual(answer.headers.get("x-frame-options"), "DENY")
        assert.strictEqual(answer.headers.get("referrer-policy"), "no-referrer")
        assert.strictEqual(answer.headers.get("cross-origin-opener-policy"), "same-origin")
        assert.strictEqual(answer.headers.get("cross-origin-resource-policy"), "same-origin")
        for (const feature of ["camera", "microphone", "geolocation", "payment", "usb"]) {
          assert.include(answer.headers.get("permissions-policy")!.split(", "), `${feature}=()`)
        }
        assert.isNull(answer.headers.get("strict-transport-security"))
      }
      // and what is no page costs no more than it did
      for (const path of ["/healthz", "/nowhere"]) {
        assert.isNull((yield* call(url + path)).headers.get("content-security-policy"))
      }
    }).pipe(Effect.scoped))

  it.live("no response but the framed portal can be embedded by pages of other origins, whether it is a page, a result, an error or a stream", () =>
    Effect.gen(function*() {
      const { key, session, url } = yield* ready()
      const opened = { authorization: `Bearer ${key.apiKey}` }
      const responses = [
        ["/healthz", {}, 200],
        ["/openapi.json", {}, 200],
        ["/dashboard", {}, 200],
        ["/nowhere", {}, 404],
        ["/v1/templates", {}, 401],
        ["/v1/templates", opened, 200],
        ["/internal/members", session, 200],
        ["/internal/messages?limit=0", session, 400],
        ["/internal/stream", session, 200]
      ] as const
      for (const [path, headers, status] of responses) {
        const answer = yield* call(url + path, { headers })
        assert.deepStrictEqual(
          [answer.status, answer.headers.get("cross-origin-resource-policy")],
          [status, "same-origin"],
          path
        )
      }
    }).pipe(Effect.scoped))

  it.live("pages run only their own scripts and styles", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      for (const path of ["/dashboard", "/dashboard/setup", "/docs/errors"]) {
        const answer = yield* call(url + path)
        const policy = policyOf(answer)
        assert.include(policy, "default-src 'none'")
        assert.notInclude(policy, "unsafe")
        for (const element of ["script", "style"]) {
          for (const [, text] of answer.text.matchAll(new RegExp(`<${element}>([^]*?)</${element}>`, "g"))) {
            const hash = createHash("sha256").update(text!).digest("base64")
            const sources = policy.split("; ").find((directive) => directive.startsWith(`${element}-src `))
            assert.include(sources, `'sha256-${hash}'`, path)
          }
        }
        assert.notMatch(answer.text, / (style|on\w+)=/, "neither can run by this policy")
      }
      assert.notInclude(policyOf(yield* call(`${url}/docs/errors`)), "script-src 'sha256")
    }).pipe(Effect.scoped))

  it.live("with an https address, every response has Strict-Transport-Security", () =>
    Effect.gen(function*() {
      const { url } = yield* start({ environment: { PUBLIC_URL: "https://wac.example" } })
      for (const path of [...pages, "/healthz", "/nowhere", "/v1/messages/x"]) {
        assert.strictEqual((yield* call(url + path)).headers.get("strict-transport-security"), "max-age=31536000", path)
      }
      const plain = yield* start({ environment: { PUBLIC_URL: "http://wac.example" } })
      assert.isNull((yield* call(plain.url)).headers.get("strict-transport-security"))
    }).pipe(Effect.scoped))

  /** Tries to make a key in a session, as a page somewhere has the browser do it. */
  const fromPage = Effect.fnUntraced(function*(
    { session: { cookie }, url }: Pick<checks.Ready, "session" | "url">,
    headers: { readonly [name: string]: string }
  ) {
    const body = JSON.stringify({ name: "x" })
    const { answer } = yield* checks.exchange(
      url,
      lines(
        "POST /internal/api-keys HTTP/1.1",
        "Connection: close",
        `Cookie: ${cookie}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        `Idempotency-Key: ${crypto.randomUUID()}`,
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
      ) + body
    )
    return answer
  })

  const refused = (param: string) => ({ code: "forbidden", reason: "cross_site", param })

  it.live("a page of another site cannot create a key, whatever its name resolves to", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const { host } = new URL(server.url)
      const rebound = { Host: "evil.example", Origin: "http://evil.example" }
      checks.assertError(yield* fromPage(server, rebound), 403, refused("Origin"))
      const crossSite = { Host: host, Origin: server.url, "Sec-Fetch-Site": "cross-site" }
      checks.assertError(yield* fromPage(server, crossSite), 403, refused("Sec-Fetch-Site"))
      const otherScheme = { Host: host, Origin: `https://${host}` }
      checks.assertError(yield* fromPage(server, otherScheme), 403, refused("Origin"))
      assert.strictEqual((yield* fromPage(server, { Host: host, Origin: server.url })).status, 201)
    }).pipe(Effect.scoped))

  it.live("if PUBLIC_URL is set, it alone decides which pages are our own", () =>
    Effect.gen(function*() {
      const server = yield* ready({ environment: { PUBLIC_URL: "http://localhost:4711" } })
      const { host } = new URL(server.url)
      for (const name of [host, "evil.example", "localhost:4711"]) {
        for (const Origin of [server.url, "http://evil.example", "https://localhost:4711"]) {
          for (const site of [{}, ownPage]) {
            checks.assertError(yield* fromPage(server, { Host: name, Origin, ...site }), 403, refused("Origin"))
          }
        }
        assert.strictEqual((yield* fromPage(server, { Host: name, Origin: "http://localhost:4711" })).status, 201)
      }
    }).pipe(Effect.scoped))

  it.live("if PUBLIC_URL names another host, nobody reads metrics without a token: a proxy may name none of its clients", () =>
    Effect.gen(function*() {
      const ask = (url: string, ...headers: ReadonlyArray<string>) =>
        Effect.map(
          checks.exchange(
            url,
            lines("GET /metrics HTTP/1.1", "Connection: close", `Host: ${new URL(url).host}`, ...headers)
          ),
          ({ answer }) => answer
        )
      const { url } = yield* start({ environment: { PUBLIC_URL: "https://wac.example" } })
      const refused = yield* ask(url)
      checks.assertError(refused, 404, { code: "not_found" })
      assert.match(refused.text, /METRICS_TOKEN/)
      const withToken = yield* start({
        environment: { PUBLIC_URL: "https://wac.example", METRICS_TOKEN: "watch-4711" }
      })
      assert.strictEqual((yield* ask(withToken.url, "Authorization: Bearer watch-4711")).status, 200)
      for (const own of ["http://localhost:4711", "http://[::1]:4711"]) {
        const near = yield* start({ environment: { PUBLIC_URL: own } })
        assert.strictEqual((yield* ask(near.url)).status, 200, own)
      }
    }).pipe(Effect.scoped))

  it.live("without a token, metrics are served only at a name of this machine", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      const { port } = new URL(url)
      const ask = (host: string) =>
        Effect.map(
          checks.exchange(url, lines("GET /metrics HTTP/1.1", "Connection: close", `Host: ${host}`)),
          ({ answer }) => answer
        )
      for (const host of ["localhost", `LocalHost:${port}`, "127.0.0.1", "127.1.2.3", `[::1]:${port}`, "a.localhost"]) {
        assert.strictEqual((yield* ask(host)).status, 200, host)
      }
      for (const host of ["evil.example", `evil.example:${port}`, "localhost.evil.example", "10.0.0.1", "[fd00::1]"]) {
        checks.assertError(yield* ask(host), 404, { code: "not_found" })
      }
      const withToken = yield* start({ environment: { METRICS_TOKEN: "watch-4711" } })
      const { answer } = yield* checks.exchange(
        withToken.url,
        lines("GET /metrics HTTP/1.1", "Connection: close", "Host: wac.example", "Authorization: Bearer watch-4711")
      )
      assert.strictEqual(answer.status, 200)
    }).pipe(Effect.scoped))
})

describe("a stop", () => {
  it.live("a stop completes requests in flight, refuses joining requests immediately, and ends every connection", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const server = yield* Scope.provide(ready(), scope)
      const key = crypto.randomUUID()
      const body = JSON.stringify(hello("+15005550010"))
      const sending = lines(
        "POST /v1/messages HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        `Authorization: Bearer ${server.key.apiKey}`,
        `Idempotency-Key: ${key}`,
        `Content-Length: ${body.length}`
      ) + body
      const [first, joining, idle] = [
        yield* checks.connect(server.url),
        yield* checks.connect(server.url),
        yield* checks.connect(server.url)
      ]
      yield* idle.write(lines("GET /healthz HTTP/1.1", "Host: localhost"))
      yield* checks.until(idle.peek, (text) => text.includes("ok"))
      yield* first.write(sending)
      // the sandbox takes 3 s to answer
      yield* checks.until(
        call(`${server.url}/internal/messages?status=sending`, { headers: server.session }),
        ({ body }) => body.data.length === 1
      )
      yield* joining.write(sending)
      yield* noticed(server.url)
      const stopping = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })

      const refused = yield* joining.read
      checks.assertError(refused.answer, 503, { code: "server_error", reason: "in_progress" })
      assert.strictEqual(refused.answer.headers.get("connection"), "close")
      assert.strictEqual(answersIn((yield* idle.read).text), 1)
      assert.strictEqual(yield* first.peek, "")
      const { answer } = yield* first.read
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(answer.headers.get("connection"), "close")
      yield* Fiber.join(stopping)
    }).pipe(Effect.scoped))
})
