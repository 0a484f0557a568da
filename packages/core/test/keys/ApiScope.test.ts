import { assert, it } from "@effect/vitest"
import { all, defaults, granted, missing } from "../../src/keys/ApiScope.ts"

it("a key that was created without a choice may send, read messages and write media", () => {
  assert.deepStrictEqual(granted(undefined), ["messages:send", "messages:read", "media:write"])
  assert.strictEqual(granted(undefined), defaults)
})

it("every key may send, whatever was asked for", () => {
  assert.deepStrictEqual(granted([]), ["messages:send"])
  assert.deepStrictEqual(granted(["contacts:write"]), ["messages:send", "contacts:write"])
})

it("neither order nor repetition matters to what is granted", () => {
  assert.deepStrictEqual(granted([...all, ...all].reverse()), all)
  assert.deepStrictEqual(
    granted(["media:write", "messages:read", "messages:send", "messages:read"]),
    granted(["messages:read", "media:write"])
  )
})

it("a key lacks each scope that it was not given", () => {
  for (const scope of all) {
    assert.isUndefined(missing(all, scope))
    const without = all.filter((other) => other !== scope)
    assert.strictEqual(missing(without, scope)?.reason, "missing_scope")
    assert.include(missing(without, scope)?.message, scope)
  }
})
