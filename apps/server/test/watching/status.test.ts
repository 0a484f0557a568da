/**
 * The page that says how the service is doing.
 */
import { assert, describe, it } from "@effect/vitest"
import { Errors, Readiness, ServiceStatus } from "@wac/core"
import { Context, Effect } from "effect"
import { call, start } from "../harness.ts"
import { still } from "../movable.ts"

describe("the status page", () => {
  it.live("the status is JSON for programs and a page for browsers, and looks at the parts once in five seconds", () =>
    Effect.gen(function*() {
      const { pass, services, url } = yield* still(start())
      const asked = (accept: string) => call(`${url}/status`, { headers: { accept } })
      const first = yield* asked("application/json")
      assert.strictEqual(first.status, 200)
      assert.strictEqual(first.headers.get("vary"), "accept")
      assert.deepInclude(first.body, {
        status: "operational",
        parts: { requests: "operational", deliveries: "operational", inbound: "operational" }
      })
      assert.match(first.body.checked_at, /^\d{4}-\d{2}-\d{2}T.*Z$/)
      const page = yield* asked("text/html,application/xhtml+xml,*/*;q=0.8")
      assert.match(page.headers.get("content-type")!, /^text\/html/)
      assert.include(page.text, "<h1>Everything works</h1>")
      assert.match(page.headers.get("content-security-policy")!, /default-src 'none'/)

      const reason = "provider_unavailable" as const
      const secret = "what only operators may know"
      yield* Context.get(services, Readiness.Readiness).require({
        name: "number",
        check: Effect.fail(new Errors.ServerError({ reason, message: secret }))
      })
      assert.strictEqual((yield* asked("*/*")).body.status, "operational")
      yield* pass(ServiceStatus.lifetime)
      const down = yield* asked("*/*")
      assert.strictEqual(down.status, 503)
      assert.deepInclude(down.body, {
        status: "down",
        parts: { requests: "down", deliveries: "operational", inbound: "operational" }
      })
      const words = yield* asked("text/html")
      assert.strictEqual(words.status, 503)
      assert.include(words.text, "<h1>Something does not work</h1>")
      assert.notInclude(words.text + down.text, secret)
    }).pipe(Effect.scoped))
})
