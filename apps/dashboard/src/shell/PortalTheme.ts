/** Gives the portal the look that its host chose. It sets only CSS properties, and only to checked values. */
import { familiesOf, type PortalTheme, read } from "@wac/core/people/PortalTheme"
import { portalOrigins } from "../session/Document.ts"
import { hostFields } from "./HostFields.ts"

/**
 * Font families that CSS or a browser defines; they must not be quoted, because quotes would make them names of fonts.
 */
const generic = /^(?:serif|sans-serif|monospace|cursive|system-ui|ui-[a-z-]+|-apple-system|BlinkMacSystemFont)$/

/** The theme of the link that opened this frame; empty in the dashboard. */
export const hostTheme: PortalTheme = read(hostFields, portalOrigins)

interface Properties {
  readonly [property: string]: string
}

/** The CSS properties for a host's colour. `Accent.ts` is loaded only here, because the dashboard does not need it. */
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

/** The CSS properties for the font and the corners of a theme. */
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
 * Applies the host's font, corners and colours to the page; `Theme.ts` applies light or dark. If the code that computes
 * the colours cannot be loaded, the pages keep their own.
 */
export const applyHostTheme = async (): Promise<void> => {
  set(propertiesOf(hostTheme))
  if (hostTheme.accent !== undefined) await coloursFor(hostTheme.accent).then(set, () => {})
}
