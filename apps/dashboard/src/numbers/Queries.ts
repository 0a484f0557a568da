/** The queries of pages about phone numbers. */
import { queryOptions } from "@tanstack/react-query"
import { portal } from "../session/Document.ts"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** Every number of the workspace; there are few. The portal is shown none. */
export const phoneNumbersQuery = queryOptions({
  queryKey: ["phone-numbers"],
  queryFn: ({ signal }) => api.phoneNumbers.list({ limit: 100 }, { signal }).toArray(),
  enabled: portal === undefined,
  ...live(15_000)
})
