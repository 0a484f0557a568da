import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { decodeCursor, defaultLimit, encodeCursor, fromOverread, maxLimit, type Places } from "../src/Page.ts"
import { between, checks } from "./checks.ts"

const id = "msg_01HZXAZ09BY18CX27DW36EV45F"
const base64url = (text: string) => Buffer.from(text).toString("base64url")

describe("a cursor", () => {
  it("a cursor hides the identifier and decodes to it", () => {
    const cursor = encodeCursor(id)
    assert.match(cursor, /^[A-Za-z0-9_-]+$/)
    assert.notInclude(cursor, id)
    assert.deepStrictEqual(decodeCursor(cursor, "msg"), Result.succeed(id))
  })

  it.each(["+15551234567", "US.13491208655302741918", "a:b é\u{1F4E6}"])("a cursor can hold the key %s", (key) => {
    const contact = `pn_01HZXAZ09BY18CX27DW36EV45F:${key}`
    assert.deepStrictEqual(decodeCursor(encodeCursor(contact), "contacts"), Result.succeed(contact))
  })

  it.each([
    ["nothing", ""],
    ["an identifier", id],
    ["no base64", "!!!"],
    ["base64 of another alphabet", `${Buffer.from(`1:${id}`).toString("base64")}+/==`],
    ["no version", base64url(id)],
    ["another version", base64url(`2:${id}`)],
    ["no identifier", base64url("1:")],
    ["something after it", base64url(`1:${id}\n`)],
    ["something before it", base64url(` 1:${id}`)],
    ["an identifier in lower case", base64url(`1:${id.toLowerCase()}`)],
    ["half an identifier", base64url(`1:${id.slice(0, -1)}`)],
    ["a prefix in upper case", base64url(`1:${id.toUpperCase()}`)],
    ["a contact without a key", base64url("1:pn_01HZXAZ09BY18CX27DW36EV45F:")],
    ["a contact with NUL in its key", base64url("1:pn_01HZXAZ09BY18CX27DW36EV45F:+1\0")],
    ["a number", base64url("1:42")],
    ["a statement", base64url("1:' OR 1=1 --")],
    ["bytes that are no text", Buffer.from([0xff, 0xfe, 0x00]).toString("base64url")],
    ["spaces", "   "],
    ["a path", "../../etc/passwd"]
  ])("a cursor is not %s", (_, cursor) => {
    for (const places of ["msg", "pn", "contacts", "rows"] as const) {
      const result = decodeCursor(cursor, places)
      if (Result.isSuccess(result)) return assert.fail(places)
      assert.deepStrictEqual(
        [result.failure.code, result.failure.reason, result.failure.param],
        ["invalid_body", "invalid_field", "cursor"]
      )
    }
  })

  it.each<[string, Places]>([
    [id, "evt"],
    [id, "contacts"],
    [`${id}:1`, "msg"],
    ["pn_01HZXAZ09BY18CX27DW36EV45F", "contacts"],
    ["pn_01HZXAZ09BY18CX27DW36EV45F:+15551234567", "pn"],
    ["cmp_01HZXAZ09BY18CX27DW36EV45F", "rows"],
    ["cmp_01HZXAZ09BY18CX27DW36EV45F:1", "cmp"],
    ["cmp_01HZXAZ09BY18CX27DW36EV45F:x", "rows"]
  ])("the cursor of %s is not one of a list of %s", (after, places) => {
    assert.isTrue(Result.isFailure(decodeCursor(encodeCursor(after), places)))
  })

  it.prop("any text decodes to an identifier or is refused", { text: Schema.String }, ({ text }) => {
    for (const cursor of [text, base64url(text), base64url(`1:${text}`)]) {
      const result = decodeCursor(cursor, "msg")
      if (Result.isSuccess(result)) assert.match(result.success, /^[a-z]+_[0-9A-Z]{26}(:[^\0]+)?$/)
      else assert.strictEqual(result.failure.param, "cursor")
    }
  }, checks)

  it.prop("every identifier survives encoding and decoding", {
    id: Schema.String.check(Schema.isPattern(/^[a-z]{2,3}_[0-7][0-9A-HJKMNP-TV-Z]{25}$/))
  }, ({ id }) => {
    assert.deepStrictEqual(decodeCursor(encodeCursor(id), id.slice(0, id.indexOf("_")) as Places), Result.succeed(id))
  }, checks)
})

describe("a page of a query with one extra row", () => {
  const cut = (items: ReadonlyArray<string>, limit: number) =>
    fromOverread(items, { limit, after: null }, (item) => item)

  it.each([
    { items: [], limit: 2, page: { items: [], next: null } },
    { items: ["a"], limit: 2, page: { items: ["a"], next: null } },
    { items: ["a", "b"], limit: 2, page: { items: ["a", "b"], next: null } },
    { items: ["a", "b", "c"], limit: 2, page: { items: ["a", "b"], next: "b" } },
    { items: ["a", "b"], limit: 1, page: { items: ["a"], next: "a" } }
  ])("$items, $limit at a time", ({ items, limit, page }) => {
    assert.deepStrictEqual(cut(items, limit), page)
  })

  it.prop(
    "following the pages returns every item once, in order",
    { count: between(0, 60), limit: between(1, 20) },
    (_) => {
      const all = Array.from({ length: _.count }, (_, i) => String(i).padStart(2, "0"))
      const shown: Array<string> = []
      let after: string | null = null
      do {
        const rest: ReadonlyArray<string> = all.filter((item) => after === null || item > after)
        const page = cut(rest.slice(0, _.limit + 1), _.limit)
        assert.isAtMost(page.items.length, _.limit)
        shown.push(...page.items)
        // otherwise the pages would never end
        if (page.next !== null) assert.isTrue(after === null || page.next > after)
        after = page.next
      } while (after !== null)
      assert.deepStrictEqual(shown, all)
    },
    checks
  )

  it("a page holds 25 items by default, and at most 100", () => {
    assert.deepStrictEqual([defaultLimit, maxLimit], [25, 100])
  })
})
