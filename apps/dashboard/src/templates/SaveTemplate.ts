/** Saves the form of a template, and deletes templates; both change the template at the provider, too. */
import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import type { CreateTemplate, TemplateDetail } from "@wac/client/internal"
import { useOnce } from "../session/Once.ts"
import { api } from "../session/Service.ts"

const useChanged = () => {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: ["templates"] })
}

/** The mutation that creates a template, or changes the given one, and then opens its page. */
export const useSaveTemplate = (template: TemplateDetail | undefined) => {
  const navigate = useNavigate()
  const once = useOnce<CreateTemplate>()
  return useMutation({
    mutationFn: async (draft: CreateTemplate) => {
      if (template !== undefined) {
        const { category, components } = draft
        return api.templates.edit(template.id, {
          components,
          ...(category === template.category ? {} : { category })
        })
      }
      return once([draft], () => draft, api.templates.create)
    },
    onSuccess: ({ id }) => navigate({ to: "/templates/$id", params: { id } }),
    onSettled: useChanged()
  })
}

/** The functions for `Confirm` that delete a template, and then open the list. */
export const useRemoveTemplate = ({ id }: TemplateDetail) => {
  const navigate = useNavigate()
  const client = useQueryClient()
  return {
    act: () => api.templates.remove(id),
    onDone: async () => {
      await navigate({ to: "/templates" })
      client.removeQueries({ queryKey: ["templates", id] })
    }
  }
}
