/**
 * `/internal/stream`: what changes, as server-sent events (contract §12).
 */
import { assert, it } from "@effect/vitest"
import { Changes } from "@wac/core"
import { Effect, Exit, Scope } from "effect"
import * as checks from "../checks.ts"
import { call, createKey, environment, hello, ready, send, signIn } from "../harness.ts"
import { moving } from "../movable.ts"
import { join } from "../people/joining.ts"
import { listen } from "./listen.ts"

it.live("the stream reports changes in the page's workspace by people, API keys and the provider", () =>
  Effect.gen(function*() {
    const server = yield* ready({ environment: checks.unlimited })
    const { session, url } = server
    const page = yield* listen(url, session)
    const key = yield* createKey(url, session, { name: "new" })
    yield* page.until("apiKeys")
    yield* send({ url, key }, hello())
    yield* page.until("messages")
    // what the sandbox reports
    yield* page.until("events")
    yield* send({ url, key }, { to: "+15557654321", type: "text", text: { body: "Hi" } })
    yield* page.until("requests")
  }).pipe(Effect.scoped))

it.live("the stream reports nothing of a different workspace", () =>
  Effect.gen(function*() {
    const server = yield* ready({ environment: checks.unlimited })
    const { services, session, url } = server
    const other = yield* checks.anotherWorkspace("other", "+15005550199").pipe(Effect.provideContext(services))
    const page = yield* listen(url, session)
    yield* send({ url, key: other.key }, hello())
    yield* createKey(url, session, { name: "new" })
    // the other's came before
    yield* page.until("apiKeys")
  }).pipe(Effect.scoped))

it.live("HEAD requests do not count as pages that watch the workspace", () =>
  Effect.gen(function*() {
    const { session, url } = yield* ready({ environment: checks.unlimited })
    for (let n = 0; n <= Changes.maxWatchers; n++) {
      const { headers, status } = yield* Effect.promise(() =>
        fetch(`${url}/internal/stream`, { method: "HEAD", headers: session })
      )
      assert.deepStrictEqual([status, headers.get("content-type")], [200, "text/event-stream"])
    }
    yield* listen(url, session)
  }).pipe(Effect.scoped))

it.live("the stream ends with the session", () =>
  Effect.gen(function*() {
    const { pass, url } = yield* moving(ready({ environment: checks.unlimited }))
    const session = yield* signIn(url)
    const page = yield* listen(url, session)
    yield* call(`${url}/internal/session`, { method: "DELETE", headers: session })
    yield* pass("10 seconds")
    yield* page.end
  }).pipe(Effect.scoped))

it.live("the stream ends once the token with which it was opened is replaced", () =>
  Effect.gen(function*() {
    const { pass, url } = yield* moving(ready({ environment: checks.unlimited }))
    const session = yield* signIn(url)
    const page = yield* listen(url, session)
    const confirmed = yield* call(`${url}/internal/session/confirm`, {
      headers: session,
      body: { password: environment.WAC_OWNER_PASSWORD }
    })
    assert.isBelow(confirmed.status, 300, confirmed.text)
    yield* pass("10 seconds")
    yield* page.end
  }).pipe(Effect.scoped))

it.live("the stream ends when its person is removed from the workspace", () =>
  Effect.gen(function*() {
    const { pass, session, url } = yield* moving(ready({ environment: checks.unlimited }))
    const ben = yield* join(url, session, "ben@example.com", "member")
    const page = yield* listen(url, ben.headers)
    yield* call(`${url}/internal/members/${ben.id}`, { method: "DELETE", headers: session })
    yield* pass("10 seconds")
    yield* page.end
    assert.strictEqual((yield* call(`${url}/internal/session`, { headers: ben.headers })).status, 401)
  }).pipe(Effect.scoped))

it.live("the stream ends when the service stops", () =>
  checks.assertBelow(
    5000,
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const { session, url } = yield* Scope.provide(ready({ environment: checks.unlimited }), scope)
      const page = yield* listen(url, session)
      const since = performance.now()
      yield* Effect.all([Scope.close(scope, Exit.void), page.end], { concurrency: "unbounded" })
      return performance.now() - since
    }).pipe(Effect.scoped)
  ))
