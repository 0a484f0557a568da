/**
 * How the dashboard's pages are served: what each address answers with, what browsers may do with it and keep of it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Setup } from "@wac/core"
import { Context, Effect, Redacted } from "effect"
import { readdirSync } from "node:fs"
import { type Answer, call, start } from "../harness.ts"

const noOwner = { environment: { WAC_OWNER_EMAIL: "", WAC_OWNER_PASSWORD: "" } }

/** What a page says to its script before anybody is signed in. */
const metaOf = ({ text }: Answer) =>
  Object.fromEntries([...text.matchAll(/<meta name="wac-([\w-]+)" content="([^"]*)">/g)].map(([, name, value]) => [
    name,
    value
  ]))

/** Every address that a page has the browser load. */
const loadedBy = ({ text }: Answer): ReadonlyArray<string> =>
  [...text.matchAll(/<(?:script|link)[^>]*? (?:src|href)="([^"]+)"/g)].map(([, address]) => address!)

describe("the dashboard's addresses", () => {
  it.live("/ redirects to /dashboard, and /setup to its page, for which the browser keeps the link's fragment", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      for (const [from, to] of [["/", "/dashboard"], ["/setup", "/dashboard/setup"]] as const) {
        const answer = yield* call(url + from)
        assert.deepStrictEqual([answer.status, answer.headers.get("location")], [302, to])
      }
    }).pipe(Effect.scoped))

  it.live("every address below /dashboard answers with the page, except files that do not exist", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      const page = yield* call(`${url}/dashboard`)
      assert.strictEqual(page.status, 200)
      assert.strictEqual(page.headers.get("content-type"), "text/html; charset=utf-8")
      for (
        const path of ["/", "/messages", "/messages/msg_1?to=%2B15551234567", "/settings/webhook", "/%3Cscript%3E"]
      ) {
        const answer = yield* call(`${url}/dashboard${path}`)
        assert.deepStrictEqual([answer.status, answer.text], [200, page.text], path)
      }
      for (const path of ["/assets/nothing.js", "/assets/", "/assets/..%2findex.html"]) {
        const answer = yield* call(`${url}/dashboard${path}`)
        assert.deepStrictEqual([answer.status, answer.body?.error.code], [404, "not_found"], path)
      }
      assert.strictEqual((yield* call(`${url}/dashboards`)).status, 404)
      const posted = yield* call(`${url}/dashboard/messages`, { method: "POST" })
      assert.deepStrictEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"])
    }).pipe(Effect.scoped))

  it.live("the page tells its script where it is mounted, its version, what it lacks, and whether it is set up", () =>
    Effect.gen(function*() {
      const { services, url } = yield* start(noOwner)
      const setup = Context.get(services, Setup.Setup)
      const before = metaOf(yield* call(`${url}/dashboard`))
      assert.deepStrictEqual(Object.keys(before).sort(), ["lacks", "root", "set-up", "version"])
      assert.deepStrictEqual([before["root"], before["set-up"], before["lacks"]], ["/", "no", "mail"])
      const token = Redacted.value((yield* Effect.orDie(setup.token))!)
      const { status } = yield* call(`${url}/internal/setup`, {
        headers: { "sec-fetch-site": "same-origin" },
        body: { token, email: "o@example.com", password: "a long password", workspaceName: "First" }
      })
      assert.strictEqual(status, 201)
      const after = yield* call(`${url}/dashboard`)
      assert.strictEqual(metaOf(after)["set-up"], "yes")
      assert.notInclude(after.text, token)
    }).pipe(Effect.scoped))
})

describe("the dashboard's files", () => {
  it.live("load nothing from elsewhere, run no inline script, and turn no text into markup", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      const page = yield* call(`${url}/dashboard/messages`)
      const directives = new Map(
        page.headers.get("content-security-policy")!.split("; ").map((directive) => {
          const [name, ...sources] = directive.split(" ")
          return [name!, sources.join(" ")]
        })
      )
      assert.deepStrictEqual(Object.fromEntries(directives), {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "form-action": "'self'",
        "base-uri": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'"
      })
      assert.strictEqual(page.headers.get("x-frame-options"), "DENY")
      assert.strictEqual(page.headers.get("referrer-policy"), "no-referrer")
      assert.notMatch(page.text, /<style|<script(?![^>]* src=)/)
      const loaded = loadedBy(page)
      assert.isAtLeast(loaded.length, 3)
      for (const address of loaded) {
        assert.match(address, /^\/dashboard\/(?:icon\.svg|assets\/[\w.-]+\.(?:js|css))$/)
        assert.strictEqual((yield* call(url + address)).status, 200, address)
      }
    }).pipe(Effect.scoped))

  it.live("assets are kept by browsers for ever, and pages are asked for again, which costs a 304", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      const page = yield* call(`${url}/dashboard`)
      assert.strictEqual(page.headers.get("cache-control"), "no-cache")
      const again = yield* call(`${url}/dashboard/events`, {
        headers: { "if-none-match": page.headers.get("etag")! }
      })
      assert.deepStrictEqual([again.status, again.text], [304, ""])
      for (const address of loadedBy(page).filter((address) => address.includes("/assets/"))) {
        const asset = yield* call(url + address, { headers: { "accept-encoding": "br" } })
        assert.strictEqual(asset.headers.get("cache-control"), "public, max-age=31536000, immutable")
        assert.strictEqual(asset.headers.get("content-encoding"), "br")
        assert.strictEqual(asset.headers.get("x-content-type-options"), "nosniff")
        assert.match(asset.headers.get("content-type")!, /^text\/(?:javascript|css); charset=utf-8$/)
      }
    }).pipe(Effect.scoped))

  it.live("every file that was built is served, and none that is not for browsers", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      const built = new URL("../../../../packages/http/dist/dashboard/assets/", import.meta.url)
      const names = readdirSync(built)
      assert.isNotEmpty(names)
      for (const name of names) {
        assert.strictEqual((yield* call(`${url}/dashboard/assets/${name}`)).status, 200, name)
      }
      // the page, as at every address that is no file
      assert.match((yield* call(`${url}/dashboard/sources`)).text, /^<!doctype html>/)
    }).pipe(Effect.scoped))
})
