/** Saving the form of a campaign: the campaign, its recipients and their check, in an order that can be repeated. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import type { Campaign, CreateCampaign, RecipientFile, UploadQuery } from "@wac/client/internal"
import { useRef } from "react"
import { useOnce } from "../session/Once.ts"
import { api } from "../session/Service.ts"

/** The values of a form. */
interface Saved {
  readonly plan: CreateCampaign
  /** The recipients of the campaign; those that it has stay if omitted. */
  readonly recipients: { readonly file: RecipientFile; readonly query: UploadQuery } | undefined
}

const uploaded = async (id: string, { recipients }: Saved): Promise<Campaign | undefined> =>
  recipients === undefined
    ? undefined
    : api.campaigns.upload(id, recipients.file, { replace: true, ...recipients.query })

/** Saves a campaign, or makes one if it is omitted, has it checked and opens its page. */
export const useSaveCampaign = (campaign: Campaign | undefined) => {
  const client = useQueryClient()
  const navigate = useNavigate()
  // a second try goes on with the campaign that the first has made and filled
  const made = useRef<Campaign>(campaign)
  const once = useOnce<CreateCampaign>()
  /** How many files were refused: what is made after one is another campaign. */
  const refusals = useRef(0)

  const create = async (saved: Saved): Promise<string> => {
    const { idempotencyKey, request } = once([saved.plan, refusals.current], () => saved.plan)
    const { id } = await api.campaigns.create(request, { idempotencyKey })
    try {
      made.current = await uploaded(id, saved)
    } catch (error) {
      // of a file that is refused, nothing is left
      refusals.current++
      await api.campaigns.remove(id).catch(() => undefined)
      throw error
    }
    return id
  }

  const change = async ({ id }: Campaign, saved: Saved): Promise<string> => {
    await uploaded(id, saved)
    await api.campaigns.edit(id, {
      templateB: null,
      from: null,
      startAt: null,
      notAfter: null,
      quietHours: null,
      holdout: 0,
      ...saved.plan
    })
    return id
  }

  return useMutation({
    mutationFn: async (saved: Saved) => {
      const id = await (made.current === undefined ? create(saved) : change(made.current, saved))
      await api.campaigns.check(id)
      return id
    },
    onSuccess: (id) => navigate({ to: "/campaigns/$id", params: { id } }),
    onSettled: () => client.invalidateQueries({ queryKey: ["campaigns"] })
  })
}
