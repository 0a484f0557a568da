/**
 * Lists, read page by page.
 */
import type { Answered } from "./LastResponse.ts"

/** A list, read page by page as it is iterated; each iteration starts from the first page. */
export interface List<Item, Page> extends AsyncIterable<Item> {
  /** The pages, each with its cursor and its response. */
  readonly pages: () => AsyncIterable<Answered<Page>>
  /** All items in an array, or the first `max` of them: without `max`, be sure that they fit into memory. */
  readonly toArray: (max?: number) => Promise<Array<Item>>
}

/** Makes a list from a function that gets one page, and functions that read a page's items and its next cursor. */
export const listOf = <Item, Page>(
  get: (cursor: string | undefined) => Promise<Answered<Page>>,
  read: (page: Page) => { readonly data: ReadonlyArray<Item>; readonly next: string | null }
): List<Item, Page> => {
  const pages = async function*() {
    let cursor: string | undefined
    do {
      const page = await get(cursor)
      yield page
      cursor = read(page).next ?? undefined
    } while (cursor !== undefined)
  }
  const items = async function*() {
    for await (const page of pages()) yield* read(page).data
  }
  return {
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
