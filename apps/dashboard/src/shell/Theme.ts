/** Light or dark: as the host of the portal or the system has it, or as the reader has chosen on this machine. */
import { applyHostTheme, hostTheme } from "./PortalTheme.ts"

export type Theme = "system" | "light" | "dark"

const name = "wac-theme"

/** Whether the reader may choose: a host may have chosen for its own pages. */
export const isChosenHere = hostTheme.scheme === undefined

/** The host's choice, or else the reader's. */
export const currentTheme = (): Theme => {
  if (hostTheme.scheme !== undefined) return hostTheme.scheme === "auto" ? "system" : hostTheme.scheme
  try {
    const stored = localStorage.getItem(name)
    return stored === "light" || stored === "dark" ? stored : "system"
  } catch {
    // a browser may keep nothing
    return "system"
  }
}

const applyScheme = (): void => {
  const theme = currentTheme()
  if (theme === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

/** Has the page look as the host and the reader have chosen. */
export const applyTheme = (): Promise<void> => {
  applyScheme()
  return applyHostTheme()
}

export const chooseTheme = (theme: Theme): void => {
  try {
    localStorage.setItem(name, theme)
  } catch {
    // then it holds for as long as the page is open
  }
  applyScheme()
}
