/**
 * Lists: page by page, or all of it by iteration.
 */
import { Lists } from "@wac/api"
import { type Errors, Page as Core } from "@wac/core"
import { Paging } from "@wac/http"
import { Effect, Schema } from "effect"
import * as Input from "./Input.ts"
import type { Failure, Running } from "./Running.ts"

/** Some of a list. */
export interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly hasMore: boolean
  /** What to ask for the rest with; `null` at the end, except where the list says otherwise. */
  readonly nextCursor: string | null
}

/** Which page of a list. */
export interface PageQuery {
  /** How many items at most: 1 to 100, 25 when left out. */
  readonly limit?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
}

/**
 * A list: `for await (const item of list)` goes through all of it and reads on as it goes; `page()` gives one page.
 * Nothing is read before.
 */
export interface Listing<A> extends AsyncIterable<A> {
  readonly page: (query?: PageQuery) => Promise<Page<A>>
}

const Query = Schema.Struct(Lists.pageQuery)
const readQuery = Input.read(Query)

/** A list over one that the domain keeps. */
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
