/** The queries of pages about templates. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "../session/Service.ts"

/** The templates that can be sent. */
export const approvedQuery = queryOptions({
  queryKey: ["templates", { status: "approved", all: true }],
  queryFn: ({ signal }) => api.templates.list({ status: "approved", limit: 100 }, { signal }).toArray(500)
})
