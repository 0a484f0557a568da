/**
 * Bad input of every kind: it never gives a 5xx, never tells of what is inside, and is always answered as the OpenAPI
 * document says. Seeded, so that a failure that names its seed can be run again.
 */
import { assert, layer, type Vitest } from "@effect/vitest"
import { Api, EndpointAnnotations } from "@wac/api"
import { Password } from "@wac/core"
import * as Extent from "@wac/testbed/Extent"
import { SeededRandom } from "@wac/testkit"
import { Context, Effect, Layer, type Scope } from "effect"
import { OpenApi } from "effect/http-api"
import * as http from "node:http"
import * as net from "node:net"
import * as checks from "../checks.ts"
import * as Documented from "../documented.ts"
import { type Answer, call, hello, ready, send, signIn } from "../harness.ts"
import * as Things from "../keys/things.ts"
import { join } from "../people/joining.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"

/** Another seed by the environment, to look further than every run does. */
const seed = Number(process.env["FUZZ_SEED"] ?? 20_261_124)

/** Requests of each kind in memory. */
const size = Extent.of(400, 7_000)

/** A stream has no end that an answer could be judged by, and files have tests of their own. */
const endpoints = Object.values(Api.groups).flatMap((group) => Object.values(group.endpoints)).filter((endpoint) =>
  !EndpointAnnotations.has(endpoint, EndpointAnnotations.Streams) &&
  Context.get(endpoint.annotations, EndpointAnnotations.TakesFile).length === 0
)

type Random = SeededRandom.SeededRandom

const times = <A>(random: Random, limit: number, one: () => A): Array<A> =>
  Array.from({ length: random.below(limit + 1) }, one)

const bytes = (random: Random, limit: number): Buffer => Buffer.from(times(random, limit, () => random.below(256)))

/** Text of any characters, the troublesome ones more often. */
const anyText = (random: Random, limit = 20): string =>
  times(random, limit, () =>
    random.pick([
      () => String.fromCharCode(0x20 + random.below(0x5f)),
      () => String.fromCharCode(random.below(0x20)),
      () => String.fromCharCode(random.below(0x10000)),
      () => String.fromCodePoint(0x10000 + random.below(0x100000)),
      () =>
        random.pick([
          "\ud800",
          "\udc00",
          "\u0000",
          "\u2028",
          "\ufeff",
          "%",
          "'",
          "\"",
          "\\",
          "/",
          "{{1}}",
          "é",
          "\u202e"
        ])
    ])()).join("")

/** What an HTTP library lets through as a header's value. */
const headerText = (random: Random, limit = 30): string =>
  times(random, limit, () =>
    String.fromCharCode(
      random.pick([0x20 + random.below(0x5f), 0x80 + random.below(0x80), 0x09, 0x22, 0x25, 0x2c, 0x3b, 0x3d])
    )).join("").trim()

/** What an HTTP library lets through as a part of a target. */
const targetText = (random: Random, limit = 30): string =>
  times(random, limit, () =>
    random.pick([
      () => String.fromCharCode(0x21 + random.below(0x5e)),
      () => `%${random.pick(["00", "2f", "2F", "2e%2e", "25", "zz", "", "f", "ff", "c3%28", "ed%a0%80", "0a", "20"])}`,
      () =>
        random.pick(["..", "/", "//", ";", "#", "?", "&", "=", "\\", ":", "@", "*", "\xff", "__proto__", "constructor"])
    ])()).join("")

/** Any JSON. */
const anyJson = (random: Random, depth = 0): unknown =>
  random.pick<() => unknown>([
    () => null,
    () => random.below(2) === 0,
    () => random.pick([0, -0, 1, -1, 1.5, 1e308, -1e308, Number.MAX_SAFE_INTEGER + 2, 5e-324, random.below(1000)]),
    () => anyText(random),
    () => "x".repeat(random.pick([100, 255, 256, 4097, 20_000])),
    () => random.pick(["", "template", "text", "+15551234567", "hello_world", "en_US", "2100-01-01T00:00:00Z"]),
    ...(depth > 4 ? [] : [
      () => times(random, 4, () => anyJson(random, depth + 1)),
      () => Object.fromEntries(times(random, 5, () => [anyKey(random), anyJson(random, depth + 1)]))
    ])
  ])()

const anyKey = (random: Random): string =>
  random.pick([
    () => anyText(random, 6),
    () => random.pick(["__proto__", "constructor", "toString", "length", "0", "", "hasOwnProperty", "_tag", "then"]),
    () =>
      random.pick(["to", "type", "template", "text", "from", "name", "language", "bodyParams", "body", "url", "email"])
  ])()

/**
 * Bodies that come further than the document's examples, and do less harm: nobody signs in as the owner with a wrong
 * password, and no name of a webhook is looked up.
 */
const better: { readonly [path: string]: ReadonlyArray<object> } = {
  "/v1/messages": [
    hello(),
    { ...hello(), from: "+15005550100", client_reference: "x" },
    { ...hello(), template: { name: "order_update", language: "en_US", bodyParams: ["a", "b"] } },
    { to: "+15551234567", type: "text", text: { body: "x", preview_url: true } }
  ],
  "/internal/session": [{ email: "somebody@example.com", password: "wrong password" }],
  "/internal/api-keys": [{ name: "x" }, { name: "x", expiresAt: "2100-01-01T00:00:00Z", requireSignature: true }],
  "/internal/webhook": [
    { url: "http://127.0.0.1:9/" },
    { url: "http://127.0.0.1:9/", envelope: "a", eventTypes: ["message.sent"] }
  ],
  "/internal/webhook/rotate-secret": [{}],
  "/internal/webhook/resume": [{}]
}

const document = OpenApi.fromApi(Api)

/** Bodies that would be taken, by where: no endpoint that takes one is without its example in the document. */
const good = new Map(
  endpoints.filter(({ payload }) => payload.size > 0).map(({ method, path }) => {
    const { requestBody } = document.paths[path.replace(/:(\w+)/, "{$1}") as "/"]![method.toLowerCase() as "post"]!
    const { example } = requestBody!.content["application/json"] as { readonly example?: object }
    return [path, better[path] ?? [example!]] as const
  })
)

const goodBody = (random: Random, path: string): object =>
  random.pick(good.get(random.below(5) === 0 ? random.pick([...good.keys()]) : path)!)

/** The body with something in it changed, put in or taken out, at any depth. */
const mutated = (random: Random, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || random.below(4) === 0) return anyJson(random, 2)
  if (Array.isArray(value)) {
    return random.pick([() => [...value, anyJson(random, 2)], () => value.map((item) => mutated(random, item))])()
  }
  const keys = Object.keys(value)
  const key = keys.length === 0 ? "x" : random.pick(keys)
  const held = value as { readonly [key: string]: unknown }
  return random.pick<() => unknown>([
    () => ({ ...held, [key]: mutated(random, held[key]) }),
    () => ({ ...held, [anyKey(random)]: anyJson(random, 2) }),
    () => Object.fromEntries(Object.entries(held).filter(([name]) => name !== key))
  ])()
}

/** Bytes that may be a body. */
const anyBody = (random: Random, path: string): Buffer => {
  const whole = () => Buffer.from(JSON.stringify(mutated(random, goodBody(random, path))) ?? "")
  return random.pick<() => Buffer>([
    () => Buffer.from(JSON.stringify(goodBody(random, path))),
    whole,
    whole,
    whole,
    () => Buffer.from(JSON.stringify(anyJson(random)) ?? ""),
    () => bytes(random, 200),
    () => {
      const cut = whole()
      return cut.subarray(0, random.below(cut.length + 1))
    },
    () => {
      const flipped = Buffer.from(whole())
      for (let i = 0; i < 3 && flipped.length > 0; i++) flipped[random.below(flipped.length)] = random.below(256)
      return flipped
    },
    () => Buffer.from(random.pick(["[", "{\"a\":", "[[", "{\"template\":"]).repeat(random.pick([10, 1000, 8000]))),
    () => Buffer.from(`{"to":"+15551234567","to":${JSON.stringify(anyJson(random)) ?? "1"}}`),
    () => Buffer.concat([Buffer.from(random.pick(["\ufeff", " ", "\u0000", "\u2028"])), whole()]),
    () => Buffer.alloc(random.pick([65_535, 65_536, 65_537, 100_000]), " "),
    () => Buffer.from(`{"to":${"9".repeat(random.below(400))}}`)
  ])()
}

type Headers = { readonly [name: string]: string | ReadonlyArray<string> }

/** One request, as a library would send it. */
interface Request {
  readonly method: string
  readonly target: string
  readonly headers: Headers
  readonly body?: Buffer
}

/** Headers beside those that belong there: each a trap of its own. */
const oddHeaders = (random: Random): Headers => {
  const odd: ReadonlyArray<() => Headers> = [
    () => ({ authorization: headerText(random) }),
    () => ({ authorization: `Bearer ${headerText(random)}` }),
    () => ({ authorization: `Bearer wac_live_${headerText(random, 40)}` }),
    () => ({ "authorization": "x".repeat(9000) }),
    () => ({ "idempotency-key": headerText(random, 300) }),
    () => ({ "idempotency-key": `"${headerText(random)}"` }),
    () => ({ "idempotency-key": [headerText(random), headerText(random)] }),
    () => ({ "content-type": headerText(random) }),
    () => ({ "content-type": `application/json; ${headerText(random)}` }),
    () => ({ "content-encoding": random.pick(["gzip", "br", "identity", headerText(random)]) }),
    () => ({ cookie: headerText(random, 100) }),
    () => ({ cookie: `wac_session=${headerText(random)}` }),
    () => ({ cookie: [`wac_session=${headerText(random)}`, "wac_session=%zz"] }),
    () => ({ "x-service-signature": headerText(random, 100) }),
    () => ({ "x-service-signature": `t=${random.below(2 ** 31)},v1=${"0".repeat(random.below(70))}` }),
    () => ({ "x-service-signature": ["t=1", "v1=1"] }),
    () => ({
      "x-forwarded-for": random.pick([headerText(random), `203.0.113.${random.below(256)}`, ",,,", "::1, [x]"])
    }),
    () => ({ "x-forwarded-host": headerText(random), "x-forwarded-proto": headerText(random) }),
    () => ({ origin: random.pick([headerText(random), "null", "http://[", "http://", "//", "http://%00"]) }),
    () => ({ "sec-fetch-site": headerText(random) }),
    () => ({ host: random.pick(["[", "x:99999", "localhost:0", headerText(random)]) }),
    () => ({
      traceparent: random.pick([headerText(random), `00-${"0".repeat(32)}-${"0".repeat(16)}-01`, "00-x-y-zz"])
    }),
    () => ({ b3: random.pick([headerText(random), "0", "1-1-1-1", `${"a".repeat(32)}-${"b".repeat(16)}-1`]) }),
    () => ({
      "x-b3-traceid": headerText(random),
      "x-b3-spanid": headerText(random),
      "x-b3-sampled": headerText(random)
    }),
    () => ({
      accept: headerText(random),
      "accept-encoding": headerText(random),
      "accept-language": headerText(random)
    }),
    () => ({ range: "bytes=0-1", "if-none-match": "*", "if-modified-since": headerText(random) }),
    () => ({ "x-http-method-override": "DELETE", "x-method-override": "PUT" }),
    () => ({ __proto__x: "x", constructor: "x", "x-test-actor": "owner@x" })
  ]
  return Object.assign({}, ...times(random, 3, () => random.pick(odd)()))
}

class Failure extends Error {}

const codes = new Map<string, ReadonlyArray<number>>([
  ["invalid_body", [400, 413, 415]],
  ["unauthorized", [401]],
  ["forbidden", [403]],
  ["not_found", [404, 405]],
  ["idempotency_conflict", [409]],
  ["rate_limited", [429]]
])

/** What an answer must never hold: a stack, a path of ours, an error's class, what a schema calls itself. */
const leak = new RegExp(
  [
    "\\n\\s+at ",
    "\\\\n",
    "\\.[cm]?[jt]s\\b",
    "node_modules",
    "node:",
    "file://",
    "\\b\\w*(Error|Exception|Defect)\\b",
    "undefined",
    "\\[object",
    process.cwd().replaceAll(/[.\\]/g, "\\$&")
  ].join("|")
)

/** What no HTTP parser takes gets Node's own answer, before us: a bare line. */
const isBare = ({ headers, status, text }: Answer): boolean =>
  [400, 431].includes(status) && text === "" && !headers.has("request-id") && headers.get("connection") === "close"

/** Whether the answer is of /readyz, and tells that a busy machine did not let the storage answer in time. */
const tellsOfStorage = ({ target }: Pick<Request, "target">, { status }: Answer): boolean =>
  target.startsWith("/readyz") && status === 503

/** That the answer is one of ours, of the caller's making, and as the document has it. */
const judge = (
  documented: ReturnType<typeof Documented.make>,
  answer: Answer,
  request: Omit<Request, "body"> & { readonly body: string | undefined }
): void => {
  try {
    if (isBare(answer)) return
    checks.assertHeaders(answer)
    // what is refused before its host is read is no request of an operation
    if (answer.body?.error?.doc_url?.startsWith("/") !== true) {
      assert.deepStrictEqual(documented.faults(request, answer), [])
    }
    if (tellsOfStorage(request, answer)) return
    if (answer.status === 302) return assert.match(answer.headers.get("location")!, /^\/dashboard/)
    if (answer.status < 400) return assert.include([200, 201, 204], answer.status)
    assert.isBelow(answer.status, 500)
    const { code, doc_url, message, request_id, ...rest } = answer.body.error
    assert.deepStrictEqual(Object.keys(answer.body), ["error"])
    assert.include(codes.get(code) ?? [], answer.status)
    assert.isString(message)
    assert.strictEqual(request_id, answer.headers.get("request-id"))
    const anchor = rest.reason === undefined ? code : `${code}-${rest.reason}`
    assert.isTrue(doc_url.endsWith(`/docs/errors#${anchor}`))
    for (const name of Object.keys(rest)) assert.include(["reason", "param", "provider"], name)
    for (const value of [rest.reason, rest.param]) if (value !== undefined) assert.isString(value)
    // a field's name is the caller's own word
    assert.notMatch(message.replace(rest.param ?? "", ""), leak)
    assert.isBelow(answer.text.length, 3000)
  } catch (error) {
    throw new Failure(
      `seed ${seed}: ${String(error)}\n${JSON.stringify(request)?.slice(0, 2000)}\n${answer.status} ${
        answer.text.slice(0, 2000)
      }`
    )
  }
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 32 })

/** Sends it with a library that lets more through than `fetch`. */
const perform = (url: string, { body, headers, method, target }: Request): Effect.Effect<Answer> =>
  Effect.promise(() =>
    new Promise<Answer>((resolve, reject) => {
      const { hostname, port } = new URL(url)
      const framing = body === undefined ? {} : { "content-length": `${body.length}` }
      const request = http.request({
        agent,
        hostname,
        port,
        method,
        path: target,
        headers: { ...headers, ...framing } as http.OutgoingHttpHeaders,
        setHost: !("host" in headers)
      }, (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk) => chunks.push(chunk))
        response.on("error", reject)
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8")
          const isJson = response.headers["content-type"] === "application/json"
          resolve({
            status: response.statusCode!,
            headers: new Headers(response.headersDistinct as Record<string, never>),
            text,
            body: isJson && text !== "" ? JSON.parse(text) : undefined
          })
        })
      })
      request.on("error", (error) => reject(new Failure(`${method} ${target}: ${error.message}`)))
      request.end(body)
    })
  )

/** Many at a time, each judged. Gives how many had which status. */
const storm = Effect.fnUntraced(function*(requests: ReadonlyArray<Request>) {
  const { url } = yield* checks.Served
  const documented = Documented.make((yield* call(`${url}/openapi.json`)).body)
  const statuses = new Map<number, number>()
  yield* Effect.forEach(requests, (request) =>
    Effect.map(perform(url, request), (answer) => {
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      if (request.method === "HEAD") {
        if (answer.status >= 500 && !tellsOfStorage(request, answer)) {
          throw new Failure(`HEAD ${request.target}: ${answer.status}`)
        }
      } else judge(documented, answer, { ...request, body: request.body?.toString("latin1") })
    }), { concurrency: 32, discard: true })
  return statuses
})

const quick = { memory: 64, passes: 1, parallelism: 1 }

const server = (storage: Effect.Effect<{ readonly [name: string]: string }, never, Scope.Scope>) =>
  Layer.effect(
    checks.Served,
    Effect.gen(function*() {
      const environment = yield* storage
      const served = yield* Effect.provideService(
        ready({ environment: { ...checks.unlimited, TRUST_PROXY: "127.0.0.0/8", ...environment } }),
        Password.Cost,
        quick
      )
      // whoever guesses at the password of a session is locked out at last: the owner signs in when all is over
      const { headers } = yield* join(served.url, served.session, "ben@example.com", "owner")
      return { ...served, session: headers }
    })
  )

/** `size` requests of each kind. */
const badInput = (size: number) => (it: Vitest.MethodsNonLive<checks.Served>): void => {
  /** The headers of somebody who may call this, so that what is wrong lies elsewhere. */
  const callers = Effect.map(checks.Served, ({ key, session }) => (random: Random, path: string): Headers => ({
    ...(path.startsWith("/v1/") ? { authorization: `Bearer ${key.apiKey}` } : session),
    "idempotency-key": `${random.below(2 ** 31)}`,
    "x-forwarded-for": `203.0.113.${random.below(256)}, 198.51.100.${random.below(256)}`
  }))

  /** Where an endpoint is, for a thing that there is. */
  const targets = Effect.gen(function*() {
    const served = yield* checks.Served
    const own = { ...served, id: yield* checks.workspaceOf(served), owner: served.session }
    const { thing } = yield* Things.make(own)
    return (path: string) =>
      path.replace(":id", thing[path] ?? checks.nobody).replace(":name", encodeURIComponent("+15551234567"))
  })

  it.effect("random bodies never make the service fail, and every answer is as the document has it", () =>
    Effect.gen(function*() {
      const random = SeededRandom.make(seed)
      const caller = yield* callers
      const taking = endpoints.filter(({ payload }) => payload.size > 0)
      const target = yield* targets
      const statuses = yield* storm(Array.from({ length: size * 2 }, () => {
        const { method, path } = random.pick(taking)
        return {
          method,
          target: target(path),
          headers: { ...caller(random, path), "content-type": "application/json" },
          body: anyBody(random, path)
        }
      }))
      // the fuzz is of use only while some of it comes far
      for (const status of [200, 201, 400, 401, 413]) assert.isAbove(statuses.get(status) ?? 0, 0, `${status}`)
    }))

  it.effect("random headers never make the service fail", () =>
    Effect.gen(function*() {
      const random = SeededRandom.make(seed + 1)
      const caller = yield* callers
      const statuses = yield* storm(Array.from({ length: size * 2 }, () => {
        const { method, path, payload } = random.pick(endpoints)
        // the session must live to the end
        const callerHeaders = method === "DELETE" && path === "/internal/session" ? {} : caller(random, path)
        return {
          method,
          target: path.replace(":id", checks.nobody),
          headers: { ...callerHeaders, "content-type": "application/json", ...oddHeaders(random) },
          ...(payload.size > 0 ? { body: Buffer.from(JSON.stringify(goodBody(random, path))) } : {})
        }
      }))
      for (const status of [200, 400, 401, 403, 415]) assert.isAbove(statuses.get(status) ?? 0, 0, `${status}`)
    }))

  it.effect("random queries and cursors never make the service fail", () =>
    Effect.gen(function*() {
      const random = SeededRandom.make(seed + 2)
      const caller = yield* callers
      const lists = endpoints.filter(({ method, path }) => method === "GET" && !path.includes(":id")).map(({ path }) =>
        path
      )
      const statuses = yield* storm(Array.from({ length: size }, () => {
        const path = random.pick(lists)
        const query = random.pick<() => string>([
          () => targetText(random),
          () => `cursor=${targetText(random)}`,
          () => `cursor=${bytes(random, 60).toString("base64url")}`,
          () => `cursor=${Buffer.from(`1:${anyText(random)}`).toString("base64url")}`,
          () =>
            `cursor=${
              Buffer.from(`1:key_${"0123456789ABCDEFGHJKMNPQRS".repeat(2).slice(random.below(26)).slice(0, 26)}`)
                .toString("base64url")
            }`,
          () => `limit=${targetText(random, 8)}`,
          () =>
            `limit=${random.pick(["1e400", "0x10", "9".repeat(400), "-0", "+1", "%31", "1_0", "１"].map(encodeURI))}`,
          () =>
            times(random, 20, () => `${random.pick(["limit", "cursor", "status", "name", targetText(random, 5)])}=x`)
              .join("&"),
          () => `status=${targetText(random)}&name=${targetText(random)}`,
          () => "a=1&".repeat(random.below(2000))
        ])()
        return {
          method: random.pick(["GET", "GET", "HEAD"]),
          target: `${path}?${query}`,
          headers: caller(random, path)
        }
      }))
      for (const status of [200, 400]) assert.isAbove(statuses.get(status) ?? 0, 0, `${status}`)
    }))

  it.effect("random ids, paths and methods never make the service fail", () =>
    Effect.gen(function*() {
      const random = SeededRandom.make(seed + 3)
      const caller = yield* callers
      const withId = endpoints.filter(({ path }) => path.includes(":id")).map(({ path }) => path)
      const statuses = yield* storm(Array.from({ length: size }, () => {
        const target = random.pick<() => string>([
          () => random.pick(withId).replace(":id", () => targetText(random)),
          () => random.pick(withId).replace(":id", () => `key_${targetText(random, 26)}`),
          () => random.pick(withId).replace(":id", () => encodeURIComponent(anyText(random).toWellFormed())),
          () => random.pick(withId).replace(":id", () => "a".repeat(random.pick([99, 100, 101, 1000, 7000]))),
          () => `/${targetText(random)}`,
          () => random.pick(endpoints).path + targetText(random, 5),
          () => `http://${targetText(random, 5).replaceAll(/[/?#]/g, "")}${random.pick(endpoints).path}`,
          () => "/".repeat(random.below(3000)) + "v1/templates",
          () => "/..".repeat(random.below(1000))
        ])()
        return {
          method: random.pick(["GET", "GET", "DELETE", "POST", "PUT", "PATCH", "HEAD", "OPTIONS", "PROPFIND", "TRACE"]),
          target: target.startsWith("/") || target.startsWith("http") ? target : `/${target}`,
          headers: target.includes("session") ? {} : caller(random, target)
        }
      }))
      for (const status of [400, 404, 405]) assert.isAbove(statuses.get(status) ?? 0, 0, `${status}`)
    }))

  it.effect("below HTTP", () =>
    Effect.gen(function*() {
      const random = SeededRandom.make(seed + 4)
      const { key, session, url } = yield* checks.Served
      const good = [
        "POST /v1/messages HTTP/1.1",
        "Host: localhost",
        `Authorization: Bearer ${key.apiKey}`,
        "Idempotency-Key: below",
        "Content-Type: application/json",
        `Content-Length: ${JSON.stringify(hello()).length}`,
        "",
        JSON.stringify(hello())
      ].join("\r\n")
      const lines: ReadonlyArray<() => string> = [
        () => `Authorization: Bearer ${key.apiKey}`,
        () => `Cookie: ${session.cookie}`,
        () => `Content-Length: ${random.pick(["-1", "0", "5", "x", "1e3", "99999999999999999999", "0x10", ""])}`,
        () => `Transfer-Encoding: ${random.pick(["chunked", "identity", "gzip, chunked", "x", "Chunked, chunked"])}`,
        () => `Connection: ${random.pick(["close", "keep-alive", "upgrade", "x"])}`,
        () => `Upgrade: ${random.pick(["websocket", "h2c", "x", ""])}`,
        () => `Sec-WebSocket-Key: ${random.pick(["x", "dGhlIHNhbXBsZSBub25jZQ==", ""])}\r\nSec-WebSocket-Version: 13`,
        () => `Expect: ${random.pick(["100-continue", "x"])}`,
        () => "Host: elsewhere",
        () => `X: ${"x".repeat(random.pick([10, 20_000]))}`,
        () => bytes(random, 30).toString("latin1"),
        () => " folded",
        () => "no colon"
      ]
      const wild = (): Buffer =>
        random.pick<() => Buffer>([
          () => bytes(random, 300),
          () => {
            const flipped = Buffer.from(good)
            for (let i = 0; i < 1 + random.below(4); i++) flipped[random.below(flipped.length)] = random.below(256)
            return flipped
          },
          () => Buffer.from(good.slice(0, random.below(good.length))),
          () =>
            Buffer.from(
              [
                `${random.pick(["GET", "POST", "PUT", "get", "FOO", "", "CONNECT", "PRI"])} ${
                  random.pick([
                    "/v1/messages",
                    "/v1/templates",
                    "/internal/session",
                    "*",
                    "/",
                    "http://x/v1/templates",
                    "localhost:80",
                    "//",
                    "\x00"
                  ])
                } ${random.pick(["HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "http/1.1", ""])}`,
                ...times(random, 6, () => random.pick(lines)()),
                "",
                random.pick(["", "{}", "5\r\nhello\r\n0\r\n\r\n", "zz\r\nx\r\n0\r\n\r\n", "ffffffffffffffffff\r\n"])
              ].join(random.pick(["\r\n", "\r\n", "\r\n", "\n", "\r"])),
              "latin1"
            ),
          () => Buffer.from(good + good.replace("below", "above")),
          () => Buffer.from(good.replaceAll("\r\n", "\n"))
        ])()

      const sent = Array.from({ length: size }, wild)
      const seen = yield* Effect.forEach(
        sent,
        (data) => Effect.map(shout(url, data), (text) => [data, text] as const),
        {
          concurrency: 32
        }
      )
      let ours = 0
      for (const [data, text] of seen) {
        const request = data.toString("latin1")
        for (
          const [whole, status] of text.matchAll(
            /HTTP\/1\.1 (\d{3})[^]*?\r\n\r\n(?:\{[^\n]*?\})?(?=HTTP\/1\.1|$|0\r\n)/g
          )
        ) {
          if (Number(status) >= 500) throw new Failure(`seed ${seed}: ${request}\n${text}`)
          if (Number(status) < 400 || !whole.includes("request-id")) continue
          ours++
          assert.match(
            whole,
            /\r\n\r\n\{"error":\{"code":"[a-z_]+","message":"[^]*"request_id":"req_[0-9A-Z]{26}"[^]*\}\}$/
          )
          assert.notMatch(whole, leak)
        }
      }
      assert.isAbove(ours, size / 35)
    }))

  it.effect("the service works as before afterwards", () =>
    Effect.gen(function*() {
      const served = yield* checks.Served
      assert.deepStrictEqual((yield* call(`${served.url}/readyz`)).body, { status: "ok" })
      const again = yield* signIn(served.url)
      assert.strictEqual((yield* call(`${served.url}/internal/session`, { headers: again })).body.role, "owner")
      assert.strictEqual((yield* send(served, hello())).status, 200)
      agent.destroy()
    }))
}

layer(server(Effect.succeed({ DATABASE_URL: "memory:" })), checks.live)("bad input", badInput(size))

// text that no storage in memory minds: fewer suffice
layer(
  server(Effect.map(Effect.flatMap(postgres, freshDatabase), (url) => ({
    DATABASE_URL: url,
    WAC_MASTER_KEY: masterKey()
  }))),
  checks.live
)("bad input, over PostgreSQL", badInput(Math.ceil(size / 4)))

/** Writes the bytes, hangs up its side after a moment, and gives what came: it may be nothing. */
const shout = (url: string, data: Buffer): Effect.Effect<string> =>
  Effect.promise(() =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(url)
      const chunks: Array<Buffer> = []
      const socket = net.connect(Number(port), hostname, () => {
        socket.write(data)
        setTimeout(() => socket.end(), 30)
      })
      socket.setTimeout(500, () => socket.destroy())
      socket.on("data", (chunk) => chunks.push(chunk))
      socket.on("error", () => {})
      socket.on("close", () => resolve(Buffer.concat(chunks).toString("utf8")))
    })
  )
