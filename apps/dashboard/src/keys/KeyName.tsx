/** The name of an API key; its id if the key is no longer active. */
import { useQuery } from "@tanstack/react-query"
import { Id } from "../ui/Table.tsx"
import { activeKeysQuery } from "./Queries.ts"

export const KeyName = ({ id }: { readonly id: string }) => {
  const { data } = useQuery(activeKeysQuery)
  const key = data?.find((key) => key.id === id)
  return key === undefined ? <Id>{id}</Id> : <span className="break-words">{key.name}</span>
}
