/**
 * Lists as the host gets them: read page by page, or by iterating over everything.
 */
import { Lists } from "@wac/api"
import { Page as Core } from "@wac/core"
import { Paging } from "@wac/http"
import { Effect, Schema } from "effect"
import type { Listing, Page, PageQuery } from "./generated/Messaging.ts"
import * as Input from "./Input.ts"
import type { Failure, Running } from "./Running.ts"

export type { Listing }

const Query = Schema.Struct(Lists.pageQuery)
const readQuery = Input.read(Query)

/**
 * Builds a list from a list of the domain. `options` are the host's call options, which apply to each page. `places`
 * is what its cursors name, and `resume` of
 * a page is the position after its last item, for a list that can grow after its end.
 */
export const make = <A, B>(
  { run }: Running,
  places: Core.Places,
  list: (page: Core.PageRequest) => Effect.Effect<Core.Page<A> & { readonly resume?: string }, Failure>,
  shown: (item: A) => B,
  options?: unknown
): Listing<B> => {
  const page = (query: PageQuery = {}): Promise<Page<B>> =>
    run(
      Effect.flatMap(
        Effect.flatMap(readQuery(query), (query) => Paging.request(query, places)),
        (request) => Effect.map(list(request), (page) => Paging.internalList(page, shown, page.resume))
      ),
      { options }
    )
  const pages = async function*(query?: PageQuery) {
    let next: PageQuery = { ...query, limit: query?.limit ?? Core.maxLimit }
    let hasMore = true
    while (hasMore) {
      const one: Page<B> = await page(next)
      yield one
      next = { ...next, cursor: one.nextCursor ?? "" }
      hasMore = one.hasMore
    }
  }
  const items = async function*() {
    for await (const { data } of pages()) yield* data
  }
  return {
    page,
    pages,
    [Symbol.asyncIterator]: items,
    toArray: async (max = Infinity) => {
      const gathered: Array<B> = []
      if (max <= 0) return gathered
      for await (const item of items()) if (gathered.push(item) >= max) break
      return gathered
    }
  }
}
