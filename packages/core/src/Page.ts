/**
 * Cursor pages over lists that are sorted by identifier (contract §1, *lists*).
 */
import { Result } from "effect"
import { Base64Url } from "effect/encoding"
import { InvalidBody } from "./Errors.ts"

/** The most items that one page holds. */
export const maxLimit = 100

/** How many items a page holds when nobody says. */
export const defaultLimit = 25

/** What a list is asked for: at most `limit` items beyond `after`, the identifier that the last page ended with. */
export interface PageRequest {
  readonly limit: number
  readonly after: string | null
}

/** Some of a list, newest first unless said otherwise. `next` is what to ask `after` for the rest; `null` at the end. */
export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next: string | null
}

/** Cuts one page from items that were read one beyond the limit. */
export const fromOverread = <A>(items: ReadonlyArray<A>, request: PageRequest, idOf: (item: A) => string): Page<A> => {
  const page = items.slice(0, request.limit)
  const last = page.at(-1)
  return { items: page, next: items.length > request.limit && last !== undefined ? idOf(last) : null }
}

/** Hides the identifier, so that callers do not come to rely on what a cursor holds. */
export const encodeCursor = (after: string): string => Base64Url.encode(`1:${after}`)

/** Reads a cursor that {@link encodeCursor} wrote; anything else is `invalid_body` with `param: "cursor"`. */
export const decodeCursor = (cursor: string): Result.Result<string, InvalidBody> => {
  const decoded = Base64Url.decodeString(cursor)
  return Result.isSuccess(decoded) && /^1:[a-z]+_[0-9A-Z]{26}(:[^\0]+)?$/.test(decoded.success)
    ? Result.succeed(decoded.success.slice(2))
    : Result.fail(
      new InvalidBody({ reason: "invalid_field", param: "cursor", message: "cursor is not one that a list gave out" })
    )
}
