import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as EmailAddress from "../../src/people/EmailAddress.ts"

describe("an e-mail address", () => {
  it.each([
    [" Ada@Example.com\n", "ada@example.com"],
    ["\uFF21DA@example.com", "ada@example.com"],
    ["\u212Aate@example.com", "kate@example.com"],
    ["ju\u0308rgen@example.com", "j\u00FCrgen@example.com"]
  ])("%j is compared as %j", (given, compared) => {
    assert.strictEqual(EmailAddress.normalize(given), compared)
    assert.strictEqual(EmailAddress.normalize(compared), compared)
  })

  it.each([
    ["the Kelvin sign", "\u212Aate@example.com"],
    ["full width", "\uFF2FWNER@example.com"],
    ["a mathematical letter", "\u{1D41A}da@example.com"],
    ["a ligature", "o\uFB03ce@example.com"],
    ["a zero width space", "ada\u200B@example.com"],
    ["a zero width joiner", "a\u200Dda@example.com"],
    ["a soft hyphen", "a\u00ADda@example.com"],
    ["a variation selector", "ada\uFE0F@example.com"],
    ["a filler", "ada\u3164@example.com"],
    ["a change of direction", "\u202Eada@example.com"],
    ["a control character", "a\u0007da@example.com"],
    ["a space that does not break", "a\u00A0da@example.com"],
    ["a Cyrillic letter in the domain", "owner@exampl\u0435.com"],
    ["Cyrillic letters only before a Latin domain", "\u0430\u0441\u0435@example.com"],
    ["a Greek letter", "\u03BFwner@example.com"],
    ["an Armenian letter", "\u0585wner@example.com"],
    ["a Cherokee letter", "\u13A0da@example.com"],
    ["Cherokee letters only", "\u13A0\u13A1@\u13A0\u13A1"],
    ["a click letter", "ada\u01C3@example.com"],
    ["a script a", "\u0251da@example.com"],
    ["a dotless i", "\u0131da@example.com"],
    ["a second dot", "i\u0307da@example.com"],
    ["a dotted capital I", "\u0130da@example.com"],
    ["a digit of another script", "ada\u0660@example.com"],
    ["another hyphen", "a\u2010da@example.com"],
    ["another slash", "a\u2215da@example.com"],
    ["an accent on a full stop", "a.\u0323da@example.com"]
  ])("an e-mail address is refused with %s", (_, given) => {
    assert.isDefined(EmailAddress.issueOf(given))
    assert.isFalse(Schema.is(EmailAddress.EmailAddress)(given))
  })

  it.each([
    "ada@example.com",
    "Ada.O'Neil+wac_1@mail-2.example.com",
    "j\u00FCrgen@m\u00FCller.example",
    "ju\u0308rgen@example.com",
    "s\u00F8ren@stra\u00DFe.example",
    "\u043F\u043E\u0447\u0442\u0430@\u043F\u0440\u0438\u043C\u0435\u0440.\u0440\u0444",
    "\u7528\u6237@\u4F8B\u5B50.\u4E2D\u56FD",
    "\u7528\u6237@example.com",
    "\u3086\u30FC\u3056@\u4F8B.jp",
    "\uC0AC\uC6A9\uC790@\uC608.kr",
    "owner@xn--exampl-2of.com"
  ])("%s is accepted", (given) => {
    assert.isUndefined(EmailAddress.issueOf(given))
    assert.isTrue(Schema.is(EmailAddress.EmailAddress)(given))
  })

  it.each(["", "a@", "@b", "a b@c", "a@b@c", "ada\u0000@example.com", `${"a".repeat(251)}@b.c`])(
    "%j is none",
    (given) => {
      assert.isFalse(Schema.is(EmailAddress.EmailAddress)(given))
    }
  )
})
