/**
 * `/internal/stream`: what changes, as server-sent events (contract §12).
 */
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import * as checks from "../checks.ts"
import { call, createKey, hello, ready, send, signIn } from "../harness.ts"
import { moving } from "../movable.ts"
import { join } from "../people/joining.ts"

/** Opens the stream as a page would; gives what reads until a topic was told, or to its end. */
const listen = (url: string, headers: { readonly [name: string]: string }) =>
  Effect.gen(function*() {
    const response = yield* Effect.acquireRelease(
      Effect.promise(() => {
        const leaving = new AbortController()
        return fetch(`${url}/internal/stream`, { headers, signal: leaving.signal }).then((response) => ({
          response,
          leaving
        }))
      }),
      ({ leaving }) => Effect.sync(() => leaving.abort())
    )
    const { body, headers: answered, status } = response.response
    assert.deepStrictEqual([status, answered.get("content-type"), answered.get("cache-control")], [
      200,
      "text/event-stream",
      "no-store"
    ])
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    const told = new Set<string>()
    const read = Effect.promise(() => reader.read())
    const until = (topic: string): Effect.Effect<void> =>
      Effect.suspend(() =>
        told.delete(topic) ? Effect.void : Effect.flatMap(read, ({ done, value }) => {
          text += value ?? ""
          const whole = text.lastIndexOf("\n\n") + 2
          for (const [, data] of text.slice(0, whole).matchAll(/event: change\ndata: (.*)\n\n/g)) {
            for (const one of JSON.parse(data!).topics) told.add(one)
          }
          text = text.slice(whole)
          return done ? Effect.die(new Error(`the stream ended before ${topic}`)) : until(topic)
        })
      )
    const end: Effect.Effect<void> = Effect.flatMap(read, ({ done }) => done ? Effect.void : end)
    // whoever has read the beginning watches
    yield* read
    return { until, end }
  })

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

it.live("the stream ends with the session", () =>
  Effect.gen(function*() {
    const { pass, url } = yield* moving(ready({ environment: checks.unlimited }))
    const session = yield* signIn(url)
    const page = yield* listen(url, session)
    yield* call(`${url}/internal/session`, { method: "DELETE", headers: session })
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
