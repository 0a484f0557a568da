/** The queries of pages about contacts. */
import { queryOptions } from "@tanstack/react-query"
import { api, isNotFound } from "../session/Service.ts"
import { liveIfAny } from "../session/Session.tsx"

/** One contact; `null` before the customer has written or said whether they want to be written to. */
export const contactOrNull = (id: string, signal: AbortSignal) =>
  api.contacts.get(id, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return null
    throw error
  })

/** The same, asked for again and again. */
export const contactQuery = (id: string) =>
  queryOptions({
    queryKey: ["contact", id],
    queryFn: ({ signal }) => contactOrNull(id, signal),
    ...liveIfAny(10_000)
  })
