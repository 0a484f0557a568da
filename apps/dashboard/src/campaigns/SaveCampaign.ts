/**
 * Saves the form of a campaign: first the settings, then the recipients, then their check is started. The settings are
 * first, because they can be saved again if a later step fails; an accepted file replaces the earlier rows for good.
 */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { Campaign, RecipientFile, UploadQuery } from "@wac/client/internal"
import { useRef, useState } from "react"
import { isRefused, isUnknown, mayBeDone, useOnce } from "../session/Once.ts"
import { api } from "../session/Service.ts"
import { changeTo, createdBy, isSame, type Plan } from "./Draft.ts"
import { ensureUnchanged } from "./RecipientFile.ts"

interface Upload {
  readonly file: RecipientFile
  readonly query: UploadQuery
}

/** The values of the form. */
interface FormValues {
  readonly plan: Plan
  /** The file of recipients; if `undefined`, the campaign keeps the recipients that it has. */
  readonly recipients: Upload | undefined
}

/**
 * The mutation that saves a campaign, or creates one if `undefined`, starts its check and returns its id. `left` is a
 * sentence about what the last failed try has saved.
 */
export const useSaveCampaign = (campaign: Campaign | undefined) => {
  const client = useQueryClient()
  /** The campaign as the service last returned it, which further tries change. */
  const saved = useRef(campaign)
  /** The fields of changes that may have been saved: their responses were lost. */
  const lost = useRef(new Set<string>())
  /** The last file of recipients that this form has uploaded. */
  const uploaded = useRef<Upload>(undefined)
  /** A sentence about what the failed try has saved and what it has not. */
  const [left, setLeft] = useState<string>()
  const once = useOnce<Plan>()

  /**
   * Takes a step. If it fails, sets the sentence: `ifRefused` if the service refused it, `ifLost` if the service itself
   * does not know the outcome, `ifUnknown` otherwise.
   */
  const step = async <A>(
    act: () => Promise<A>,
    ifRefused: string,
    ifUnknown: string,
    ifLost = ifUnknown
  ): Promise<A> => {
    try {
      return await act()
    } catch (error) {
      setLeft(isRefused(error) ? ifRefused : isUnknown(error) ? ifLost : ifUnknown)
      throw error
    }
  }

  const edit = async (before: Campaign, plan: Plan): Promise<void> => {
    const { id } = before
    const unknown = "The changes may not have been saved. Save again."
    let change = changeTo(plan, before)
    if (lost.current.size > 0) {
      const fields = new Set([...lost.current, ...Object.keys(change)])
      const present = await step(() => api.campaigns.get(id), unknown, unknown)
      change = Object.fromEntries(Object.entries(changeTo(plan, present)).filter(([field]) => fields.has(field)))
      if (Object.keys(change).length === 0) saved.current = present
    }
    if (Object.keys(change).length > 0) {
      try {
        saved.current = await step(() => api.campaigns.edit(id, change), "The changes were not saved.", unknown)
      } catch (error) {
        if (mayBeDone(error)) { for (const field of Object.keys(change)) lost.current.add(field) }
        throw error
      }
    }
    lost.current.clear()
  }

  /** Whether the form's file still has to be uploaded. */
  const isNew = (recipients: Upload | undefined): recipients is Upload =>
    recipients !== undefined &&
    !(uploaded.current?.file.bytes === recipients.file.bytes && isSame(uploaded.current.query, recipients.query))

  const upload = async (id: string, recipients: Upload | undefined): Promise<void> => {
    if (!isNew(recipients)) return
    saved.current = await step(
      () => api.campaigns.upload(id, recipients.file, { replace: true, ...recipients.query }),
      "The settings are saved. The file is not: the campaign keeps the customers that it has.",
      "The settings are saved. The file may not be: save again."
    )
    uploaded.current = recipients
  }

  /**
   * Creates a campaign. After a lost response, it repeats the first request even if the form has changed, so that only
   * one campaign is created, and then applies the changes. If the service has lost the request, it creates another.
   */
  const create = ({ plan, recipients }: FormValues): Promise<Campaign> =>
    once([], () => plan, async (first, key) => {
      const made = saved.current = saved.current ?? await step(
        () => api.campaigns.create(createdBy(first), key),
        "Nothing was saved.",
        "The campaign may have been created. Save again: no second one is created.",
        "The campaign may have been created: look in the list before you save again."
      )
      await edit(made, plan)
      try {
        await upload(made.id, recipients)
      } catch (error) {
        // a new campaign is removed if its only file is refused
        if (isRefused(error) && uploaded.current === undefined) {
          await api.campaigns.remove(made.id).then(() => {
            saved.current = undefined
            setLeft("Nothing was saved.")
          }, () => setLeft("The campaign is saved as a draft without customers."))
        }
        throw error
      }
      return made
    })

  const change = async (before: Campaign, { plan, recipients }: FormValues): Promise<Campaign> => {
    await edit(before, plan)
    await upload(before.id, recipients)
    return before
  }

  const mutation = useMutation({
    mutationFn: async (values: FormValues) => {
      setLeft(undefined)
      if (isNew(values.recipients)) await ensureUnchanged(values.recipients.file)
      const { id } = await (campaign === undefined ? create(values) : change(saved.current ?? campaign, values))
      await step(
        () => api.campaigns.check(id),
        "All of this is saved, but not checked.",
        "All of this is saved, but its check may not have begun."
      )
      return id
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["campaigns"] })
  })
  return { ...mutation, left }
}
