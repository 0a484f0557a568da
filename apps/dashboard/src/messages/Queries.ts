/** The queries of pages about messages. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "../session/Service.ts"
import { live } from "../session/Session.tsx"

/** How many messages wait to be sent, and whether they are held after a restore. */
export const queueQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: ({ signal }) => api.queue.get({ signal }),
  ...live(10_000)
})
