/**
 * The statements of lists that are sorted by identifier, newest first (`Page`).
 */
import type { Page } from "@wac/core"
import {
  combined,
  type Given,
  type Inputs,
  type OptionalGiven,
  type OptionalValues,
  type Statement,
  value,
  type Values,
  variants
} from "./Statement.ts"

/** How the text of a list's statement names the position and size of the page. */
interface Place {
  /** The condition on the identifier's column that the row comes after the page's cursor. */
  readonly isAfter: (id: string) => string
  /** The maximum number of rows: one more than the page, to find out whether there is a next page. */
  readonly limit: string
}

/** Prepares the statements of a list with optional filters: one for first pages, one for pages after an identifier. */
export const filteredPages = <I extends Inputs, F extends Inputs>(
  inputs: I,
  filters: F,
  write: (given: Given<I>, filters: OptionalGiven<F>, place: Place) => string
) => {
  const given = combined(inputs)
  const limit = value<number>()
  const first = variants(
    { given, limit },
    filters,
    ({ given, limit }, filters) => write(given, filters, { limit, isAfter: () => "true" })
  )
  const next = variants(
    { given, limit, after: value<string>() },
    filters,
    ({ after, given, limit }, filters) => write(given, filters, { limit, isAfter: (id) => `${id} < ${after}` })
  )
  return (given: Values<I>, filters: OptionalValues<F>, { after, limit }: Page.PageRequest): Required<Statement> =>
    after === null ? first({ given, limit: limit + 1 }, filters) : next({ given, limit: limit + 1, after }, filters)
}

/** Prepares the statements of a list without filters: one for first pages, one for pages after an identifier. */
export const pages = <I extends Inputs>(inputs: I, write: (given: Given<I>, place: Place) => string) => {
  const page = filteredPages(inputs, {}, (given, _, place) => write(given, place))
  return (given: Values<I>, request: Page.PageRequest): Required<Statement> => page(given, {}, request)
}
