/** Forms that change stored settings: they start from the stored values, and show when they are saved. */
import { useMutation, useQuery, useQueryClient, type UseQueryOptions, type UseQueryResult } from "@tanstack/react-query"

/**
 * Fetches the data that a form starts from when the form opens, and forgets it when the form closes. The same query of
 * other pages is not shared, because its data may be old.
 */
export const useFresh = <Data, Failure>(
  options: UseQueryOptions<Data, Failure, Data, Array<string>>
): UseQueryResult<Data, Failure> => useQuery({ ...options, queryKey: [...options.queryKey, "form"], gcTime: 0 })

/** Saves a form, then refetches all queries. `saved` is the response, as long as the form has the saved content. */
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
