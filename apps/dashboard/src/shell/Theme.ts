/** Light or dark: as the system has it, or as the reader has chosen on this machine. */

export type Theme = "system" | "light" | "dark"

const name = "wac-theme"

/** The reader's choice. */
export const currentTheme = (): Theme => {
  try {
    const stored = localStorage.getItem(name)
    return stored === "light" || stored === "dark" ? stored : "system"
  } catch {
    // a browser may keep nothing
    return "system"
  }
}

/** Has the page look as chosen. */
export const applyTheme = (): void => {
  const theme = currentTheme()
  if (theme === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme
}

export const chooseTheme = (theme: Theme): void => {
  try {
    localStorage.setItem(name, theme)
  } catch {
    // then it holds for as long as the page is open
  }
  applyTheme()
}
