/** The queries of pages about API keys. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** Every active key, for its name. Names do not change, so pages ask again only when keys were made or revoked. */
export const activeKeysQuery = queryOptions({
  queryKey: ["api-keys", "active"],
  queryFn: ({ signal }) => api.apiKeys.list({ limit: 100 }, { signal }).toArray(),
  staleTime: 60_000
})

/** A key, active or revoked. */
export const keyQuery = (id: string) =>
  queryOptions({
    queryKey: ["api-keys", id],
    queryFn: ({ signal }) => api.apiKeys.get(id, { signal }),
    ...live(10_000)
  })
