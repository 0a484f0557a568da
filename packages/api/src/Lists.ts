/**
 * Lists on the wire (contract §1) and their query parameters.
 */
import { Page } from "@wac/core"
import { Schema, SchemaIssue } from "effect"
import * as Example from "./Example.ts"

/** The fields `limit` and `cursor` of a list's query. A host passes them separately from the list's filter. */
export const pageQuery = {
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Page.maxLimit })).annotate({
      description: `Items per page, 1 to ${Page.maxLimit}; ${Page.defaultLimit} by default`,
      default: Page.defaultLimit,
      embedded: false
    })
  ),
  cursor: Schema.optionalKey(
    Schema.String.annotate({
      description: "`next_cursor` (`nextCursor`) of a page: continues after it",
      embedded: false
    })
  )
}

export const ListQuery = Schema.Struct(pageQuery).annotate({
  identifier: "ListQuery",
  description: "Query parameters of every list."
})

/** The sentence about pages of a list with filters that have no index (`Page.maxScanned`). */
export const shortPage = (withFilter: string, items: string): string =>
  `${withFilter} a page ends at the latest after looking at ${Page.maxScanned.toLocaleString("en")} ${items}: it may ` +
  "hold fewer than `limit`, or none, even if more follow."

const nothing = Schema.Struct({})

/** The query of an endpoint without parameters. It refuses every parameter; an empty struct alone would accept any. */
export const noQuery = nothing.check(Schema.makeFilter((query) => {
  const [name] = Object.keys(query)
  return name === undefined || { path: [name], issue: new SchemaIssue.UnexpectedKey(nothing.ast) }
}))

const next = Schema.NullOr(Schema.String).annotate({ description: "`cursor` of the next page" })

/** A page under `/v1`. */
export const listOf = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), has_more: Schema.Boolean, next_cursor: next })
    .annotate({ page: "Page", ...Example.ofItem(item, Example.page) })

/** A page under `/internal`. */
export const internalListOf = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), hasMore: Schema.Boolean, nextCursor: next })
    .annotate({ page: "InternalPage", ...Example.ofItem(item, Example.internalPage) })
