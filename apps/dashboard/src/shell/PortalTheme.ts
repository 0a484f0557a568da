/**
 * The look of a host's pages, which the link of the portal has behind `#`. The frame keeps it for when it is loaded
 * again. What is set on the page are CSS properties of checked values, and nothing else.
 */
import { familiesOf, fieldsOf, type PortalTheme, read } from "@wac/core/people/PortalTheme"
import { tokenOfLink } from "../session/Link.ts"
import { portal, portalOrigins } from "../session/Service.ts"

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

interface Properties {
  readonly [property: string]: string
}

/** The properties of CSS for a host's colour. The dashboard, which has none, does not load what computes them. */
const coloursFor = async (accent: string): Promise<Properties> => {
  const { coloursOf } = await import("./Accent.ts")
  const { brand, dark, light } = coloursOf(accent)
  return Object.fromEntries([
    ...Object.entries(brand).map(([name, colour]) => [`--color-${name}`, colour]),
    ...Object.entries(light).map(([name, colour]) => [
      `--color-${name}`,
      `light-dark(${colour}, ${dark[name as keyof typeof dark]})`
    ])
  ])
}

/** The properties of CSS for the rest of a theme. */
const propertiesOf = ({ font, radius }: PortalTheme): Properties => {
  const properties: { [property: string]: string } = {}
  if (radius !== undefined) properties["--corner"] = `${radius}px`
  const families = font === undefined ? undefined : familiesOf(font)
  if (families !== undefined) {
    properties["--font-sans"] = [...families, "sans-serif"]
      .map((family) => generic.test(family) ? family : `"${family}"`).join(", ")
  }
  return properties
}

const set = (properties: Properties): void => {
  for (const [property, value] of Object.entries(properties)) {
    document.documentElement.style.setProperty(property, value)
  }
}

/**
 * Has the page look like the host's, but for light and dark, which `Theme` applies. If the part that computes colours
 * cannot be loaded, the pages have their own.
 */
export const applyHostTheme = async (): Promise<void> => {
  set(propertiesOf(hostTheme))
  if (hostTheme.accent !== undefined) await coloursFor(hostTheme.accent).then(set, () => {})
}
