/**
 * Lists that are shown page by page. The address holds the filters and the cursor, so a page can be linked to, and Back
 * leads to the previous page.
 */
import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import { WacError } from "@wac/client/internal"
import type { ReactNode } from "react"
import { live } from "../session/Refetching.ts"
import { firstPage } from "../session/Service.ts"
import { buttonClass } from "./Button.tsx"
import { ChoiceFilters, type Choices, Filters, range, SearchFilter, useRange } from "./Filters.tsx"
import { t } from "./Language.ts"
import { ListFile } from "./ListFile.tsx"
import { Empty, Loaded } from "./Loaded.tsx"
import { hour } from "./Moment.ts"
import { Notice } from "./Notice.tsx"
import { Page } from "./Page.tsx"
import { type Column, type ListColumn, Table } from "./Table.tsx"

/** The number of items on one page. */
const pageSize = 50

/** The number of items per request when all pages are read. */
const walkedSize = 100

/** A page as the service returns it; lists of events have the names of `/v1`. */
type PageOf<Item> =
  & { readonly data: ReadonlyArray<Item> }
  & ({ readonly nextCursor: string | null } | { readonly has_more: boolean; readonly next_cursor: string | null })

/** The pages of a list that one request returns as a whole. */
export const onePage = <Item extends object>(read: (signal: AbortSignal) => Promise<PageOf<Item>>) =>
  async function*(signal: AbortSignal) {
    yield await read(signal)
  }

/**
 * The cursor of the next page; `null` on the last page. A page without items need not be the last one: for a filter
 * without an index, the service searches only a part of the list per request.
 */
export const nextOf = (page: PageOf<unknown>): string | null =>
  "nextCursor" in page ? page.nextCursor : page.has_more ? page.next_cursor : null

/** The filters of a list; `undefined` if not set. `since` is a number of hours up to now, or `range`. */
type Filter = { readonly [name: string]: string | number | boolean | undefined; readonly since?: string | undefined }

/** The parameters with which the service is asked for a filter. */
type Asked<F extends Filter> =
  & { readonly [Name in keyof F]?: Name extends "since" ? Date : Exclude<F[Name], undefined> }
  & { readonly limit: number; readonly cursor?: string }

/** The times that `since` and the range in the address stand for, as parameters for the service. */
const timesOf = (since: string | undefined, { begin, end }: ReturnType<typeof useRange>) =>
  since === range
    ? { since: begin && new Date(begin), until: end && new Date(end) }
    : { since: since && new Date(Date.now() - Number(since) * hour) }

const askedFor = <F extends Filter>(
  { since, ...filter }: F,
  times: ReturnType<typeof useRange>,
  cursor: string | undefined,
  limit: number
): Asked<F> =>
  Object.fromEntries(
    Object.entries({ ...filter, ...timesOf(since, times), cursor, limit }).filter(([, value]) => value !== undefined)
  ) as Asked<F>

/** A list, at the page that the address names. */
export interface Listing<Page> {
  readonly query: UseQueryResult<Page, unknown>
  /** Reads all pages that match the filter, from the first. */
  readonly walk: (signal: AbortSignal) => AsyncIterable<Page>
  readonly cursor?: string | undefined
  readonly isFiltered?: boolean
  /** Whether the list is not requested, because no item can match the filters. */
  readonly isUnasked?: boolean
}

/**
 * Reads the page of a list that the address names. It reads the page again every `every` milliseconds, and when the
 * service reports a change of `topic`.
 */
export const useList = <F extends Filter, Page extends PageOf<unknown>>(
  topic: string | ReadonlyArray<string>,
  filter: F,
  read: (
    query: Asked<F>,
    options: { readonly signal: AbortSignal }
  ) => { readonly pages: () => AsyncIterable<Page> },
  { every = 5000, ...options }: { readonly every?: number; readonly enabled?: boolean } = {}
): Listing<Page> => {
  const { cursor }: { readonly cursor?: string } = useSearch({ strict: false })
  const times = useRange()
  const query = useQuery({
    queryKey: [...[topic].flat(), { ...filter, ...(filter.since === range ? times : {}), cursor }],
    queryFn: ({ signal }) => firstPage(read(askedFor(filter, times, cursor, pageSize), { signal })),
    placeholderData: keepPreviousData,
    ...live(every),
    ...options
  })
  return {
    query,
    walk: (signal) => read(askedFor(filter, times, undefined, walkedSize), { signal }).pages(),
    cursor,
    isUnasked: options.enabled === false,
    isFiltered: Object.values(filter).some((value) => value !== undefined)
  }
}

/** Whether the loaded page contains the whole list. */
export const isWhole = ({ cursor, query: { data } }: Listing<PageOf<unknown>>): boolean =>
  data !== undefined && cursor === undefined && nextOf(data) === null

const Paging = ({ cursor, next }: { readonly cursor: string | undefined; readonly next: string | null }) =>
  cursor === undefined && next === null ? null : (
    <nav aria-label={t("Pages of the list")} className="flex justify-end gap-2 border-t border-line px-4 py-3">
      {cursor === undefined ? null : (
        <Link
          to="."
          search={({ cursor: _, ...search }: Record<string, unknown>) => search as never}
          className={buttonClass("secondary", true)}
        >
          {t("First page")}
        </Link>
      )}
      {next === null ? null : (
        <Link
          to="."
          search={((search: Record<string, unknown>) => ({ ...search, cursor: next })) as never}
          className={buttonClass("secondary", true)}
        >
          {t("Next page")}
        </Link>
      )}
    </nav>
  )

/** Whether the service refused the form of a filter, so that no item can match it. */
const isOfFilter = (error: unknown): boolean =>
  error instanceof WacError && error.status === 400 && error.param !== undefined && error.param !== "cursor"

/** The text of an empty list. */
interface Nothing {
  readonly title: string
  readonly children?: ReactNode
  readonly actions?: ReactNode
}

interface ListProps<Item extends object> {
  readonly list: Listing<PageOf<Item>>
  /** The word for one item. */
  readonly what: string
  readonly columns: ReadonlyArray<Column<Item>>
  readonly keyOf?: (item: Item) => string | number
  /** The text if the list is empty. */
  readonly none: Nothing
  /** Replaces parts of the text for a list in which no item matches the filters. */
  readonly noMatch?: Partial<Nothing>
  /** The content above the table. */
  readonly above?: (items: ReadonlyArray<Item>) => ReactNode
}

/**
 * A page of a list: its table and the links to other pages; or the state of loading, a failure or a text if it is
 * empty.
 */
export const List = <Item extends object>(
  { above, columns, keyOf, label, list: { cursor, isFiltered, isUnasked, query }, noMatch, none, what }:
    & ListProps<Item>
    & {
      readonly label: string
    }
) =>
  isUnasked === true || isOfFilter(query.error) ?
    <Empty title={t("No {what} fits these filters", { what })} {...noMatch} /> :
    (
      <Loaded query={query} lines={8}>
        {(page) => {
          const next = nextOf(page)
          return (
            <>
              {page.data.length > 0
                ? (
                  <>
                    {above?.(page.data)}
                    <Table label={label} columns={columns} items={page.data} keyOf={keyOf} />
                  </>
                )
                : isFiltered === true
                ? (
                  <Empty title={t("No {what} fits these filters", { what })} {...noMatch}>
                    {next === null
                      ? noMatch?.children
                      : t("So far: the newest were looked at. The next page goes on with the older ones.")}
                  </Empty>
                )
                : cursor === undefined && next === null
                ? <Empty {...none} />
                : <Empty title={t("No {what} on this page", { what })} />}
              <Paging cursor={cursor} next={next} />
            </>
          )
        }}
      </Loaded>
    )

/** A dashboard page with a list: filters, table, the list as a file, and further content. */
export const ListPage = <Item extends object>(
  { about, actions, before, children, choices, columns, filters, lead, refusal, search, title, ...list }:
    & Omit<ListProps<Item>, "columns">
    & {
      /** The title of the page, and the label of its table. */
      readonly title: string
      readonly lead: ReactNode
      readonly actions?: ReactNode
      /** Why the reader may not see the list. */
      readonly refusal?: string | undefined
      readonly columns: ReadonlyArray<ListColumn<Item>>
      readonly search?: Parameters<typeof SearchFilter>[0]
      readonly choices?: Choices
      /** Filters besides the search and the choices. */
      readonly filters?: ReactNode
      /** The content above the filters. */
      readonly before?: ReactNode
      /** The content below the filters. */
      readonly about?: ReactNode
      /** The content below the list. */
      readonly children?: ReactNode
    }
) => (
  <Page title={title} lead={lead} actions={actions}>
    {before}
    {refusal === undefined
      ? (
        <>
          {search === undefined && choices === undefined && filters === undefined ? null : (
            <Filters>
              {search === undefined ? null : <SearchFilter {...search} />}
              {choices === undefined ? null : <ChoiceFilters choices={choices} />}
              {filters}
            </Filters>
          )}
          {about}
          <div className="card">
            <List label={title} columns={columns.filter((column) => column.cell !== null)} {...list} />
          </div>
          {list.list.isUnasked === true ? null : <ListFile name={title} columns={columns} walk={list.list.walk} />}
        </>
      )
      : <Notice>{refusal}</Notice>}
    {children}
  </Page>
)
