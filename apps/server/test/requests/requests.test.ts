/**
 * Requests of API keys and usage, as the dashboard shows them (contract §12).
 */
import { assert, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, createKey, hello, ready, send } from "../harness.ts"

type Shown = { readonly id: string; readonly reason: string | null; readonly [field: string]: unknown }

const list = ({ session, url }: Pick<checks.Ready, "session" | "url">, query = "") =>
  call(`${url}/internal/requests${query}`, { headers: session })

/** The list once all of these requests are in it. */
const listed = (server: Pick<checks.Ready, "session" | "url">, answers: ReadonlyArray<Answer>) =>
  checks.until(list(server, "?limit=100"), ({ body }) => {
    const ids = new Set(body.data.map(({ id }: Shown) => id))
    return answers.every(({ headers }) => ids.has(headers.get("request-id")))
  })

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("requests", (it) => {
  it.effect("requests are listed with key, reason and time, including those of revoked keys, but not of unknown keys", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const { session, url } = server
      const revoked = yield* createKey(url, session, { name: "revoked" })
      yield* call(`${url}/internal/api-keys/${revoked.id}`, { method: "DELETE", headers: session })
      const sent = yield* send(server, hello("+15005550003"))
      const refused = yield* send(server, { to: "+15551234567", type: "text", text: { body: "secret words" } })
      const dead = yield* send({ url, key: revoked }, hello())
      const missing = yield* call(`${url}/v1/messages/msg_${checks.nobody}`, {
        headers: { authorization: `Bearer ${server.key.apiKey}` }
      })
      const stranger = yield* send({ url, key: { apiKey: checks.wellFormed("x".repeat(30)) } }, hello())
      assert.deepStrictEqual([sent, refused, dead, missing, stranger].map(({ status }) => status), [
        200,
        403,
        401,
        404,
        401
      ])
      const { body, text } = yield* listed(server, [sent, refused, dead, missing])
      const idOf = ({ headers }: Answer) => headers.get("request-id")
      const byId = new Map(body.data.map((request: Shown) => [request.id, request]))
      assert.isFalse(byId.has(idOf(stranger)))
      const shown = (answer: Answer) => {
        const { at, durationMs, id: _, ...rest } = byId.get(idOf(answer)) as Shown
        assert.match(String(at), checks.timeShape)
        assert.isNumber(durationMs)
        return rest
      }
      const request = { apiKeyId: server.key.id, userId: null, method: "POST", route: "/v1/messages", subject: null }
      assert.deepStrictEqual(shown(sent), {
        ...request,
        status: 200,
        code: null,
        reason: null,
        subject: sent.body.message_id
      })
      assert.deepStrictEqual(shown(refused), {
        ...request,
        status: 403,
        code: "forbidden",
        reason: "outside_service_window"
      })
      assert.deepStrictEqual(shown(dead), {
        ...request,
        apiKeyId: revoked.id,
        status: 401,
        code: "unauthorized",
        reason: "revoked_key"
      })
      assert.deepStrictEqual(shown(missing), {
        ...request,
        method: "GET",
        route: "/v1/messages/:id",
        status: 404,
        code: "not_found",
        reason: null
      })
      assert.notInclude(text, "secret words")
      assert.notInclude(text, "wac_live_")

      const groupOf = (reason: string) => body.groups.find((group: Shown) => group.reason === reason)
      assert.deepInclude(groupOf("revoked_key"), { count: 1, keys: [{ apiKeyId: revoked.id, count: 1 }] })
      assert.isAtLeast(body.total, 4)
      const only = (query: string) =>
        Effect.map(list(server, query), ({ body }) => body.data.map(({ id }: Shown) => id) as ReadonlyArray<string>)
      assert.deepStrictEqual(yield* only("?reason=revoked_key"), [idOf(dead)!])
      assert.deepStrictEqual(yield* only("?reason=not_found"), [idOf(missing)!])
      assert.notInclude(yield* only("?refused=true"), idOf(sent)!)
      checks.assertInvalid(yield* list(server, "?reason=Not-a-word"), "invalid_field", "reason")
      assert.deepStrictEqual(yield* only(`?apiKeyId=${revoked.id}&status=401&route=/v1/messages`), [idOf(dead)!])
      assert.deepStrictEqual(yield* only("?route=/v1/messages/:id"), [idOf(missing)!])
      assert.deepStrictEqual(yield* only("?until=2020-01-01T00:00:00Z"), [])
      checks.assertInvalid(yield* list(server, "?status=99"), "invalid_field", "status")
    }))

  it.effect("a request has the shape of its body, and no value or unknown name of it", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const { session, url } = server
      const answer = yield* send(server, {
        ...hello("+15005550003"),
        client_reference: "order-77",
        "Ana Diaz": { note: "secret words" }
      })
      assert.strictEqual(answer.status, 400)
      yield* listed(server, [answer])
      const { body, text } = yield* call(`${url}/internal/requests/${answer.headers.get("request-id")}`, {
        headers: session
      })
      assert.deepStrictEqual(body.fields, [
        { path: "to", type: "text", length: 12 },
        { path: "type", type: "text", length: 8 },
        { path: "template", type: "object", length: 2 },
        { path: "template.name", type: "text", length: 11 },
        { path: "template.language", type: "text", length: 5 },
        { path: "client_reference", type: "text", length: 8 },
        { path: "", type: "unknown", length: 1 }
      ])
      for (const secret of ["order-77", "Ana", "secret", "5005550003"]) assert.notInclude(text, secret)
      const none = yield* call(`${url}/internal/requests/req_${checks.nobody}`, { headers: session })
      checks.assertError(none, 404, { code: "not_found" })
    }))

  it.effect("people's requests to change something and other refused ones are listed, and are not counted", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const { session, url } = server
      const { body: { userId } } = yield* call(`${url}/internal/session`, { headers: session })
      const before = (yield* list(server)).body.total
      const sent = yield* call(`${url}/internal/messages`, {
        headers: { ...session, "idempotency-key": crypto.randomUUID() },
        body: hello("+15005550003")
      })
      assert.strictEqual(sent.status, 200, sent.text)
      const missing = yield* call(`${url}/internal/messages/msg_${checks.nobody}`, { headers: session })
      const read = yield* call(`${url}/internal/messages/${sent.body.messageId}`, { headers: session })
      assert.strictEqual(read.status, 200)
      const wrong = yield* call(`${url}/internal/messages?limit=0`, { headers: session })
      const { body } = yield* listed(server, [sent, wrong])
      const byId = new Map(body.data.map((request: Shown) => [request.id, request]))
      for (const { headers } of [read, missing]) assert.isFalse(byId.has(headers.get("request-id")))
      assert.deepInclude(byId.get(sent.headers.get("request-id")), {
        apiKeyId: null,
        userId,
        route: "/internal/messages",
        status: 200,
        subject: sent.body.messageId
      })
      assert.deepInclude(byId.get(wrong.headers.get("request-id")), { userId, status: 400, code: "invalid_body" })
      assert.strictEqual(body.total, before)
    }))

  it.effect("a request that replays a stored error is listed under its own id", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const headers = { "idempotency-key": "undeliverable" }
      const first = yield* send(server, hello("+15005550001"), headers)
      const again = yield* send(server, hello("+15005550001"), headers)
      assert.deepStrictEqual(again.text, first.text)
      const { body } = yield* checks.until(
        list(server, "?reason=undeliverable"),
        ({ body }) => body.data.length === 2
      )
      assert.strictEqual(body.groups.find(({ reason }: Shown) => reason === "undeliverable").count, 2)
    }))
})

it.live("a request whose caller hangs up before the response is listed and counted with the status 499, but not as refused", () =>
  Effect.gen(function*() {
    const [reached, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const provider = checks.recording(() =>
      Effect.as(
        Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released)),
        { _tag: "Accepted", providerMessageId: "1" }
      )
    )
    const server = yield* ready({ environment: checks.unlimited, adapters: provider.adapters })
    const caller = yield* Effect.forkChild(send(server, hello()))
    yield* Deferred.await(reached)
    // interrupting the fetch closes its connection
    yield* Fiber.interrupt(caller)
    const { body } = yield* checks.until(list(server, "?status=499"), ({ body }) => body.data.length > 0)
    const [{ at, durationMs, id, ...shown }] = body.data
    assert.match(id, checks.idShape("req"))
    assert.match(at, checks.timeShape)
    assert.isAbove(durationMs, 0)
    assert.deepStrictEqual(shown, {
      apiKeyId: server.key.id,
      userId: null,
      method: "POST",
      route: "/v1/messages",
      status: 499,
      code: null,
      reason: null,
      subject: null
    })
    assert.deepStrictEqual((yield* list(server, "?refused=true")).body.data, [])
    const { text } = yield* call(`${server.url}/metrics`)
    const route = "method=\"POST\",route=\"/v1/messages\""
    assert.include(text, `\nwac_http_requests_total{${route},status="499"} 1\n`)
    assert.include(text, `\nwac_http_request_duration_seconds_count{${route}} 1\n`)
    yield* Deferred.succeed(released, undefined)
  }).pipe(Effect.scoped))

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("usage", (it) => {
  const usage = ({ session, url }: Pick<checks.Ready, "session" | "url">, query = "") =>
    call(`${url}/internal/usage${query}`, { headers: session })

  it.effect("usage counts sends by outcome, and shows the quota", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      for (const to of ["+15005550003", "+15551234567", "+15005550001"]) yield* send(server, hello(to))
      yield* send(server, { to: "+15557654321", type: "text", text: { body: "Hi" } })
      const sum = (body: Answer["body"], activity: string): number =>
        body.steps.reduce((sum: number, step: { readonly [activity: string]: number }) => sum + step[activity]!, 0)
      const { body } = yield* checks.until(
        usage(server, "?period=day"),
        ({ body }) => sum(body, "sendsAccepted") === 2 && sum(body, "sendsRefused") === 1
      )
      assert.strictEqual(sum(body, "sendsFailed"), 1)
      assert.strictEqual(sum(body, "sendsUnknown"), 0)
      // what the provider refused for good is given back
      assert.deepStrictEqual([body.used, body.quota, body.requestsPerSecond], [2, null, 100_000])
      assert.deepStrictEqual(body.months, [{ month: body.month, used: 2 }])
      assert.deepStrictEqual([body.stepSeconds, body.steps.length], [3600, 24])
    }))

  it.effect("usage of a range has only its steps", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const before = (yield* usage(server, "?period=day")).body.steps.at(-1).sendsAccepted
      yield* send(server, hello("+15551234567"))
      const { body: { steps } } = yield* checks.until(
        usage(server, "?period=day"),
        ({ body }) => body.steps.at(-1).sendsAccepted === before + 1
      )
      const { at: present, sendsAccepted } = steps.at(-1)
      const { body: range } = yield* usage(server, `?since=${present}`)
      assert.deepStrictEqual([range.since, range.steps.length, range.steps[0].sendsAccepted], [
        present,
        1,
        sendsAccepted
      ])
      assert.strictEqual(range.before.sendsAccepted, 0)
      const { body: earlier } = yield* usage(server, `?period=day&until=${present}`)
      assert.strictEqual(earlier.steps.length, 24)
      assert.strictEqual(earlier.steps.at(-1).sendsAccepted, 0)
      checks.assertInvalid(yield* usage(server, "?since=yesterday"), "invalid_field", "since")
    }))

  it.effect("usage is given in days beyond a week, for at most 90 days", () =>
    Effect.gen(function*() {
      const server = yield* checks.Served
      const { body } = yield* usage(server, "?period=quarter")
      assert.deepStrictEqual([body.stepSeconds, body.steps.length], [86_400, 90])
      checks.assertInvalid(yield* usage(server, "?period=year"), "invalid_field", "period")
    }))
})
