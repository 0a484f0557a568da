/** The queries of pages about templates. */
import { queryOptions, useQuery } from "@tanstack/react-query"
import type { TemplateDetail } from "@wac/client/internal"
import { phoneNumbersQuery } from "../numbers/Queries.ts"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"
import { sendableFrom } from "./Sendable.ts"

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

/** The query for the templates with a name, one for each language and account, sorted by language. */
export const namesakesQuery = (name: string) =>
  queryOptions({
    queryKey: ["templates", { name, all: true }],
    queryFn: async ({ signal }) => {
      const found = await api.templates.list({ name, limit: 100 }, { signal }).toArray()
      return found.toSorted((a, b) => a.language < b.language ? -1 : a.language > b.language ? 1 : 0)
    }
  })

/**
 * The template with a name and language that a number sends, named as in `numberOf`. `null` if the provider does not
 * list it, `undefined` if it is not known.
 */
export const useTemplate = (name: string, language: string, from: string): TemplateDetail | null | undefined => {
  const { data: numbers } = useQuery(phoneNumbersQuery)
  const { data: templates } = useQuery(namesakesQuery(name))
  return numbers === undefined || templates === undefined
    ? undefined
    : sendableFrom(templates, numbers, from).find((template) => template.language === language) ?? null
}
