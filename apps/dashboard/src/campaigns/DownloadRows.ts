/** The rows of a campaign as a file. */
import { useMutation } from "@tanstack/react-query"
import { address } from "../session/Service.ts"

/** Which rows; all if nothing is chosen. */
interface RowChoice {
  readonly outcome?: string | undefined
  readonly reason?: string | undefined
}

/** Saves the report of these rows as a file. The browser keeps what it has of it on its disk, not in memory. */
const save = async (id: string, choice: RowChoice): Promise<void> => {
  const query = new URLSearchParams(
    Object.entries(choice).filter((entry): entry is [string, string] => entry[1] !== undefined)
  )
  const response = await fetch(`${address}/internal/campaigns/${id}/recipients?${query}`, {
    headers: { accept: "text/csv" }
  })
  if (!response.ok) throw new Error(`the service responded with ${response.status}`)
  const link = document.createElement("a")
  link.href = URL.createObjectURL(await response.blob())
  link.download = `${id}.csv`
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Downloads rows of a campaign as CSV. */
export const useDownload = (id: string, choice: RowChoice) => useMutation({ mutationFn: () => save(id, choice) })
