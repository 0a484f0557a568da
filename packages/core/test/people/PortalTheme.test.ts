import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import * as Portal from "../../src/people/Portal.ts"
import {
  familiesOf,
  fieldsOf,
  isAccent,
  isLogo,
  isRadius,
  type PortalTheme,
  read,
  schemes
} from "../../src/people/PortalTheme.ts"
import { between, checks, upTo } from "../checks.ts"

const origins = ["https://app.example", "http://localhost:3000"]
const names = ["accent", "logo", "radius", "font", "scheme"] as const

/** Text that is, or is close to, a value of some field. */
const Part = Schema.Literals([
  "#0b7446",
  "#FC0",
  "#",
  "data:image/png;base64,",
  "data:image/svg+xml;base64,",
  "AAAA",
  "==",
  "https://app.example",
  "https://app.example@other.example",
  "/logo.svg",
  "javascript:",
  "Inter",
  ", ",
  "\"",
  "'",
  "\\",
  ";",
  "}",
  "(",
  "url(",
  "</style>",
  "system-ui",
  "12",
  "24",
  "1e1",
  "-",
  " ",
  "\n",
  "auto",
  "dark"
])
const Text = upTo(Part, 4)

describe("read", () => {
  it.prop(
    "whatever an address has, only valid values are taken, and none ends a CSS value or names another origin",
    { accent: Text, logo: Text, radius: Text, font: Text, scheme: Text },
    (given) => {
      const theme = read(new URLSearchParams(names.map((name) => [name, given[name].join("")])), origins)
      if (theme.accent !== undefined) assert.match(theme.accent, /^#[0-9a-fA-F]{3}(?:[0-9a-fA-F]{3})?$/)
      if (theme.radius !== undefined) assert.isTrue(Number.isInteger(theme.radius) && theme.radius <= 24)
      if (theme.scheme !== undefined) assert.include(schemes, theme.scheme)
      if (theme.font !== undefined) assert.notMatch(familiesOf(theme.font)!.join(), /["'\\;(){}<>\n]/)
      if (theme.logo !== undefined && !theme.logo.startsWith("data:image/")) {
        assert.include(origins, new URL(theme.logo).origin)
      }
      // what a page stores and reads again is the same
      assert.deepStrictEqual(read(fieldsOf(theme), origins), theme)
    },
    checks
  )

  it.prop(
    "a theme that a link accepts is read from its address as it was given",
    {
      red: between(0, 255),
      accent: Schema.Boolean,
      radius: between(0, 24),
      font: Schema.Literals([
        "Inter",
        "'Noto Sans', system-ui",
        "\"Source Sans 3\",Helvetica Neue",
        "ヒラギノ角ゴ, -apple-system"
      ]),
      logo: Schema.Literals(["https://app.example/a b?c=d&e=#f+g%20", "data:image/png;base64,iVBORw0KGgo+/a=="]),
      scheme: Schema.Literals(schemes)
    },
    ({ accent, font, logo, radius, red, scheme }) => {
      const theme: PortalTheme = {
        ...(accent ? { accent: `#${red.toString(16).padStart(2, "0")}00Ff` } : {}),
        logo,
        radius,
        font,
        scheme
      }
      assert.deepStrictEqual(Schema.decodeUnknownSync(Portal.themeOf(origins))(theme), theme)
      assert.deepStrictEqual(read(new URLSearchParams(fieldsOf(theme).toString()), origins), theme)
    },
    checks
  )
})

it.each(["#0b7446", "#0B7446", "#fc0"])("%s is a colour", (text) => assert.isTrue(isAccent(text)))

it.each(["", "0b7446", "#0b74", "#0b7446ff", "red", "#0b7446 ", "#ggg"])(
  "“%s” is not a colour",
  (text) => assert.isFalse(isAccent(text))
)

it.each([
  "https://app.example/logo.svg",
  "http://localhost:3000/logo.png",
  "data:image/webp;base64,UklGRg=="
])("%s can be a logo", (text) => assert.isTrue(isLogo(text, origins)))

it.each([
  "",
  "/logo.svg",
  "//app.example/logo.svg",
  "https://app.example.evil.example/logo.svg",
  "http://app.example/logo.svg",
  "javascript:alert(1)",
  "blob:https://app.example/1",
  "data:text/html;base64,AAAA",
  "data:image/svg+xml,<svg/>",
  "data:image/png;base64,"
])("“%s” cannot be a logo", (text) => assert.isFalse(isLogo(text, origins)))

it("corners are whole pixels from 0 to 24", () => {
  assert.deepStrictEqual([-1, 0, 24, 25, 1.5, Number.NaN].filter(isRadius), [0, 24])
})

it("names of fonts lose their quotes, and a list with a name that is empty or has other characters is refused", () => {
  assert.deepStrictEqual(familiesOf("Inter, 'Noto Sans' ,\"Source Sans 3\", system-ui"), [
    "Inter",
    "Noto Sans",
    "Source Sans 3",
    "system-ui"
  ])
  for (const text of ["", "Inter,", "Inter; a: b", "'Inter", "a\"b", "var(--x)", "a\nb", "x".repeat(201)]) {
    assert.isUndefined(familiesOf(text), text)
  }
})
