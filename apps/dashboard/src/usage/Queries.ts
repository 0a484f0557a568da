/** What pages ask about use. */
import { queryOptions } from "@tanstack/react-query"
import type { UsageQuery } from "@wac/client/internal"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** What the workspace did in a period, and what it has used of its limits. */
export const usageQuery = (period: NonNullable<UsageQuery["period"]>) =>
  queryOptions({
    queryKey: ["usage", { period }],
    queryFn: ({ signal }) => api.usage.get({ period }, { signal }),
    ...live(10_000)
  })
