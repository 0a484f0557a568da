/**
 * Lists, a page at a time. The filters and the page's cursor are in the address: a page can be linked to, and Back
 * leads to the page before.
 */
import { keepPreviousData, useQuery, type UseQueryResult } from "@tanstack/react-query"
import { Link, useSearch } from "@tanstack/react-router"
import { WacError } from "@wac/client/internal"
import type { ReactNode } from "react"
import { firstPage } from "../session/Service.ts"
import { live } from "../session/Session.tsx"
import { buttonClass } from "./Button.tsx"
import { Notice } from "./Failure.tsx"
import { ChoiceFilters, type Choices, Filters, range, SearchFilter, useRange } from "./Filters.tsx"
import { t } from "./Language.ts"
import { ListFile } from "./ListFile.tsx"
import { Empty, Loaded } from "./Loaded.tsx"
import { hour } from "./Moment.ts"
import { Page } from "./Page.tsx"
import { type Column, type ListColumn, Table } from "./Table.tsx"

/** Items of one page. */
const pageSize = 50

/** Items of one page where all are read. */
const walkedSize = 100

/** A page as the service gives it; events have the names of `/v1`. */
type PageOf<Item> =
  & { readonly data: ReadonlyArray<Item> }
  & ({ readonly nextCursor: string | null } | { readonly has_more: boolean; readonly next_cursor: string | null })

/** The pages of a list that is read all at once. */
export const onePage = <Item extends object>(read: (signal: AbortSignal) => Promise<PageOf<Item>>) =>
  async function*(signal: AbortSignal) {
    yield await read(signal)
  }

/**
 * The cursor of the next page; `null` on the last. An empty page is an empty list only if it is `null`: with a filter
 * that no index answers, the service looks at part of the list at a time.
 */
export const nextOf = (page: PageOf<unknown>): string | null =>
  "nextCursor" in page ? page.nextCursor : page.has_more ? page.next_cursor : null

/** The query; a filter that is not set is `undefined`. `since` is a length of time up to now, in hours, or `range`. */
type Filter = { readonly [name: string]: string | number | boolean | undefined; readonly since?: string | undefined }

/** The query of the service for a filter. */
type Asked<F extends Filter> =
  & { readonly [Name in keyof F]?: Name extends "since" ? Date : Exclude<F[Name], undefined> }
  & { readonly limit: number; readonly cursor?: string }

/** The times of a filter. */
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

/** The page of a list that the address asks for. */
export interface Listing<Page> {
  readonly query: UseQueryResult<Page, unknown>
  /** All pages of the filter, from the first. */
  readonly walk: (signal: AbortSignal) => AsyncIterable<Page>
  readonly cursor?: string | undefined
  readonly isFiltered?: boolean
  /** Whether the address asks for nothing that the list could have. */
  readonly isUnasked?: boolean
}

/**
 * Reads the page of a list that the address asks for, and again as long as it is looked at: every `every` milliseconds,
 * and when the service reports a change of `topic`.
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

/** Whether the page of a list is all of it. */
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

/** Whether an error says that a filter is not of the form of what it filters by: nothing can fit it. */
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
  /** The name of an item. */
  readonly what: string
  readonly columns: ReadonlyArray<Column<Item>>
  readonly keyOf?: (item: Item) => string | number
  /** The text if there is no item at all. */
  readonly none: Nothing
  /** The text if no item fits the filters, in place of the list or beside it. */
  readonly noMatch?: Partial<Nothing>
  /** The content above the table. */
  readonly above?: (items: ReadonlyArray<Item>) => ReactNode
}

/** A page of a list: its table and the ways to other pages, or that it loads, failed, is old or is empty. */
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

/** A page that is a list: its filters, its table, and what it has besides. */
export const ListPage = <Item extends object>(
  { about, actions, before, children, choices, columns, filters, lead, refusal, search, title, ...list }:
    & Omit<ListProps<Item>, "columns">
    & {
      /** Of the page and its table. */
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
