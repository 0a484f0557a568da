/**
 * The colours that a host's colour becomes, against the pages' own.
 */
import { readFileSync } from "node:fs"
import { assert, it } from "vitest"
import { coloursOf, contrast } from "../src/shell/Accent.ts"

const styles = readFileSync(new URL("../src/styles.css", import.meta.url), "utf8")

/** The pages' own colours, light and dark. */
const own = Object.fromEntries(
  [...styles.matchAll(/--color-([a-z-]+): light-dark\((#[\da-f]{6}), (#[\da-f]{6})\)/g)]
    .map(([, name, light, dark]) => [name!, { light: light!, dark: dark! }])
)

const backgrounds = ["canvas", "surface", "sunken", "good-soft", "warn-soft", "bad-soft"]

const parts = ["00", "33", "66", "99", "cc", "ff"]

/** Colours from every part of the cube, and some hosts'. */
const accents = [
  ...parts.flatMap((red) => parts.flatMap((green) => parts.map((blue) => `#${red}${green}${blue}`))),
  "#fc0",
  "#777777",
  "#767676",
  "#0B7446"
]

it("links and buttons of every accent are readable on every background, light and dark", () => {
  for (const accent of accents) {
    const { brand, dark, light } = coloursOf(accent)
    for (const [scheme, colours] of [["light", light], ["dark", dark]] as const) {
      const behind = [...backgrounds.map((name) => own[name]![scheme]), colours["accent-soft"]]
      for (const background of behind) {
        assert.isAtLeast(contrast(colours.accent, background), 4.5, `${accent} on ${background}`)
      }
      for (const name of ["ink", "muted"]) {
        assert.isAtLeast(contrast(own[name]![scheme], colours["accent-soft"]), 4.5, `${name} on ${accent}`)
      }
    }
    for (const background of [brand.brand, brand["brand-strong"]]) {
      assert.isAtLeast(contrast(brand["on-brand"], background), 4.5, `button ${accent}`)
    }
  }
})

it("a button has exactly the host’s colour, and so has a link whose colour is readable", () => {
  assert.strictEqual(coloursOf("#FC0").brand.brand, "#ffcc00")
  assert.strictEqual(coloursOf("#0b7446").light.accent, "#0b7446")
  assert.strictEqual(coloursOf("#4cc38a").dark.accent, "#4cc38a")
})
