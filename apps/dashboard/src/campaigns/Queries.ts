/** The queries of pages about campaigns. */
import { queryOptions } from "@tanstack/react-query"
import type { Campaign, CampaignPeriod } from "@wac/client/internal"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** How often a campaign at work is asked for, in milliseconds. */
const often = 1000

/** Whether something changes soon without anybody doing anything. */
const isAtWork = ({ completedAt, status }: Campaign): boolean =>
  status === "running" || status === "checking" || (status === "cancelled" && completedAt === null)

export const campaignQuery = (id: string) =>
  queryOptions({
    queryKey: ["campaigns", id],
    queryFn: ({ signal }) => api.campaigns.get(id, { signal }),
    refetchInterval: (query) => {
      const { data } = query.state
      return live(data !== undefined && isAtWork(data) ? often : undefined).refetchInterval(query)
    }
  })

/** Why rows are left out. Changes with the rows that are checked. */
export const problemsQuery = ({ checked, id, problems }: Campaign) =>
  queryOptions({
    queryKey: ["campaigns", id, "problems", checked, problems],
    queryFn: ({ signal }) => api.campaigns.problems(id, { signal })
  })

/** The campaign's messages over time. */
export const timelineQuery = (id: string, period: CampaignPeriod | undefined) =>
  queryOptions({
    queryKey: ["campaigns", id, "timeline", period],
    queryFn: ({ signal }) => api.campaigns.timeline(id, period === undefined ? {} : { period }, { signal }),
    ...live(10_000)
  })
