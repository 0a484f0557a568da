/** What pages ask about phone numbers. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** Every number of the workspace; there are few. */
export const phoneNumbersQuery = queryOptions({
  queryKey: ["phone-numbers"],
  queryFn: ({ signal }) => api.phoneNumbers.list({ limit: 100 }, { signal }).toArray(500),
  ...live(15_000)
})
