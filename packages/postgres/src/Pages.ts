/**
 * The statements of lists that are sorted by identifier, newest first (`Page`).
 */
import type { Page } from "@wac/core"
import { type Given, type Inputs, type Statement, statement, together, value, type Values } from "./Statement.ts"

/** How the text of a page names its place. */
interface Place {
  /** The condition on the identifier's column. */
  readonly isAfter: (id: string) => string
  /** One row more than the page, which says whether there is another one. */
  readonly limit: string
}

/** Writes the text twice: for first pages, and for those after an identifier. */
export const pages = <I extends Inputs>(inputs: I, write: (given: Given<I>, place: Place) => string) => {
  const first = statement(
    { given: together(inputs), limit: value<number>() },
    ({ given, limit }) => write(given, { limit, isAfter: () => "true" })
  )
  const next = statement(
    { given: together(inputs), limit: value<number>(), after: value<string>() },
    ({ after, given, limit }) => write(given, { limit, isAfter: (id) => `${id} < ${after}` })
  )
  return (given: Values<I>, { after, limit }: Page.PageRequest): Statement =>
    after === null ? first({ given, limit: limit + 1 }) : next({ given, limit: limit + 1, after })
}
