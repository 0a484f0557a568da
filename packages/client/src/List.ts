/**
 * Lists, read page by page.
 */
import type { PageQuery } from "./generated/Messaging.ts"
import type { Answered } from "./LastResponse.ts"

/** A list, read page by page as it is iterated; each iteration starts from the first page. */
export interface List<Item, Page> extends AsyncIterable<Item> {
  /** One page. */
  readonly page: (query?: PageQuery) => Promise<Answered<Page>>
  /** The pages, each with its cursor and its response. */
  readonly pages: (query?: PageQuery) => AsyncIterable<Answered<Page>>
  /** All items in an array, or the first `max` of them: without `max`, be sure that they fit into memory. */
  readonly toArray: (max?: number) => Promise<Array<Item>>
}

/**
 * Makes a list from a function that gets one page, and functions that read a page's items and its next cursor. `limit`
 * is the number of items of a page, unless the query sets another.
 */
export const listOf = <Item, Page>(
  page: (query: PageQuery) => Promise<Answered<Page>>,
  read: (page: Page) => { readonly data: ReadonlyArray<Item>; readonly next: string | null },
  limit: PageQuery = {}
): List<Item, Page> => {
  const pages = async function*(query: PageQuery = {}) {
    let next: PageQuery | undefined = { ...limit, ...query }
    while (next !== undefined) {
      const one = await page(next)
      yield one
      const cursor = read(one).next
      next = cursor === null ? undefined : { ...next, cursor }
    }
  }
  const items = async function*() {
    for await (const page of pages()) yield* read(page).data
  }
  return {
    page: async (query = {}) => page(query),
    pages,
    [Symbol.asyncIterator]: items,
    toArray: async (max = Infinity) => {
      const gathered: Array<Item> = []
      if (max <= 0) return gathered
      for await (const item of items()) if (gathered.push(item) >= max) break
      return gathered
    }
  }
}
