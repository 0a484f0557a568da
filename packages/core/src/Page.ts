/**
 * Cursor pages over lists that are sorted by identifier (contract §1, *lists*).
 */
import { Result } from "effect"
import { Base64Url } from "effect/encoding"
import { InvalidBody } from "./Errors.ts"
import type { ByPrefix } from "./Id.ts"

/** The maximum number of items on a page. */
export const maxLimit = 100

/** The number of items on a page if the caller does not set a limit. */
export const defaultLimit = 25

/**
 * The maximum number of items that a page of a list reads for filters without an index. (An index would cost every
 * write.) So a page takes a second at most, and may hold fewer items than its limit, or none, even if more follow.
 */
export const maxScanned = 10_000

/**
 * Requests at most `limit` items after `after`, the identifier of the previous page's last item; `null` for the first
 * page.
 */
export interface PageRequest {
  readonly limit: number
  readonly after: string | null
}

/**
 * A page of a list, newest first unless stated otherwise. `next` is the `after` of the next page; `null` on the last
 * page.
 */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | null
}

/** Cuts a page from `items`, which must have been read with one item more than the limit. */
export const fromOverread = <A>(items: ReadonlyArray<A>, request: PageRequest, idOf: (item: A) => string): Page<A> => {
  const page = items.slice(0, request.limit)
  const last = page.at(-1)
  return { items: page, next: items.length > request.limit && last !== undefined ? idOf(last) : null }
}

/** Encodes an identifier as an opaque cursor, so that callers do not rely on its content. */
export const encodeCursor = (after: string): string => Base64Url.encode(`1:${after}`)

/**
 * What the cursors of a list name: identifiers with a prefix, contacts (`Contact.placeOf`), or rows of a campaign
 * (`<campaign id>:<row>`).
 */
export type Places = keyof ByPrefix | "contacts" | "rows"

const shapes = { contacts: /^pn_[^:]+:/, rows: /^cmp_[^:]+:\d{1,9}$/ }

const isOf = (after: string, places: Places): boolean =>
  places === "contacts" || places === "rows"
    ? shapes[places].test(after)
    : after.startsWith(`${places}_`) && !after.includes(":")

/** The error for a cursor that no page of the list has returned. */
export const foreignCursor = () =>
  new InvalidBody({
    reason: "invalid_field",
    param: "cursor",
    message: "cursor must be one that a previous page returned"
  })

/**
 * Decodes a cursor that {@link encodeCursor} made for a list of these places. Any other text, and a cursor of another
 * list, is `invalid_body` with `param: "cursor"`.
 */
export const decodeCursor = (cursor: string, places: Places): Result.Result<string, InvalidBody> => {
  const decoded = Base64Url.decodeString(cursor)
  if (Result.isFailure(decoded) || !/^1:[a-z]+_[0-9A-Z]{26}(:[^\0]+)?$/.test(decoded.success)) {
    return Result.fail(foreignCursor())
  }
  const after = decoded.success.slice(2)
  return isOf(after, places) ? Result.succeed(after) : Result.fail(foreignCursor())
}
