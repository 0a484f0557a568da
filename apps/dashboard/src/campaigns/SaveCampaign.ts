/** Saving the form of a campaign: the campaign, its recipients and their check, in an order that can be repeated. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { Campaign, CreateCampaign, RecipientFile, UploadQuery } from "@wac/client/internal"
import { useRef } from "react"
import { isRefused, useOnce } from "../session/Once.ts"
import { api } from "../session/Service.ts"

/** The values of the form. */
interface FormValues {
  readonly plan: CreateCampaign
  /** The recipients of the campaign; those that it has stay if omitted. */
  readonly recipients: { readonly file: RecipientFile; readonly query: UploadQuery } | undefined
}

/** Replaces the campaign's recipients, if a file is chosen. */
const uploadRecipients = async (id: string, { recipients }: FormValues): Promise<Campaign | undefined> =>
  recipients === undefined
    ? undefined
    : api.campaigns.upload(id, recipients.file, { replace: true, ...recipients.query })

/** Saves a campaign, or makes one if it is omitted, and has it checked. Returns its id. */
export const useSaveCampaign = (campaign: Campaign | undefined) => {
  const client = useQueryClient()
  // once the first try has created the campaign and uploaded its file, a second one changes that campaign
  const made = useRef<Campaign>(campaign)
  const once = useOnce<CreateCampaign>()

  const create = (values: FormValues): Promise<string> =>
    once([values.plan], () => values.plan, async (request, key) => {
      const { id } = await api.campaigns.create(request, key)
      try {
        made.current = await uploadRecipients(id, values)
      } catch (error) {
        // of a file that is refused, nothing is left; else the next try fills the same campaign
        if (isRefused(error)) await api.campaigns.remove(id).catch(() => undefined)
        throw error
      }
      return id
    })

  const change = async ({ id }: Campaign, values: FormValues): Promise<string> => {
    await uploadRecipients(id, values)
    await api.campaigns.edit(id, {
      templateB: null,
      from: null,
      startAt: null,
      notAfter: null,
      quietHours: null,
      holdout: 0,
      ...values.plan
    })
    return id
  }

  return useMutation({
    mutationFn: async (values: FormValues) => {
      const id = await (made.current === undefined ? create(values) : change(made.current, values))
      await api.campaigns.check(id)
      return id
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["campaigns"] })
  })
}
