/** Reads a contact that may not exist. */
import { queryOptions } from "@tanstack/react-query"
import { liveIfAny } from "../session/Refetching.ts"
import { api, isNotFound } from "../session/Service.ts"

/**
 * Gets a contact by its id; `null` if it does not exist, because the customer has neither written nor opted out or in.
 */
export const contactOrNull = (id: string, signal: AbortSignal) =>
  api.contacts.get(id, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return null
    throw error
  })

/** The query for a contact, `null` if it does not exist; it is repeated while it is shown. */
export const contactQuery = (id: string) =>
  queryOptions({
    // a key of its own: the page of the contact must not get `null` from the cache
    queryKey: ["contact", id, "or null"],
    queryFn: ({ signal }) => contactOrNull(id, signal),
    ...liveIfAny(10_000)
  })
