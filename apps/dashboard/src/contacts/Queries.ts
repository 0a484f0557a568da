/** How pages read a contact. */
import { queryOptions } from "@tanstack/react-query"
import { api, isNotFound } from "../session/Service.ts"
import { liveIfAny } from "../session/Session.tsx"

/** Gets a contact by its id. Returns `null` if there is none: the customer has not written yet, nor opted out or in. */
export const contactOrNull = (id: string, signal: AbortSignal) =>
  api.contacts.get(id, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return null
    throw error
  })

/** The query for a contact, which is repeated while it is shown. */
export const contactQuery = (id: string) =>
  queryOptions({
    // a page of the contact must not find `null` in its place
    queryKey: ["contact", id, "or null"],
    queryFn: ({ signal }) => contactOrNull(id, signal),
    ...liveIfAny(10_000)
  })
