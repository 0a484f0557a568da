/**
 * Translates the pages of lists between the wire and the stores (contract §1 *lists*).
 */
import { type Errors, Page } from "@wac/core"
import { DateTime, Effect } from "effect"

/** Reads `limit` and `cursor`, which names a place of the list. */
export const request = (
  query: {
    readonly limit?: number
    readonly cursor?: string
  },
  places: Page.Places
): Effect.Effect<Page.PageRequest, Errors.InvalidBody> =>
  Effect.map(
    query.cursor === undefined ? Effect.succeed(null) : Effect.fromResult(Page.decodeCursor(query.cursor, places)),
    (after) => ({ limit: query.limit ?? Page.defaultLimit, after })
  )

/** A store's filter by time, from the `since` and `until` of a query. */
export const between = (since: DateTime.Utc | undefined, until: DateTime.Utc | undefined) => ({
  ...(since === undefined ? {} : { since: DateTime.toEpochMillis(since) }),
  ...(until === undefined ? {} : { until: DateTime.toEpochMillis(until) })
})

const cursorOf = (next: string | null): string | null => next === null ? null : Page.encodeCursor(next)

/** A page under `/v1`; `resume` is the position after the last item, for a list that can grow after its end. */
export const list = <A, B>(page: Page.Page<A>, item: (a: A) => B, resume: string | null = page.next) => ({
  data: page.items.map(item),
  has_more: page.next !== null,
  next_cursor: cursorOf(resume)
})

/** A page under `/internal`; `resume` as in {@link list}. */
export const internalList = <A, B>(page: Page.Page<A>, item: (a: A) => B, resume: string | null = page.next) => ({
  data: page.items.map(item),
  hasMore: page.next !== null,
  nextCursor: cursorOf(resume)
})
