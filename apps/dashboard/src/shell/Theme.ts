/** The colour scheme, light or dark: the portal's host, the reader (for this browser) or the system chooses it. */
import { applyHostTheme, hostTheme } from "./PortalTheme.ts"

export type Theme = "system" | "light" | "dark"

const name = "wac-theme"

/** Whether the reader may choose; in the portal, the host may have chosen. */
export const isChosenHere = hostTheme.scheme === undefined

/** The host's choice, otherwise the reader's. */
export const currentTheme = (): Theme => {
  if (hostTheme.scheme !== undefined) return hostTheme.scheme === "auto" ? "system" : hostTheme.scheme
  try {
    const stored = localStorage.getItem(name)
    return stored === "light" || stored === "dark" ? stored : "system"
  } catch {
    // a browser may refuse storage
    return "system"
  }
}

const applyScheme = (): void => {
  const theme = currentTheme()
  if (theme === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

/** Applies the colour scheme, and the host's look, to the page. */
export const applyTheme = (): Promise<void> => {
  applyScheme()
  return applyHostTheme()
}

/** Stores the reader's choice, and applies it. */
export const chooseTheme = (theme: Theme): void => {
  try {
    localStorage.setItem(name, theme)
  } catch {
    // without storage, the choice holds until the page is closed
  }
  applyScheme()
}
