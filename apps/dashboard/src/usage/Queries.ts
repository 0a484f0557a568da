/** The queries of pages about use. */
import { queryOptions } from "@tanstack/react-query"
import type { UsageQuery } from "@wac/client/internal"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** The workspace's activity in a range of time, and the used part of its limits. */
export const usageQuery = (range: UsageQuery) =>
  queryOptions({
    queryKey: ["usage", range],
    queryFn: ({ signal }) => api.usage.get(range, { signal }),
    ...live(10_000)
  })
