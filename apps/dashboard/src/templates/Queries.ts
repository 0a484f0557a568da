/** The queries of pages about templates. */
import { queryOptions } from "@tanstack/react-query"
import { api } from "../session/Service.ts"

/** The templates that can be sent. */
export const approvedQuery = queryOptions({
  queryKey: ["templates", { status: "approved", all: true }],
  queryFn: ({ signal }) => api.templates.list({ status: "approved", limit: 100 }, { signal }).toArray(500)
})

/** A template by its name and language; `null` if the provider does not list it. */
export const templateQuery = (name: string, language: string) =>
  queryOptions({
    queryKey: ["templates", { name, language }],
    queryFn: async ({ signal }) => {
      const found = await api.templates.list({ name, limit: 100 }, { signal }).toArray(500)
      return found.find((template) => template.language === language) ?? null
    }
  })
