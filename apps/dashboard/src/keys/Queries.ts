/** The queries of pages about API keys. */
import { queryOptions } from "@tanstack/react-query"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"

/** The query for all active keys, mainly for their names. It is repeated only after keys were created or revoked. */
export const activeKeysQuery = queryOptions({
  queryKey: ["api-keys", "active"],
  queryFn: ({ signal }) => api.apiKeys.list({ limit: 100 }, { signal }).toArray(),
  staleTime: 60_000
})

/** The query for one key, active or revoked. */
export const keyQuery = (id: string) =>
  queryOptions({
    queryKey: ["api-keys", id],
    queryFn: ({ signal }) => api.apiKeys.get(id, { signal }),
    ...live(10_000)
  })
