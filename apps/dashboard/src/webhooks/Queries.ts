/** The queries of pages about the webhook. */
import { queryOptions } from "@tanstack/react-query"
import type { ReceiverQuery } from "@wac/client/internal"
import { api, isNotFound } from "../session/Service.ts"
import { live, liveIfAny } from "../session/Session.tsx"

/** The webhook and its health; `null` before one is set. */
export const webhookQuery = queryOptions({
  queryKey: ["webhook"],
  queryFn: ({ signal }) =>
    api.webhook.get({ signal }).catch((error: unknown) => {
      if (isNotFound(error)) return null
      throw error
    }),
  ...liveIfAny()
})

/** How the receiver behaved in a range of time. */
export const receiverQuery = (range: ReceiverQuery) =>
  queryOptions({
    queryKey: ["webhook", "receiver", range],
    queryFn: ({ signal }) => api.webhook.receiver(range, { signal }),
    ...live(10_000)
  })

/** When the receiver was down in a range of time. These are alerts, so it is asked again when those change. */
export const outagesQuery = (range: ReceiverQuery) =>
  queryOptions({
    queryKey: ["alerts", "outages", range],
    queryFn: ({ signal }) => api.webhook.receiver(range, { signal }).then(({ outages }) => outages),
    ...live(60_000)
  })
