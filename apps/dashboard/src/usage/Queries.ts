/** The queries of pages about use. */
import { queryOptions } from "@tanstack/react-query"
import type { UsageQuery } from "@wac/client/internal"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** The workspace's activity in a period, and the used part of its limits. */
export const usageQuery = (period: NonNullable<UsageQuery["period"]>) =>
  queryOptions({
    queryKey: ["usage", { period }],
    queryFn: ({ signal }) => api.usage.get({ period }, { signal }),
    ...live(10_000)
  })
