/** The queries of pages about campaigns. */
import { queryOptions } from "@tanstack/react-query"
import type { Campaign, CampaignPeriod } from "@wac/client/internal"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"

/** The interval at which an active campaign is refetched, in milliseconds. */
const often = 1000

/** Whether the campaign is changing by itself: it is checking or sending, or its cancellation is not complete. */
const isActive = ({ completedAt, status }: Campaign): boolean =>
  status === "running" || status === "checking" || (status === "cancelled" && completedAt === null)

/** The query for a campaign. */
export const campaignQuery = (id: string) =>
  queryOptions({
    queryKey: ["campaigns", id],
    queryFn: ({ signal }) => api.campaigns.get(id, { signal }),
    refetchInterval: (query) => {
      const { data } = query.state
      return live(data !== undefined && isActive(data) ? often : undefined).refetchInterval(query)
    }
  })

/** The query for why rows are left out. It is repeated as more rows are checked. */
export const problemsQuery = ({ checked, id, problems }: Campaign) =>
  queryOptions({
    queryKey: ["campaigns", id, "problems", checked, problems],
    queryFn: ({ signal }) => api.campaigns.problems(id, { signal })
  })

/** The query for a campaign's messages over time; the whole time if `period` is omitted. */
export const timelineQuery = (id: string, period: CampaignPeriod | undefined) =>
  queryOptions({
    queryKey: ["campaigns", id, "timeline", period],
    queryFn: ({ signal }) => api.campaigns.timeline(id, period === undefined ? {} : { period }, { signal }),
    ...live(10_000)
  })
