/**
 * The look of a host's pages, which the link of the portal has behind `#`. The frame keeps it for when it is loaded
 * again. What is set on the page are CSS properties of checked values, and nothing else.
 */
import { familiesOf, fieldsOf, type PortalTheme, read } from "@wac/core/people/PortalTheme"
import { tokenOfLink } from "../session/Link.ts"
import { portal, portalOrigins } from "../session/Service.ts"
import { coloursOf } from "./Accent.ts"

/** Families that CSS or a browser itself defines; quotes would make them names of fonts. */
const generic = /^(?:serif|sans-serif|monospace|cursive|system-ui|ui-[a-z-]+|-apple-system|BlinkMacSystemFont)$/

const name = `wac-portal-theme-${portal}`

const keep = (theme: PortalTheme): PortalTheme => {
  try {
    sessionStorage.setItem(name, fieldsOf(theme).toString())
  } catch {
    // a browser may keep nothing in a frame
  }
  return theme
}

const kept = (): string => {
  try {
    return sessionStorage.getItem(name) ?? ""
  } catch {
    return ""
  }
}

const themeFrom = (fields: string): PortalTheme => read(new URLSearchParams(fields), portalOrigins)

/** The theme of the link in the address, or of the link that this frame was opened with; empty in the dashboard. */
export const hostTheme: PortalTheme = portal === undefined
  ? {}
  : tokenOfLink() === ""
  ? themeFrom(kept())
  : keep(themeFrom(location.hash.slice(1)))

/** The properties of CSS that make up a theme. */
const propertiesOf = ({ accent, font, radius }: PortalTheme): { readonly [property: string]: string } => {
  const properties: { [property: string]: string } = {}
  if (accent !== undefined) {
    const { brand, dark, light } = coloursOf(accent)
    for (const [name, colour] of Object.entries(brand)) properties[`--color-${name}`] = colour
    for (const [name, colour] of Object.entries(light)) {
      properties[`--color-${name}`] = `light-dark(${colour}, ${dark[name as keyof typeof dark]})`
    }
  }
  if (radius !== undefined) properties["--corner"] = `${radius}px`
  const families = font === undefined ? undefined : familiesOf(font)
  if (families !== undefined) {
    properties["--font-sans"] = [...families, "sans-serif"]
      .map((family) => generic.test(family) ? family : `"${family}"`).join(", ")
  }
  return properties
}

/** Has the page look like the host's, but for light and dark, which `Theme` applies. */
export const applyHostTheme = (): void => {
  for (const [property, value] of Object.entries(propertiesOf(hostTheme))) {
    document.documentElement.style.setProperty(property, value)
  }
}
