/**
 * Lists: page by page, or by iterating over everything.
 */
import { Lists } from "@wac/api"
import { type Errors, Page as Core } from "@wac/core"
import { Paging } from "@wac/http"
import { Effect, Schema } from "effect"
import * as Input from "./Input.ts"
import type { Failure, Running } from "./Running.ts"

/** A page of a list. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly hasMore: boolean
  /** The cursor of the next page; `null` at the end, unless the list states otherwise. */
  readonly nextCursor: string | null
}

/** Which page of a list. */
export interface PageQuery {
  /** The maximum number of items: 1 to 100, by default 25. */
  readonly limit?: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string
}

/**
 * A list: `for await (const item of list)` iterates over everything and fetches pages as it goes; `page()` returns one
 * page. Nothing is fetched before.
 */
export interface Listing<A> extends AsyncIterable<A> {
  readonly page: (query?: PageQuery) => Promise<Page<A>>
}

const Query = Schema.Struct(Lists.pageQuery)
const readQuery = Input.read(Query)

/** Builds a list from a list of the domain. */
export const make = <A, B>(
  { run }: Running,
  list: (page: Core.PageRequest) => Effect.Effect<Core.Page<A>, Failure>,
  shown: (item: A) => B,
  resume: (page: Core.Page<A>, request: Core.PageRequest) => string | null = ({ next }) => next
): Listing<B> => {
  const read = (query: Effect.Effect<Core.PageRequest, Errors.InvalidBody>) =>
    run(Effect.flatMap(
      query,
      (request) => Effect.map(list(request), (page) => Paging.internalList(page, shown, resume(page, request)))
    ))
  return {
    page: (query = {}) => read(Effect.flatMap(readQuery(query), Paging.request)),
    async *[Symbol.asyncIterator]() {
      let cursor: string | null = null
      let hasMore = true
      while (hasMore) {
        const page: Page<B> = await read(
          Paging.request({ limit: Core.maxLimit, ...(cursor === null ? {} : { cursor }) })
        )
        yield* page.data
        cursor = page.nextCursor
        hasMore = page.hasMore
      }
    }
  }
}
