/** The queries of pages about API keys. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** Every active key; there are few of them: a person looks over all. */
export const readActiveKeys = (signal: AbortSignal) => api.apiKeys.list({ limit: 100 }, { signal }).toArray(500)

export const activeKeysQuery = queryOptions({
  queryKey: ["api-keys"],
  queryFn: ({ signal }) => readActiveKeys(signal),
  ...live(10_000)
})
