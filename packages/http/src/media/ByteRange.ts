/**
 * One range of bytes of a file (RFC 9110 §14) and the conditions of a request for it (§13). Pure.
 */

/** The response: the whole file, a part of it, nothing new, or a refusal of the range. */
export type Selection =
  | { readonly _tag: "Whole" }
  | { readonly _tag: "Part"; readonly start: number; readonly end: number }
  | { readonly _tag: "NotModified" }
  | { readonly _tag: "Unsatisfiable" }

const form = /^bytes=(\d{0,16})-(\d{0,16})$/

/** What a `Range` selects. Several ranges, other units and malformed ranges are ignored, as the RFC permits. */
const partOf = (range: string, size: number): Selection => {
  const [, first, last] = form.exec(range) ?? []
  if (first === undefined || last === undefined || (first === "" && last === "")) return { _tag: "Whole" }
  if (first === "") {
    const length = Math.min(Number(last), size)
    return length === 0 ? { _tag: "Unsatisfiable" } : { _tag: "Part", start: size - length, end: size }
  }
  const start = Number(first)
  if (last !== "" && Number(last) < start) return { _tag: "Whole" }
  if (start >= size) return { _tag: "Unsatisfiable" }
  return { _tag: "Part", start, end: last === "" ? size : Math.min(Number(last) + 1, size) }
}

/** Whether a list of entity tags contains this one; weak tags are equal to strong ones here. */
const lists = (header: string, tag: string): boolean =>
  header.trim() === "*" || header.split(",").some((each) => each.trim().replace(/^W\//, "") === tag)

/** The headers of a request that select what it gets. */
export interface Conditions {
  readonly range: string | undefined
  readonly ifRange: string | undefined
  readonly ifNoneMatch: string | undefined
}

/** The response to a GET of a file of this size with this entity tag. */
export const select = ({ ifNoneMatch, ifRange, range }: Conditions, size: number, tag: string): Selection =>
  ifNoneMatch !== undefined && lists(ifNoneMatch, tag)
    ? { _tag: "NotModified" }
    : range === undefined || (ifRange !== undefined && ifRange.trim() !== tag)
    ? { _tag: "Whole" }
    : partOf(range, size)
