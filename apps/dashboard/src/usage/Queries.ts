/** The query for the workspace's usage, which several pages share. */
import { queryOptions } from "@tanstack/react-query"
import type { UsageQuery } from "@wac/client/internal"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"

/** The query for the activity in a time range, and how much of the limits is used. */
export const usageQuery = (range: UsageQuery) =>
  queryOptions({
    queryKey: ["usage", range],
    queryFn: ({ signal }) => api.usage.get(range, { signal }),
    ...live(10_000)
  })
