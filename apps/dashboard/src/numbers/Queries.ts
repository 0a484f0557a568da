/** The query for the workspace's phone numbers, which many pages share. */
import { queryOptions } from "@tanstack/react-query"
import { portal } from "../session/Document.ts"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"

/** The workspace's phone numbers, which are few. The portal shows none, so it does not ask. */
export const phoneNumbersQuery = queryOptions({
  queryKey: ["phone-numbers"],
  queryFn: ({ signal }) => api.phoneNumbers.list({ limit: 100 }, { signal }).toArray(),
  enabled: portal === undefined,
  ...live(15_000)
})
