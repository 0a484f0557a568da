/** Forms that change what is stored: they begin with it, and say that it is saved while that is so. */
import {
  type QueryKey,
  useMutation,
  useQuery,
  useQueryClient,
  type UseQueryOptions,
  type UseQueryResult
} from "@tanstack/react-query"
import { useState } from "react"

/**
 * The answer that a form begins with. It is asked for when the form opens: an answer from before, which may be old, does
 * not count. Later answers may be shown with a note that they are old, as everywhere.
 */
export const useFresh = <Data, Failure, Key extends QueryKey>(
  options: UseQueryOptions<Data, Failure, Data, Key>
): UseQueryResult<Data, Failure> => {
  const query = useQuery({ ...options, refetchOnMount: "always" })
  const [isFresh, setFresh] = useState(false)
  if (!isFresh && query.isFetchedAfterMount && query.isSuccess) setFresh(true)
  return isFresh ? query : { ...query, data: undefined } as UseQueryResult<Data, Failure>
}

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
