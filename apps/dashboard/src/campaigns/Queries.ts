/** What pages ask about campaigns. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** How often a campaign at work is asked for, in milliseconds. */
const often = 1000

export const campaignQuery = (id: string) =>
  queryOptions({
    queryKey: ["campaigns", id],
    queryFn: ({ signal }) => api.campaigns.get(id, { signal }),
    refetchInterval: ({ state: { data } }) =>
      live(data?.status === "running" || data?.status === "checking" ? often : undefined).refetchInterval()
  })
