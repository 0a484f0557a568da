/** The queries of pages about templates. */
import { queryOptions } from "@tanstack/react-query"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"

/** The query for all approved templates, at most a few thousand per account. */
export const approvedQuery = queryOptions({
  queryKey: ["templates", { status: "approved", all: true }],
  queryFn: ({ signal }) => api.templates.list({ status: "approved", limit: 100 }, { signal }).toArray()
})

/** The query for a template by its id. */
export const templateOfId = (id: string) =>
  queryOptions({
    queryKey: ["templates", id],
    queryFn: ({ signal }) => api.templates.get(id, { signal }),
    ...live(10_000)
  })

/** The query for the templates with a name, one for each language, sorted by language. */
export const namesakesQuery = (name: string) =>
  queryOptions({
    queryKey: ["templates", { name, all: true }],
    queryFn: async ({ signal }) => {
      const found = await api.templates.list({ name, limit: 100 }, { signal }).toArray()
      return found.toSorted((a, b) => a.language < b.language ? -1 : a.language > b.language ? 1 : 0)
    }
  })

/** The query for a template by its name and language; `null` if the provider does not list it. */
export const templateQuery = (name: string, language: string) =>
  queryOptions({
    ...namesakesQuery(name),
    select: (templates) => templates.find((template) => template.language === language) ?? null
  })
