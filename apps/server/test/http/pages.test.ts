/**
 * The pages for people, and errors about one of several words.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { type Answer, call, ready, send, start } from "../harness.ts"

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

/** Every address that a page leads to. */
const linksOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/href="([^"#]+)"/g)].map(([, address]) => address!)

describe("the pages for people", () => {
  it.live("every link of the pages has a target, and the pages show the running version", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      for (const path of ["/dashboard", "/dashboard/setup", "/docs/errors"]) {
        const { text } = yield* call(url + path)
        assert.isNotEmpty(linksOf(text))
        for (const link of linksOf(text)) {
          assert.strictEqual((yield* call(new URL(link, url + path).href)).status, 200, `${path} ${link}`)
        }
      }
      assert.include((yield* call(`${url}/dashboard`)).text, `<meta name="wac-version" content="${version}">`)
      const icon = yield* call(`${url}/favicon.ico`)
      assert.deepStrictEqual([icon.status, icon.headers.get("content-type")], [200, "image/svg+xml"])
    }).pipe(Effect.scoped))
})

describe("an error about an enumeration", () => {
  it.live("an error about an enumeration lists the permitted values, in bodies and queries", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const { session, url } = server
      const said = ({ body, status }: Answer) => [status, body.error.param, body.error.message]
      assert.deepStrictEqual(said(yield* send(server, { to: "+15551234567", type: "fax" })), [
        400,
        "type",
        "type must be template, text, image, audio, video, document, sticker, location, contacts, interactive or " +
        "reaction"
      ])
      const put = { url: "https://example.com", envelope: "c" }
      const envelope = yield* call(`${url}/internal/webhook`, { method: "PUT", headers: session, body: put })
      assert.deepStrictEqual(said(envelope), [400, "envelope", "envelope must be combined, a or b"])
      const status = yield* call(`${url}/internal/webhook/deliveries?status=lost`, { headers: session })
      assert.match(status.body.error.message, /^status must be pending, held, delivered, exhausted or skipped$/)
    }).pipe(Effect.scoped))
})
