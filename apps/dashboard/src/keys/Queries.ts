/** The queries of pages about API keys. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** Every active key; there are few of them: a person looks over all. */
export const activeKeysQuery = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => api.apiKeys.list({ limit: 100 }, { signal }).toArray(500),
  ...live(10_000)
})
