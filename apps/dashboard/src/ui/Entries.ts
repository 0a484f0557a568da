/** Lists that people type into one field, and the lines of their entries, by which errors name them. Pure. */

/** An entry of a list that was typed, and the number of its line, counted from 1. */
export interface Entry {
  readonly text: string
  readonly line: number
}

/** The entries of a text. Each line has one entry, or several with `separator` between them; empty ones do not count. */
export const entriesIn = (text: string, separator?: RegExp): ReadonlyArray<Entry> =>
  text.split("\n").flatMap((line, i) =>
    (separator === undefined ? [line] : line.split(separator)).map((entry) => entry.trim())
      .filter((entry) => entry !== "").map((entry) => ({ text: entry, line: i + 1 }))
  )

/** The texts of entries. */
export const textsOf = (entries: ReadonlyArray<Entry>): ReadonlyArray<string> => entries.map(({ text }) => text)

/** The line of the entry that an error names, as `words[2]` names the third of the list `words`, if it has a line. */
export const lineOf = (place: string, list: string, entries: ReadonlyArray<Entry>): number | undefined => {
  const index = place.startsWith(`${list}[`) ? /^\d+(?=\])/.exec(place.slice(list.length + 1)) : null
  return index === null ? undefined : entries[Number(index[0])]?.line
}
