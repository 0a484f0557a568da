/**
 * The statements of lists that are sorted by identifier, newest first (`Page`).
 */
import type { Page } from "@wac/core"
import {
  type Chosen,
  type Given,
  type Inputs,
  type Perhaps,
  type Statement,
  together,
  value,
  type Values,
  variants
} from "./Statement.ts"

/** How the text of a page names its place. */
interface Place {
  /** The condition on the identifier's column. */
  readonly isAfter: (id: string) => string
  /** One row more than the page, which says whether there is another one. */
  readonly limit: string
}

/**
 * Writes the texts of a list with filters, each of which may be left out: for first pages, and for those after an
 * identifier.
 */
export const filteredPages = <I extends Inputs, F extends Inputs>(
  inputs: I,
  filters: F,
  write: (given: Given<I>, filters: Perhaps<F>, place: Place) => string
) => {
  const given = together(inputs)
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
  return (given: Values<I>, filters: Chosen<F>, { after, limit }: Page.PageRequest): Required<Statement> =>
    after === null ? first({ given, limit: limit + 1 }, filters) : next({ given, limit: limit + 1, after }, filters)
}

/** Writes the text twice: for first pages, and for those after an identifier. */
export const pages = <I extends Inputs>(inputs: I, write: (given: Given<I>, place: Place) => string) => {
  const page = filteredPages(inputs, {}, (given, _, place) => write(given, place))
  return (given: Values<I>, request: Page.PageRequest): Required<Statement> => page(given, {}, request)
}
