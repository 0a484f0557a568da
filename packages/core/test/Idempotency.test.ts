import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { Digest } from "effect/crypto"
import { createHash } from "node:crypto"
import { InvalidBody } from "../src/Errors.ts"
import { canonicalJson, fingerprint, parseKey } from "../src/Idempotency.ts"
import { between, checks, upTo } from "./checks.ts"

const reasonOfKey = (value: string | undefined) =>
  Result.match(parseKey(value), { onFailure: ({ reason }) => reason, onSuccess: (key) => `key ${key}` })

const visible = Schema.String.check(Schema.isPattern(/^[\x21-\x7e]{1,40}$/))
const quoted = (key: string) => `"${key.replace(/["\\]/g, "\\$&")}"`

describe("the header's value", () => {
  it.each([
    ["8e03978e-40d5-43e8-bc93-6894a57f9324", "8e03978e-40d5-43e8-bc93-6894a57f9324"],
    ["\"8e03978e-40d5-43e8-bc93-6894a57f9324\"", "8e03978e-40d5-43e8-bc93-6894a57f9324"],
    ["k", "k"],
    ["\"k\"", "k"],
    ["\"a\\\"b\"", "a\"b"],
    ["\"a\\\\b\"", "a\\b"],
    ["a,b", "a,b"],
    ["~!#$%&'()*+-./:;<=>?@[]^_`{|}", "~!#$%&'()*+-./:;<=>?@[]^_`{|}"],
    ["k".repeat(255), "k".repeat(255)],
    [`"${"k".repeat(255)}"`, "k".repeat(255)]
  ])("%j is the key %j", (value, key) => {
    assert.strictEqual(reasonOfKey(value), `key ${key}`)
  })

  it.each([
    "",
    "\"\"",
    " ",
    "\" \"",
    "a b",
    " a",
    "a ",
    "\"a b\"",
    " \"a\"",
    "\"a\" ",
    "a\tb",
    "a\nb",
    "\"a\nb\"",
    "a\r\nX: y",
    "a\u0000",
    "\u001f",
    "\u007f",
    "\u0080",
    "ключ",
    "kéy",
    "🔑",
    "\"🔑\"",
    // what Node makes of a repeated header
    "k, k",
    "k1, k2",
    "\"k\", \"k\"",
    "k".repeat(256),
    `"${"k".repeat(256)}"`,
    "k".repeat(10_000)
  ])("%j is refused", (value) => {
    assert.strictEqual(reasonOfKey(value), "invalid_idempotency_key")
  })

  it("the header is required", () => {
    assert.strictEqual(reasonOfKey(undefined), "missing_idempotency_key")
  })

  it("the error names the header", () => {
    for (const value of [undefined, "", "a b"]) {
      const error = Result.getOrThrow(Result.flip(parseKey(value)))
      assert.instanceOf(error, InvalidBody)
      assert.strictEqual(error.code, "invalid_body")
      assert.strictEqual(error.param, "Idempotency-Key")
    }
  })

  it.prop("the quoted and the bare form are the same key", { key: visible }, ({ key }) => {
    if (!/^".*"$/.test(key)) assert.strictEqual(reasonOfKey(key), `key ${key}`)
    assert.strictEqual(reasonOfKey(quoted(key)), `key ${key}`)
  }, checks)

  it.prop("any text is a key of visible ASCII or refused", { value: Schema.String }, ({ value }) => {
    const result = parseKey(value)
    if (Result.isSuccess(result)) assert.match(result.success, /^[\x21-\x7e]{1,255}$/)
    else assert.strictEqual(result.failure.reason, "invalid_idempotency_key")
  }, checks)
})

/** The same value with the keys of every object in another order. */
const reordered = (value: Schema.Json, turn: number): Schema.Json => {
  if (Array.isArray(value)) return value.map((item: Schema.Json) => reordered(item, turn))
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, reordered(inner as Schema.Json, turn)] as const)
  return Object.fromEntries(
    [...entries.slice(turn % (entries.length || 1)), ...entries.slice(0, turn % (entries.length || 1))]
      .reverse()
  )
}

describe("canonical JSON", () => {
  it.each<[unknown, string]>([
    [{ b: 1, a: 2 }, "{\"a\":2,\"b\":1}"],
    [{ b: { d: 1, c: 2 }, a: [{ z: 1, y: 2 }] }, "{\"a\":[{\"y\":2,\"z\":1}],\"b\":{\"c\":2,\"d\":1}}"],
    [[3, 1, 2], "[3,1,2]"],
    [{ a: [], b: {} }, "{\"a\":[],\"b\":{}}"],
    [{ B: 1, a: 2, A: 3, _: 4 }, "{\"A\":3,\"B\":1,\"_\":4,\"a\":2}"],
    [{ "é": 1, e: 2, "z": 3 }, "{\"e\":2,\"z\":3,\"é\":1}"],
    [{ text: "olá 👋 \n\"\\" }, "{\"text\":\"olá 👋 \\n\\\"\\\\\"}"],
    [{ a: null, b: true, c: 1.5, d: "" }, "{\"a\":null,\"b\":true,\"c\":1.5,\"d\":\"\"}"],
    [{ a: undefined, b: 1 }, "{\"b\":1}"],
    [
      JSON.parse("{\"b\":1,\"__proto__\":{\"y\":1,\"x\":2},\"a\":3}"),
      "{\"__proto__\":{\"x\":2,\"y\":1},\"a\":3,\"b\":1}"
    ],
    ["text", "\"text\""],
    [null, "null"]
  ])("the canonical JSON of %j is %s", (value, text) => {
    assert.strictEqual(canonicalJson(value), text)
  })

  it("canonical JSON does not depend on the order of keys that look like numbers", () => {
    assert.strictEqual(canonicalJson({ b: 1, 10: 2, 9: 3, a: 4 }), canonicalJson({ a: 4, 9: 3, b: 1, 10: 2 }))
  })

  it("canonical JSON distinguishes array orders and nesting", () => {
    const texts = [[1, 2], [2, 1], [[1], 2], [1, [2]], { a: { b: 1 } }, { a: 1, b: 1 }, { "a.b": 1 }, "1", 1].map(
      canonicalJson
    )
    assert.strictEqual(new Set(texts).size, texts.length)
  })

  it.prop("canonical JSON means the same value, whatever the order of keys", {
    value: Schema.Json,
    turn: between(0, 7)
  }, (_) => {
    const canonical = canonicalJson(_.value)
    assert.strictEqual(canonicalJson(reordered(_.value, _.turn)), canonical)
    assert.deepEqual(JSON.parse(canonical), JSON.parse(JSON.stringify(_.value)))
    assert.strictEqual(canonicalJson(JSON.parse(canonical)), canonical)
  }, checks)

  it.effect("the fingerprint is computed from canonical JSON", () =>
    Effect.gen(function*() {
      const body = { type: "text", to: "+12025550123", text: { previewUrl: true, body: "olá 👋" } }
      assert.strictEqual(
        yield* fingerprint(yield* Digest.Digest, body),
        createHash("sha256")
          .update("{\"text\":{\"body\":\"olá 👋\",\"previewUrl\":true},\"to\":\"+12025550123\",\"type\":\"text\"}")
          .digest("hex")
      )
    }).pipe(Effect.provide(Digest.layerWebCrypto)))
})

it.prop("lists of keys keep their order", { keys: upTo(visible, 5) }, ({ keys }) => {
  assert.deepStrictEqual(JSON.parse(canonicalJson(keys)), keys)
}, checks)
