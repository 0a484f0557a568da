/**
 * The portal's theme: its look in a host's page (contract §12). The theme is behind `#` in a link's address, where a
 * visitor can change it, so only valid values are accepted there. The service and the portal's pages share this file,
 * so it imports nothing. Pure.
 */

/** Light, dark, or as the visitor's device has it. */
export const schemes = ["auto", "light", "dark"] as const

/** The look of the host's own pages. Omitted fields keep the portal's own look. */
export interface PortalTheme {
  /** The colour of buttons, and of links in a readable shade: `#0b7446` or `#074`. */
  readonly accent?: string
  /** The URL of an image at one of the portal's origins, or an image as a base64 `data:` URL. */
  readonly logo?: string
  /** The corners of cards in CSS pixels. */
  readonly radius?: number
  /** Font families, most preferred first. */
  readonly font?: string
  readonly scheme?: (typeof schemes)[number]
}

/** The largest corner, in CSS pixels. */
export const maxRadius = 24

/** The most characters of an image in a theme. */
export const maxLogo = 32_768

const maxLogoUrl = 2048
const maxFont = 200

/** Whether text is a colour in hexadecimal. */
export const isAccent = (text: string): boolean => /^#(?:[\da-f]{3}|[\da-f]{6})$/i.test(text)

/** Whether text is an image in a `data:` URL, or the URL of one at one of the origins. */
export const isLogo = (text: string, origins: ReadonlyArray<string>): boolean =>
  text.startsWith("data:")
    ? text.length <= maxLogo && /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml);base64,[\w+/]+={0,2}$/.test(text)
    : text.length <= maxLogoUrl && origins.some((origin) => text.startsWith(`${origin}/`))

/** Whether a number is a corner in whole pixels. */
export const isRadius = (pixels: number): boolean => Number.isInteger(pixels) && pixels >= 0 && pixels <= maxRadius

const isScheme = (text: string): text is (typeof schemes)[number] => schemes.some((scheme) => scheme === text)

/**
 * The names in a list of font families; `undefined` if the text is not a list of names that are safe in a CSS string.
 */
export const familiesOf = (text: string): ReadonlyArray<string> | undefined => {
  const names = text.split(",").map((name) => name.trim().replace(/^(["'])(.*)\1$/, "$2"))
  return text.length <= maxFont && names.every((name) => /^[\p{L}\p{N}-][\p{L}\p{N} ._+-]*$/u.test(name))
    ? names
    : undefined
}

/** The fields of an address that describe a theme, and are valid. `origins` are those whose pages may frame the portal. */
export const read = (fields: URLSearchParams, origins: ReadonlyArray<string>): PortalTheme => {
  const accent = fields.get("accent") ?? ""
  const logo = fields.get("logo") ?? ""
  const radius = fields.get("radius") ?? ""
  const font = fields.get("font") ?? ""
  const scheme = fields.get("scheme") ?? ""
  return {
    ...(isAccent(accent) ? { accent } : {}),
    ...(isLogo(logo, origins) ? { logo } : {}),
    ...(/^\d+$/.test(radius) && isRadius(Number(radius)) ? { radius: Number(radius) } : {}),
    ...(familiesOf(font) === undefined ? {} : { font }),
    ...(isScheme(scheme) ? { scheme } : {})
  }
}

/** The fields from which {@link read} gets the theme. */
export const fieldsOf = ({ accent, font, logo, radius, scheme }: PortalTheme): URLSearchParams =>
  new URLSearchParams(
    Object.entries({ accent, radius, font, scheme, logo }).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]]
    )
  )
