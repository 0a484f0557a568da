/** The queries of pages about the webhook. */
import { queryOptions } from "@tanstack/react-query"
import type { ReceiverQuery } from "@wac/client/internal"
import { live, liveIfAny } from "../session/Refetching.ts"
import { api, isNotFound } from "../session/Service.ts"

/** The query for the webhook and its health; `null` if none is set. */
export const webhookQuery = queryOptions({
  queryKey: ["webhook"],
  queryFn: ({ signal }) =>
    api.webhook.get({ signal }).catch((error: unknown) => {
      if (isNotFound(error)) return null
      throw error
    }),
  ...liveIfAny()
})

/** The query for the receiver's report in a time range. */
export const receiverQuery = (range: ReceiverQuery) =>
  queryOptions({
    queryKey: ["webhook", "receiver", range],
    queryFn: ({ signal }) => api.webhook.receiver(range, { signal }),
    ...live(10_000)
  })

/** The query for the receiver's outages in a time range. Outages are alerts, so it is repeated when alerts change. */
export const outagesQuery = (range: ReceiverQuery) =>
  queryOptions({
    queryKey: ["alerts", "outages", range],
    queryFn: ({ signal }) => api.webhook.receiver(range, { signal }).then(({ outages }) => outages),
    ...live(60_000)
  })
