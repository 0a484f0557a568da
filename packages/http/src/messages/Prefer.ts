/**
 * The header `Prefer` (RFC 7240). Pure.
 */

/** The preference for a response before the work is done. */
export const respondAsync = "respond-async"

/** The preferences in a header, with their values and parameters: commas in quoted strings do not divide them. */
const preferencesIn = (header: string): ReadonlyArray<string> => {
  const preferences: Array<string> = []
  let isQuoted = false
  let from = 0
  for (let at = 0; at < header.length; at++) {
    const character = header[at]
    if (isQuoted && character === "\\") at++
    else if (character === "\"") isQuoted = !isQuoted
    else if (character === "," && !isQuoted) {
      preferences.push(header.slice(from, at))
      from = at + 1
    }
  }
  return [...preferences, header.slice(from)]
}

/** A preference: its name, and its value if it has one. Parameters follow. */
const preference = /^[ \t]*([^ \t=;]+)[ \t]*(?:=[ \t]*([^;]*))?/

/**
 * Whether a header asks for {@link respondAsync}. Names are equal in any case, an empty value counts as none,
 * parameters and unknown preferences are ignored, and the first of several equal preferences counts.
 */
export const asksForAsync = (header: string | undefined): boolean => {
  if (header === undefined) return false
  const given = preferencesIn(header).map((text) => preference.exec(text))
  const first = given.find((found) => found?.[1]!.toLowerCase() === respondAsync)
  return first !== undefined && ["", "\"\""].includes((first![2] ?? "").trim())
}
