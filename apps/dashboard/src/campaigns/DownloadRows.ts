/** Downloads rows of a campaign as a CSV file. */
import { useMutation } from "@tanstack/react-query"
import type { CampaignRowQuery } from "@wac/client/internal"
import { api } from "../session/Service.ts"

/** Which rows to download; all if nothing is chosen. */
interface RowChoice {
  readonly outcome?: CampaignRowQuery["outcome"] | undefined
  readonly reason?: string | undefined
}

/** Requests the rows, and saves them as a file. The browser can hold the response on its disk instead of in memory. */
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

/** The mutation that downloads the chosen rows. */
export const useDownload = (id: string, choice: RowChoice) => useMutation({ mutationFn: () => save(id, choice) })
