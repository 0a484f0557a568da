/**
 * `/docs` and `/openapi.json`: prepared once, small on the wire, kept by caches, and on their own: the page asks
 * nothing of anybody else, and can send.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { type DOMWindow, JSDOM, VirtualConsole } from "jsdom"
import { request as ask } from "node:http"
import * as zlib from "node:zlib"
import * as checks from "../checks.ts"
import { call, hello } from "../harness.ts"

const files = [
  ["/docs", "text/html; charset=utf-8"],
  ["/docs/reference.js", "text/javascript; charset=utf-8"],
  ["/docs/reference.css", "text/css; charset=utf-8"],
  ["/openapi.json", "application/json"],
  ["/postman.json", "application/json"],
  ["/schemas/events.json", "application/json"],
  ["/llms.txt", "text/plain; charset=utf-8"],
  ["/docs/operating.md", "text/markdown; charset=utf-8"]
] as const

interface Raw {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly body: Buffer
}

/** An answer as it is on the wire: `fetch` would take the compression off. */
const raw = (url: string, headers: Record<string, string> = {}, method = "GET"): Effect.Effect<Raw> =>
  Effect.promise(() =>
    new Promise((resolve, reject) => {
      ask(url, { method, headers }, (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Raw["headers"],
            body: Buffer.concat(chunks)
          }))
      }).on("error", reject).end()
    })
  )

const open = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync } as const

layer(checks.Served.layer(), checks.live)("the documentation", (it) => {
  it.effect.each(files)(
    "%s is compressed by br or gzip, as the client accepts",
    ([path, type]) =>
      Effect.gen(function*() {
        const { url } = yield* checks.Served
        const plain = yield* raw(url + path)
        assert.strictEqual(plain.status, 200)
        assert.strictEqual(plain.headers["content-type"], type)
        assert.isUndefined(plain.headers["content-encoding"])
        assert.strictEqual(plain.headers["vary"], "Accept-Encoding")
        assert.strictEqual(plain.headers["content-length"], String(plain.body.length))
        const wanted: ReadonlyArray<readonly [accepts: string, encoding: "br" | "gzip" | undefined]> = [
          ["gzip, deflate, br, zstd", "br"],
          ["gzip, deflate", "gzip"],
          ["br;q=0, gzip;q=0.5", "gzip"],
          ["*", "br"],
          ["GZIP", "gzip"],
          ["identity", undefined],
          ["br;q=0, *;q=0", undefined],
          ["br;q=x", undefined],
          ["", undefined]
        ]
        for (const [accepts, encoding] of wanted) {
          const answer = yield* raw(url + path, { "accept-encoding": accepts })
          assert.strictEqual(answer.headers["content-encoding"], encoding, accepts)
          assert.strictEqual(answer.headers["vary"], "Accept-Encoding")
          const body = encoding === undefined ? answer.body : open[encoding](answer.body)
          assert.isTrue(body.equals(plain.body), accepts)
          if (encoding !== undefined) assert.isBelow(answer.body.length, plain.body.length / 2)
        }
      })
  )

  it.effect.each(files)(
    "%s is cached, and revalidated by its ETag",
    ([path]) =>
      Effect.gen(function*() {
        const { url } = yield* checks.Served
        const tags = new Set<string>()
        for (const accepts of ["br", "gzip", "identity"]) {
          const headers = { "accept-encoding": accepts }
          const answer = yield* raw(url + path, headers)
          assert.match(answer.headers["cache-control"]!, /^public, max-age=[1-9]\d*$/)
          assert.strictEqual(answer.headers["x-content-type-options"], "nosniff")
          assert.match(answer.headers["request-id"]!, checks.idShape("req"))
          const etag = answer.headers["etag"]!
          assert.match(etag, /^"[^"]+"$/)
          tags.add(etag)
          assert.strictEqual((yield* raw(url + path, headers)).headers["etag"], etag)
          for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
            for (const method of ["GET", "HEAD"]) {
              const same = yield* raw(url + path, { ...headers, "if-none-match": known }, method)
              assert.strictEqual(same.status, 304, known)
              assert.strictEqual(same.body.length, 0)
              assert.strictEqual(same.headers["etag"], etag)
              assert.strictEqual(same.headers["cache-control"], answer.headers["cache-control"])
              assert.strictEqual(same.headers["vary"], "Accept-Encoding")
            }
          }
          assert.strictEqual((yield* raw(url + path, { ...headers, "if-none-match": "\"other\"" })).status, 200)
          const head = yield* raw(url + path, headers, "HEAD")
          assert.deepStrictEqual([head.status, head.body.length], [200, 0])
          for (const name of ["content-length", "content-type", "content-encoding", "etag", "cache-control"]) {
            assert.strictEqual(head.headers[name], answer.headers[name], name)
          }
        }
        assert.strictEqual(tags.size, 3)
        checks.assertError(yield* call(url + path, { method: "POST" }), 405, { code: "not_found" })
      })
  )

  it.effect("the page's first view is small, and describes the service before any script runs", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const accepts = { "accept-encoding": "gzip, br" }
      const sizes = yield* Effect.forEach(files, ([path]) => Effect.map(raw(url + path, accepts), (a) => a.body.length))
      const [page, script, style, document] = sizes
      assert.isBelow(page!, 8 * 1024)
      assert.isBelow(style!, 40 * 1024)
      assert.isBelow(script!, 600 * 1024)
      assert.isBelow(document!, 64 * 1024)
      const { text } = yield* call(`${url}/docs`)
      assert.include(text, "POST /v1/messages")
    }))

  it.effect("the page may not be framed, sends no referrer and loads from its own origin alone", () =>
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      const { headers, text } = yield* call(`${url}/docs`)
      const policy = new Map(
        headers.get("content-security-policy")!.split("; ").map((part) => {
          const [directive, ...sources] = part.split(" ")
          return [directive!, sources.join(" ")] as const
        })
      )
      assert.strictEqual(policy.get("default-src"), "'none'")
      assert.strictEqual(policy.get("frame-ancestors"), "'none'")
      for (const [directive, sources] of policy) assert.notMatch(sources, /https?:|\*|unsafe/, directive)
      assert.strictEqual(headers.get("x-frame-options"), "DENY")
      assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
      assert.notMatch(text, /https?:\/\//)
      // what the policy forbids is not there
      assert.notMatch(text, /<script(?![^>]* src=)|<style|style=|onload=/)
    }))

  it.effect(
    "the page shows the document and sends requests, and loads nothing from other sites",
    () =>
      Effect.gen(function*() {
        const { key, url } = yield* checks.Served
        const document = (yield* call(`${url}/openapi.json`)).body
        const shown = Object.fromEntries(
          Object.entries<object>(document.paths).filter(([path]) => path.startsWith("/v1/"))
        )
        const [page, script] = yield* Effect.forEach(["/docs", "/docs/reference.js"], (path) => call(url + path))
        yield* Effect.acquireUseRelease(
          Effect.sync(() => {
            const errors: Array<unknown> = []
            const virtualConsole = new VirtualConsole()
            virtualConsole.on("jsdomError", (error) => errors.push(error))
            const dom = new JSDOM(page!.text, {
              url: `${url}/docs`,
              runScripts: "outside-only",
              pretendToBeVisual: true,
              virtualConsole
            })
            return { dom, errors }
          }),
          ({ dom: { window }, errors }) =>
            Effect.gen(function*() {
              const asked: Array<{ readonly url: string; readonly headers: Headers }> = []
              Object.assign(window, {
                Request,
                Response,
                Headers,
                structuredClone,
                fetch: (input: string | Request, init?: RequestInit) => {
                  const target = new URL(typeof input === "string" ? input : input.url, window.location.href)
                  asked.push({ url: target.href, headers: new Headers(init?.headers) })
                  // the public part of it: a browser draws all of it in a second, jsdom takes a minute
                  return target.pathname === "/openapi.json"
                    ? fetch(target, init).then(() => Response.json({ ...document, paths: shown, webhooks: {} }))
                    : fetch(target, init)
                }
              })
              window.eval(script!.text)
              window.document.dispatchEvent(new window.Event("DOMContentLoaded"))
              const operations = Object.values<object>(shown).flatMap((methods) => Object.keys(methods))
              yield* until(() => window.document.querySelectorAll(".opblock").length === operations.length)

              yield* authorize(window, key.apiKey!)
              const send = yield* found(window.document, "[id$=\".send\"]")
              click(yield* found(send, ".opblock-summary-control"))
              click(yield* found(send, ".try-out__btn"))
              fill(window, yield* found(send, "tr[data-param-name=\"idempotency-key\"] input"), crypto.randomUUID())
              fill(window, yield* found(send, "textarea"), JSON.stringify(hello()))
              // the fields tell the page what they hold a little later; one that is not there yet is asked for
              yield* until(() => {
                const response = send.querySelector(".live-responses-table .response")
                if (response === null) click(send.querySelector(".execute")!)
                return response !== null
              })
              assert.include(send.querySelector(".live-responses-table")!.textContent, "\"status\": \"sent\"")

              const sent = asked.at(-1)!
              assert.isAbove(asked.length, 1)
              assert.strictEqual(sent.url, `${url}/v1/messages`)
              assert.strictEqual(sent.headers.get("authorization"), `Bearer ${key.apiKey}`)
              assert.isFalse(sent.headers.has("x-service-signature"))
              assert.notInclude(send.querySelector(".curl")!.textContent!.toLowerCase(), "signature")
              assert.deepStrictEqual(asked.map((one) => new URL(one.url).origin), asked.map(() => url))
              // nothing of the vendor of what shows it
              const links = [...window.document.querySelectorAll("a[href]")].map((a) => a.getAttribute("href")!)
              assert.deepStrictEqual(
                links.filter((href) => /^(https?:)?\/\//.test(href) && !href.startsWith("https://spdx.org/licenses/")),
                []
              )
              assert.strictEqual(window.document.querySelectorAll("iframe, img[src^=http], link[href^=http]").length, 0)
              assert.deepStrictEqual(errors, [])
            }),
          ({ dom }) => Effect.sync(() => dom.window.close())
        )
      })
  )
})

/** Waits until the page has drawn what it was asked for. */
const until = (holds: () => boolean) =>
  Effect.suspend(() => holds() ? Effect.void : Effect.fail("not yet")).pipe(
    Effect.retry(Schedule.spaced("250 millis")),
    Effect.timeout("5 minutes"),
    Effect.orDie
  )

const found = (within: ParentNode, selector: string) =>
  Effect.map(until(() => within.querySelector(selector) !== null), () => within.querySelector(selector)!)

const click = (element: Element): void => (element as HTMLElement).click()

/** Types into a field of React's, which listens to what the element's own setter does not tell it. */
const fill = (window: DOMWindow, element: Element, value: string): void => {
  const prototype = element instanceof window.HTMLTextAreaElement
    ? window.HTMLTextAreaElement.prototype
    : window.HTMLInputElement.prototype
  Object.getOwnPropertyDescriptor(prototype, "value")!.set!.call(element, value)
  element.dispatchEvent(new window.Event("input", { bubbles: true }))
  element.dispatchEvent(new window.Event("change", { bubbles: true }))
}

const authorize = Effect.fnUntraced(function*(window: DOMWindow, apiKey: string) {
  click(yield* found(window.document, ".btn.authorize"))
  // one field, for the key: no user and no password
  const field = yield* found(window.document, ".auth-container input")
  fill(window, field, apiKey)
  click(yield* found(window.document, ".auth-btn-wrapper .authorize"))
  click(yield* found(window.document, ".btn-done"))
})
