/** The look of a host's pages. What is set on the page are CSS properties of checked values, and nothing else. */
import { familiesOf, type PortalTheme, read } from "@wac/core/people/PortalTheme"
import { portalOrigins } from "../session/Document.ts"
import { hostFields } from "./HostFields.ts"

/** Families that CSS or a browser itself defines; quotes would make them names of fonts. */
const generic = /^(?:serif|sans-serif|monospace|cursive|system-ui|ui-[a-z-]+|-apple-system|BlinkMacSystemFont)$/

/** The theme of the link that opened this frame; empty in the dashboard. */
export const hostTheme: PortalTheme = read(hostFields, portalOrigins)

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
