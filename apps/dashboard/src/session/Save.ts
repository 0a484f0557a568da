/** Forms that change stored settings: they start from the stored values, and show when they are saved. */
import { useMutation, useQuery, useQueryClient, type UseQueryOptions, type UseQueryResult } from "@tanstack/react-query"
import { useRef } from "react"
import { t } from "../ui/Language.ts"
import { Problem } from "../ui/Problem.ts"
import { mayBeDone } from "./Once.ts"

/**
 * Fetches the data that a form starts from when the form opens, and forgets it when the form closes. The same query of
 * other pages is not shared, because its data may be old.
 */
export const useFresh = <Data, Failure>(
  options: UseQueryOptions<Data, Failure, Data, Array<string>>
): UseQueryResult<Data, Failure> => useQuery({ ...options, queryKey: [...options.queryKey, "form"], gcTime: 0 })

/**
 * Fails if what is stored is not what a form began with: the form has all settings, so saving it would revert what
 * another person, or another tab, has saved since.
 */
export const refuseReverting = (begun: unknown, stored: unknown): void => {
  if (JSON.stringify(begun) === JSON.stringify(stored)) return
  throw new Problem("", t("Somebody has changed this meanwhile. Reload the page, and make your change again."))
}

/**
 * Saves a form that began with the settings `first`, unless they have changed meanwhile, and then refetches all queries.
 * `read` reads the stored settings. `saved` is the response, as long as the form has the saved content.
 */
export const useSave = <Form, Settings>(
  form: Form,
  save: (form: Form) => Promise<Settings>,
  { first, read }: { readonly first: Settings; readonly read: () => Promise<Settings> }
) => {
  const client = useQueryClient()
  /** What was stored when the form last was the same; `undefined` if the outcome of a save is not known. */
  const begun = useRef<Settings | undefined>(first)
  const { data, error, isPending, mutate, variables } = useMutation({
    mutationFn: async (form: Form) => {
      if (begun.current !== undefined) refuseReverting(begun.current, await read())
      try {
        return begun.current = await save(form)
      } catch (error) {
        // what is stored may now be this form's own change
        if (mayBeDone(error)) begun.current = undefined
        throw error
      }
    },
    onSettled: () => client.invalidateQueries()
  })
  return {
    error,
    isPending,
    save: () => mutate(form),
    saved: JSON.stringify(variables) === JSON.stringify(form) ? data : undefined
  }
}
