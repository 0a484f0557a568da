/** Forms that change what is stored: they begin with it, and say that it is saved while that is so. */
import { useMutation, useQuery, useQueryClient, type UseQueryOptions, type UseQueryResult } from "@tanstack/react-query"

/**
 * The answer that a form begins with. It is asked for when the form opens, and forgotten when it closes: what other pages
 * had from the same query, or wait for, may be old.
 */
export const useFresh = <Data, Failure>(
  options: UseQueryOptions<Data, Failure, Data, Array<string>>
): UseQueryResult<Data, Failure> => useQuery({ ...options, queryKey: [...options.queryKey, "form"], gcTime: 0 })

/** Saves what a form holds. `saved` is the response, while the form still holds what was saved. */
export const useSave = <Form, Answer>(form: Form, save: (form: Form) => Promise<Answer>) => {
  const client = useQueryClient()
  const { data, error, isPending, mutate, variables } = useMutation({
    mutationFn: save,
    onSettled: () => client.invalidateQueries()
  })
  return {
    error,
    isPending,
    save: () => mutate(form),
    saved: JSON.stringify(variables) === JSON.stringify(form) ? data : undefined
  }
}
