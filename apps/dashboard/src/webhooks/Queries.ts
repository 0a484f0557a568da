/** The queries of pages about the webhook. */
import { queryOptions } from "@tanstack/react-query"
import { api, isNotFound } from "../session/Service.ts"
import { liveIfAny } from "../session/Session.tsx"

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
