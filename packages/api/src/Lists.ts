/**
 * Lists on the wire (contract §1) and their query parameters.
 */
import { Page } from "@wac/core"
import { Schema, SchemaIssue } from "effect"

/** `limit` and `cursor`, for the query of a list; `limit` defaults to `Page.defaultLimit` items. */
export const pageQuery = {
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Page.maxLimit }))
  ).annotateKey({ description: `Items per page, 1 to ${Page.maxLimit}; ${Page.defaultLimit} by default` }),
  cursor: Schema.optionalKey(Schema.String.annotate({ description: "`next_cursor` of the previous page" }))
}

const nothing = Schema.Struct({})

/** The query of an endpoint without parameters: an empty struct alone would accept any. */
export const noQuery = nothing.check(Schema.makeFilter((query) => {
  const [name] = Object.keys(query)
  return name === undefined || { path: [name], issue: new SchemaIssue.UnexpectedKey(nothing.ast) }
}))

/** A page under `/v1`. */
export const listOf = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), has_more: Schema.Boolean, next_cursor: Schema.NullOr(Schema.String) })
    .annotate({ page: "Page" })

/** A page under `/internal`. */
export const internalListOf = <S extends Schema.Top>(item: S) =>
  Schema.Struct({ data: Schema.Array(item), hasMore: Schema.Boolean, nextCursor: Schema.NullOr(Schema.String) })
    .annotate({ page: "InternalPage" })
