/**
 * Finds a field that occurs twice in a JSON object. `JSON.parse` silently takes the last one, while other readers of
 * the same text take the first (RFC 8259 §4). Pure.
 */

/** An object or array that is not closed yet. */
interface Open {
  /** The names of an object so far; `null` for an array. */
  readonly names: Set<string> | null
  /** The current field's name, or the current item's index. */
  at: string | number
  /** Whether the next text is the name of a field. */
  isNameNext: boolean
}

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

/** The position of the quotation mark that ends the text beginning at `from`; -1 if there is none. */
const endOfText = (json: string, from: number): number => {
  let at = from
  while (at < json.length) {
    const code = json.charCodeAt(at)
    if (code === quote) return at
    at += code === backslash ? 2 : 1
  }
  return -1
}

/** A name with its escapes resolved. If they are not valid, the name as written: the parser refuses the text later. */
const unescaped = (name: string): string => {
  if (!name.includes("\\")) return name
  try {
    return String(JSON.parse(`"${name}"`))
  } catch {
    return name
  }
}

/**
 * The path of the first field whose name occurred before in the same object, such as `["messages", 0, "to"]`;
 * `undefined` if there is none. Takes time in proportion to the text and does not recurse. It does not detect invalid
 * JSON, which the parser refuses.
 */
export const find = (json: string): ReadonlyArray<string | number> | undefined => {
  const open: Array<Open> = []
  for (let at = 0; at < json.length; at++) {
    const present = open.at(-1)
    switch (json.charCodeAt(at)) {
      case quote: {
        const end = endOfText(json, at + 1)
        if (end === -1) return undefined
        if (present?.isNameNext === true && present.names !== null) {
          const name = unescaped(json.slice(at + 1, end))
          present.at = name
          present.isNameNext = false
          if (present.names.has(name)) return open.map((each) => each.at)
          present.names.add(name)
        }
        at = end
        break
      }
      case openBrace:
        open.push({ names: new Set(), at: "", isNameNext: true })
        break
      case openBracket:
        open.push({ names: null, at: 0, isNameNext: false })
        break
      case closeBrace:
      case closeBracket:
        open.pop()
        break
      case comma:
        if (present === undefined) break
        if (typeof present.at === "number") present.at++
        else present.isNameNext = true
        break
    }
  }
  return undefined
}
