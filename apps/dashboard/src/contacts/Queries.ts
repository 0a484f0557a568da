/** Reads contacts. */
import { queryOptions } from "@tanstack/react-query"
import { live, liveIfAny } from "../session/Refetching.ts"
import { api, isNotFound } from "../session/Service.ts"

/** Gets a contact by its id; `null` if it does not exist. */
export const contactOrNull = (id: string, signal: AbortSignal) =>
  api.contacts.get(id, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return null
    throw error
  })

/** The query for a contact, which fails if it does not exist; it is repeated while it is shown. */
export const contactQuery = (id: string) =>
  queryOptions({ queryKey: ["contact", id], queryFn: ({ signal }) => api.contacts.get(id, { signal }), ...live() })

/** The query for a contact, `null` if it does not exist; it is repeated while it is shown. */
export const contactOrNullQuery = (id: string) =>
  queryOptions({
    // a key of its own: `contactQuery` must not get `null` from the cache
    queryKey: ["contact", id, "or null"],
    queryFn: ({ signal }) => contactOrNull(id, signal),
    ...liveIfAny(10_000)
  })
