/**
 * Which values of the header `Prefer` ask for an answer before the work is done (RFC 7240).
 */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { asksForAsync } from "../../src/messages/Prefer.ts"

/** Preferences of other names, with values and parameters that look like what they are beside. */
const other = Schema.Struct({
  name: Schema.Literals(["wait", "return", "x", "respond-asynchronously", "FOO"]),
  value: Schema.Literals([
    "",
    "=5",
    "=\"\"",
    " = respond-async",
    "=\"a, respond-async, b\"",
    "=\"\\\", respond-async\""
  ]),
  parameters: Schema.Literals(["", ";respond-async", "; p=\"x, respond-async\"", " ; a=1; b"])
})

const others = Schema.Array(other).check(Schema.isMaxLength(4))

const written = (preferences: ReadonlyArray<typeof other.Type>) =>
  preferences.map(({ name, parameters, value }) => `${name}${value}${parameters}`)

describe("the header Prefer", () => {
  it.each([
    "respond-async",
    "Respond-Async",
    " respond-async ",
    "respond-async;wait=10",
    "respond-async ; wait = 10",
    "respond-async=\"\"",
    "respond-async=",
    "return=minimal, respond-async",
    "respond-async, wait=100, handling=lenient",
    "foo=\"a, b\\\", c\", respond-async",
    ", respond-async",
    "respond-async, respond-async=1"
  ])("%j asks for it", (header) => {
    assert.isTrue(asksForAsync(header))
  })

  it.each([
    "",
    ",",
    "wait=100",
    "respond_async",
    "x-respond-async",
    "foo; respond-async",
    "foo=respond-async",
    "foo=\"a, respond-async, b\"",
    "foo=\"\\\", respond-async",
    "respond-async=1",
    "respond-async=1, respond-async"
  ])("%j does not ask for it", (header) => {
    assert.isFalse(asksForAsync(header))
  })

  it("a request without the header asks for nothing", () => {
    assert.isFalse(asksForAsync(undefined))
  })

  it.prop(
    "other preferences, whatever their values and parameters, neither ask for it nor hide it",
    { before: others, after: others },
    ({ after, before }) => {
      assert.isFalse(asksForAsync([...written(before), ...written(after)].join(", ")))
      assert.isTrue(asksForAsync([...written(before), "respond-async", ...written(after)].join(", ")))
    }
  )
})
