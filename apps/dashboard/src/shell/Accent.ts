/**
 * Derives the pages' colours from a host's colour, so that text in them is readable on light and dark backgrounds.
 * Pure.
 */

/** Red, green and blue, 0 to 255. */
type Colour = readonly [number, number, number]

const black: Colour = [0, 0, 0]
const white: Colour = [255, 255, 255]

/** Of the backgrounds that links stand on, the one in each scheme that has the least contrast to text. */
const backgrounds = { light: [241, 243, 241], dark: [24, 28, 26] } as const

/**
 * The least contrast of text to its scheme's background: above the required 4.5, which the other backgrounds then reach
 * too.
 */
const least = 5.2

/** The least contrast of text to the tinted background of its own colour: 4.5, and a margin for rounding. */
const leastOnSoft = 4.6

/** The share of the colour in the tinted background of selected things, by scheme: 0 to 1. */
const tint = { light: 0.1, dark: 0.12 }

/** How much darker or lighter the stronger shade of a colour is, for a button that is pointed at or pressed: 0 to 1. */
const emphasis = 0.15

const mapped = ([red, green, blue]: Colour, change: (part: number, i: 0 | 1 | 2) => number): Colour => [
  change(red, 0),
  change(green, 1),
  change(blue, 2)
]

const parse = (hex: string): Colour => {
  const digits = hex.length === 4 ? hex.replaceAll(/[\da-f]/gi, "$&$&") : hex
  const part = (at: number) => Number.parseInt(digits.slice(at, at + 2), 16)
  return [part(1), part(3), part(5)]
}

const format = (colour: Colour): string =>
  `#${colour.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`

const mix = (colour: Colour, other: Colour, part: number): Colour =>
  mapped(colour, (value, i) => value + (other[i] - value) * part)

const luminance = (colour: Colour): number => {
  const [red, green, blue] = mapped(
    colour,
    (part) => part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const ratio = (one: Colour, other: Colour): number => {
  const [less, more] = [luminance(one), luminance(other)].sort((a, b) => a - b)
  return (more! + 0.05) / (less! + 0.05)
}

/** The contrast between two colours in hexadecimal, as WCAG 2 defines it: 1 to 21. */
export const contrast = (one: string, other: string): number => ratio(parse(one), parse(other))

/** The nearest shade of a colour, mixed towards black or white, that is readable on both backgrounds. */
const readable = (colour: Colour, towards: Colour, background: Colour, soft: Colour): Colour => {
  for (let part = 0; part < 1; part += 0.02) {
    const shade = mix(colour, towards, part)
    if (ratio(shade, background) >= least && ratio(shade, soft) >= leastOnSoft) return shade
  }
  return towards
}

const schemeOf = (colour: Colour, towards: Colour, background: Colour, surface: Colour, part: number) => {
  const soft = mix(surface, colour, part)
  const accent = readable(colour, towards, background, soft)
  return {
    accent: format(accent),
    "accent-strong": format(mix(accent, towards, emphasis)),
    "accent-soft": format(soft)
  }
}

/**
 * The pages' colours for a host's colour (`#rgb` or `#rrggbb`), by scheme and name. `brand`, for buttons, is exactly
 * that colour.
 */
export const coloursOf = (hex: string) => {
  const colour = parse(hex)
  const on = ratio(colour, white) >= ratio(colour, black) ? white : black
  return {
    light: schemeOf(colour, black, backgrounds.light, white, tint.light),
    dark: schemeOf(colour, white, backgrounds.dark, backgrounds.dark, tint.dark),
    brand: {
      brand: format(colour),
      "brand-strong": format(mix(colour, on === white ? black : white, emphasis)),
      "on-brand": format(on)
    }
  }
}
