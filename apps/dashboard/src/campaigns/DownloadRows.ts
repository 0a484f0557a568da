/** The rows of a campaign as a file. */
import { useMutation } from "@tanstack/react-query"
import type { CampaignRowQuery } from "@wac/client/internal"
import { api } from "../session/Service.ts"

/** Which rows; all if nothing is chosen. */
interface RowChoice {
  readonly outcome?: CampaignRowQuery["outcome"] | undefined
  readonly reason?: string | undefined
}

/** Saves the report of these rows as a file. The browser keeps what it has of it on its disk, not in memory. */
const save = async (id: string, { outcome, reason }: RowChoice): Promise<void> => {
  const file = await api.campaigns.rowsFile(id, {
    ...(outcome === undefined ? {} : { outcome }),
    ...(reason === undefined ? {} : { reason })
  })
  const link = document.createElement("a")
  link.href = URL.createObjectURL(file)
  link.download = `${id}.csv`
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Downloads rows of a campaign as CSV. */
export const useDownload = (id: string, choice: RowChoice) => useMutation({ mutationFn: () => save(id, choice) })
