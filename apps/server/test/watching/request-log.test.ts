/**
 * What the log says of requests: one line for each that failed, an access log at `debug`, and nothing of what was in
 * them.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { call, hello, noticed, ready, send, start } from "../harness.ts"
import * as Logged from "../logged.ts"

interface Line {
  readonly level: string
  /** The sentence, and what belongs to it. */
  readonly message: string | readonly [string, { readonly [field: string]: unknown }]
}

/** Runs with what the servers started within it have logged so far. */
const logged = <A, E, R>(test: (lines: () => ReadonlyArray<Line>) => Effect.Effect<A, E, R>) =>
  Logged.logged((lines) => test(() => lines().map((line) => JSON.parse(line))))

const requestsOf = (lines: ReadonlyArray<Line>, sentence: string) =>
  lines.flatMap(({ level, message }) =>
    Array.isArray(message) && message[0] === sentence ? [{ level, ...message[1] }] : []
  )

describe("the log", () => {
  it.live("the log has one line for each failed request, with its id, its route's template, status and reason", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const server = yield* ready({ environment: { LOG_LEVEL: "warn" } })
        const broken = yield* send(server, hello("+15005550005"))
        const unknown = yield* send(server, hello("+15005550006"))
        assert.deepStrictEqual([broken.status, unknown.status], [502, 504])
        const fine = yield* send(server, hello())
        const refused = yield* send(server, { ...hello(), to: "nobody" })
        assert.deepStrictEqual([fine.status, refused.status], [200, 400])
        const failed = requestsOf(lines(), "request failed")
        const line = { level: "WARN", method: "POST", route: "/v1/messages" }
        assert.deepStrictEqual(
          failed.map(({ durationMs, providerCode: _, ...rest }) => {
            assert.isNumber(durationMs)
            return rest
          }),
          [
            { ...line, status: 502, reason: "provider_unavailable", requestId: broken.headers.get("request-id") },
            { ...line, status: 504, reason: "outcome_unknown", requestId: unknown.headers.get("request-id") }
          ]
        )
        assert.isEmpty(requestsOf(lines(), "request"))
      }).pipe(Effect.scoped)
    ))

  it.live("at debug, the log has a line for each request, without paths, queries, numbers, secrets or bodies", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const server = yield* ready({ environment: { LOG_LEVEL: "debug" } })
        const recipient = "+15551239876"
        yield* send(server, hello(recipient), { "idempotency-key": "customer-4711" })
        yield* call(`${server.url}/internal/contacts/${encodeURIComponent(`pn_1:${recipient}`)}`, {
          headers: server.session
        })
        yield* call(`${server.url}/v1/templates?name=the-query`, {
          headers: { authorization: `Bearer ${server.key.apiKey}` }
        })
        yield* call(`${server.url}/private-path/${recipient}?token=the-query`)
        yield* noticed(server.url)
        const access = requestsOf(lines(), "request")
        const seen = access.map(({ level, method, reason, route, status }) =>
          [level, method, route, status, reason].join(" ").trim()
        )
        assert.includeMembers(seen, [
          "DEBUG POST /internal/session 200",
          "DEBUG POST /v1/messages 200",
          "DEBUG GET /internal/contacts/:id 404",
          "DEBUG GET /v1/templates 200",
          "DEBUG GET unknown 404"
        ])
        const all = JSON.stringify(lines())
        for (
          const secret of [
            recipient,
            recipient.slice(1),
            "customer-4711",
            "the-query",
            "private-path",
            server.key.apiKey,
            server.key.signingSecret,
            server.session.cookie.split("=")[1]!,
            "correct horse"
          ]
        ) assert.notInclude(all, secret)
      }).pipe(Effect.scoped)
    ))

  it.live("the log reports that the process is stopping", () =>
    logged((lines) =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        yield* Effect.provideService(start({ environment: { LOG_LEVEL: "info" } }), Scope.Scope, scope)
        const stopping = () => lines().filter(({ message }) => String(message).startsWith("stopping"))
        assert.isEmpty(stopping())
        yield* Scope.close(scope, Exit.void)
        assert.lengthOf(stopping(), 1)
      })
    ))
})
