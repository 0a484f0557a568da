/** The query for the events of a message with their deliveries. */
import { queryOptions } from "@tanstack/react-query"
import { live } from "../session/Refetching.ts"
import { api, firstPage } from "../session/Service.ts"

/** The events of a message, newest first, each with its delivery if there is one; a message has only a few. */
export const lifeQuery = (messageId: string) =>
  queryOptions({
    queryKey: ["deliveries", "life", messageId],
    queryFn: async ({ signal }) => {
      const [events, deliveries] = await Promise.all([
        firstPage(api.events.list({ messageId, limit: 100 }, { signal })),
        firstPage(api.deliveries.list({ messageId, limit: 100 }, { signal }))
      ])
      return events.data.map((event) => ({
        event,
        delivery: deliveries.data.find(({ eventId }) => eventId === event.id)
      }))
    },
    ...live(3000)
  })
