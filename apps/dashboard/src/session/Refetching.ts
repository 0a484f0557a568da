/** The cache of the service's data, and how often pages refetch. */
import { QueryCache, QueryClient } from "@tanstack/react-query"
import { isFollowing, whileBroken } from "./Changes.ts"
import { isNotFound } from "./Service.ts"
import { hasEnded, noteFailure } from "./SessionEnd.ts"

/** The least interval between two requests of a query while the service reports changes, in milliseconds. */
const whileFollowing = 10_000

/**
 * The options of a query that an open page repeats at an interval, in milliseconds. The interval is at least
 * {@link whileFollowing} while the service reports changes. The query is not repeated once the session has ended, nor
 * after a 404.
 */
export const live = (millis = 5000) => ({
  refetchInterval: (query: { readonly state: { readonly error: unknown } }) =>
    hasEnded() || isNotFound(query.state.error) ? false : isFollowing() ? Math.max(millis, whileFollowing) : millis
})

/**
 * The same for a thing that may be missing (`null`). Browsers log each 404 as an error, so a page waits until the
 * service reports that the thing was made, and asks each minute only while the service reports no changes.
 */
export const liveIfAny = (millis?: number) => ({
  refetchInterval: (query: { readonly state: { readonly data: unknown; readonly error: unknown } }) =>
    query.state.data !== null ? live(millis).refetchInterval(query) : hasEnded() || isFollowing() ? false : whileBroken
})

/** The cache of the service's data. It notes when a call finds that the session has ended. */
export const queryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noteFailure }),
  defaultOptions: {
    // the client itself repeats the calls that may be repeated
    queries: { retry: false, staleTime: 2000 },
    mutations: { retry: false, onError: noteFailure }
  }
})
