/** The query for the state of the queue, which several pages share. */
import { queryOptions } from "@tanstack/react-query"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"

/** The query for how many messages are queued, and whether they are held after a restored backup. */
export const queueQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: ({ signal }) => api.queue.get({ signal }),
  ...live(10_000)
})
