import { type Id, type Page, Template, TemplateStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { type Memory, State } from "./State.ts"

/** A template among all templates. */
export const templateName = (
  workspaceId: Id.WorkspaceId,
  { language, name }: Pick<Template.Template, "language" | "name">
): string => `${workspaceId} ${language} ${name}`

const replaceAll = (
  memory: Memory,
  { ids, listed, now, workspaceId }: Parameters<TemplateStore.TemplateStore["Service"]["replaceAll"]>[0]
): void => {
  const gone = new Set(memory.templates.all(workspaceId).map(({ id }) => id))
  listed.forEach((template, i) => {
    const name = templateName(workspaceId, template)
    const id = memory.templateByName.get(name) ?? ids[i]!
    gone.delete(id)
    memory.templateByName.set(name, id)
    memory.templates.set({
      ...template,
      id,
      workspaceId,
      variables: Template.variablesOf(template.components),
      syncedAt: now
    })
  })
  for (const id of gone) {
    const template = memory.templates.get(id)!
    memory.templateByName.delete(templateName(workspaceId, template))
    memory.templates.delete(template)
  }
}

const list = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  filter: TemplateStore.TemplateFilter,
  page: Page.PageRequest
): Page.Page<Template.Template> => {
  const { category, language, name, status } = filter
  return memory.templates.page(
    workspaceId,
    page,
    (template) =>
      (category === undefined || template.category === category) &&
      (language === undefined || template.language === language) &&
      (name === undefined || template.name === name) &&
      (status === undefined || template.status === status)
  )
}

export const layer = Layer.effect(
  TemplateStore.TemplateStore,
  Effect.map(State, (memory) =>
    TemplateStore.TemplateStore.of({
      replaceAll: (command) => Effect.sync(() => replaceAll(memory, command)),
      list: (workspaceId, filter, page) => Effect.sync(() => list(memory, workspaceId, filter, page))
    }))
)
