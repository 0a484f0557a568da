import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { InvalidBody } from "../../src/Errors.ts"
import { parseUrl, pause, resume } from "../../src/webhooks/Webhook.ts"
import { checks } from "../checks.ts"
import { health, start, webhook } from "../samples.ts"

const strict = { allowInsecure: false }
const lax = { allowInsecure: true }

describe("a receiver's URL", () => {
  it.each([
    ["https://receiver.example", "https://receiver.example/"],
    ["https://receiver.example/hooks?a=b#c", "https://receiver.example/hooks?a=b#c"],
    ["https://receiver.example:8443/", "https://receiver.example:8443/"],
    ["HTTPS://RECEIVER.example/Path", "https://receiver.example/Path"],
    ["https://203.0.113.7/", "https://203.0.113.7/"],
    ["https://[2001:db8::1]/", "https://[2001:db8::1]/"],
    ["https://receiver.example/a b", "https://receiver.example/a%20b"],
    ["https://bücher.example/", "https://xn--bcher-kva.example/"]
  ])("%s", (text, href) => {
    for (const options of [strict, lax]) {
      const url = parseUrl(text, options)
      assert.strictEqual(url instanceof URL ? url.href : url.message, href)
    }
  })

  it("a receiver's URL may be http only if the operator allows it, and the refusal says so", () => {
    assert.instanceOf(parseUrl("http://localhost:9000/", lax), URL)
    const messageFor = (url: string) => (parseUrl(url, strict) as InvalidBody).message
    assert.strictEqual(
      messageFor("http://localhost:9000/"),
      "url must be an https URL; the operator of this service can allow http"
    )
    assert.strictEqual(messageFor("ftp://receiver.example/"), "url must be an https URL")
  })

  it("a receiver's URL has at most 2048 characters", () => {
    const ofLength = (length: number) => `https://receiver.example/${"x".repeat(length - 25)}`
    assert.strictEqual(ofLength(2048).length, 2048)
    assert.instanceOf(parseUrl(ofLength(2048), strict), URL)
    assert.instanceOf(parseUrl(ofLength(2049), strict), InvalidBody)
  })

  it.each([
    "",
    " ",
    "receiver.example",
    "//receiver.example/",
    "/hooks",
    "https://",
    "https:///",
    "https://user@receiver.example/",
    "https://user:secret@receiver.example/",
    "https://:secret@receiver.example/",
    "ftp://receiver.example/",
    "ws://receiver.example/",
    "wss://receiver.example/",
    "file:///etc/passwd",
    "data:text/plain,x",
    "javascript:alert(1)",
    "gopher://receiver.example/",
    "https://receiver.example:99999/",
    "https://receiver.example:0/",
    "https://[::1/",
    "https://exa mple/"
  ])("a webhook's URL is not %j", (text) => {
    for (const options of [strict, lax]) {
      const error = parseUrl(text, options)
      assert.instanceOf(error, InvalidBody)
      if (error instanceof InvalidBody) {
        assert.deepStrictEqual([error.reason, error.param], ["invalid_field", "url"])
        assert.notInclude(error.message, "secret")
      }
    }
  })

  it.prop("any text is an https URL or refused", { text: Schema.String }, ({ text }) => {
    for (const given of [text, `https://${text}`, `https://receiver.example/${text}`]) {
      const url = parseUrl(given, strict)
      if (url instanceof URL) {
        assert.deepStrictEqual([url.protocol, url.username, url.password], ["https:", "", ""])
      } else assert.strictEqual(url.param, "url")
    }
  }, checks)
})

describe("pausing and resuming", () => {
  it("pausing again keeps the first pause and everything else", () => {
    const active = webhook()
    const paused = { ...active, pausedAt: start }
    assert.deepStrictEqual(pause(active, start), paused)
    assert.deepStrictEqual(pause(paused, start + 1), paused)
    assert.deepStrictEqual(resume(paused, start + 5), { ...active, resumedAt: start + 5 })
    assert.deepStrictEqual(resume(active, start + 5), active)
  })

  it("a resume comes after the last attempt and the previous resume, whatever the clocks", () => {
    const paused = webhook({ pausedAt: start, resumedAt: start + 7, health: health({ lastAttemptAt: start + 3 }) })
    assert.strictEqual(resume(paused, start).resumedAt, start + 8)
    assert.strictEqual(resume({ ...paused, resumedAt: null }, start).resumedAt, start + 4)
  })
})
