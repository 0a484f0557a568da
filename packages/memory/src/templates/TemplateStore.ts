import { type Id, type Page, Template, TemplateStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { named } from "../numbers/PhoneNumberStore.ts"
import { forgetTemplate, type Memory, State, templateName } from "../State.ts"

const replaceAll = (
  memory: Memory,
  { ids, listed, listedAt, providerAccountId, workspaceId }: Parameters<
    TemplateStore.TemplateStore["Service"]["replaceAll"]
  >[0]
): void => {
  const accounts = new Set(memory.phoneNumbers.all(workspaceId).map(({ providerAccountId }) => providerAccountId))
  if (!accounts.has(providerAccountId)) return
  const known = memory.templates.all(workspaceId)
  const isOfAccount = (template: Template.Template) => template.providerAccountId === providerAccountId
  if (known.some((template) => isOfAccount(template) && template.syncedAt > listedAt)) return
  const gone = new Set(
    known.filter((template) => isOfAccount(template) || !accounts.has(template.providerAccountId)).map(({ id }) => id)
  )
  listed.forEach((template, i) => {
    const name = templateName({ ...template, workspaceId, providerAccountId })
    const id = memory.templateByName.get(name) ?? ids[i]!
    const relisted = Template.relist(
      template,
      memory.templates.get(id) ?? template,
      memory.templateTold.get(id) ?? {},
      listedAt
    )
    gone.delete(id)
    memory.templateByName.set(name, id)
    memory.templateTold.set(id, relisted.told)
    memory.templates.set({
      ...relisted.listed,
      id,
      workspaceId,
      providerAccountId,
      variables: Template.variablesOf(template.components),
      unfillable: Template.unfillableOf(template),
      syncedAt: listedAt
    })
  })
  for (const id of gone) forgetTemplate(memory, memory.templates.get(id)!)
}

const update = (
  memory: Memory,
  { at, change, now, providerAccountId, ...name }: Parameters<TemplateStore.TemplateStore["Service"]["update"]>[0]
): number => {
  const workspaces = new Set(named(memory, { providerAccountId }).map(({ workspaceId }) => workspaceId))
  const ids = [...workspaces].flatMap((workspaceId) =>
    memory.templateByName.get(templateName({ ...name, workspaceId, providerAccountId })) ?? []
  )
  for (const id of ids) {
    const told = memory.templateTold.get(id) ?? {}
    const observed = Template.observe(memory.templates.get(id)!, told, change, Math.min(at, now))
    memory.templates.set(observed.template)
    memory.templateTold.set(id, observed.told)
  }
  return ids.length
}

const list = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  filter: TemplateStore.StoredTemplateFilter,
  page: Page.PageRequest
): Page.Page<Template.Template> => {
  const { category, language, name, provider, status } = filter
  const accounts = new Set(
    memory.phoneNumbers.all(workspaceId)
      .filter((number) => number.provider === provider)
      .map(({ providerAccountId }) => providerAccountId)
  )
  return memory.templates.page(
    workspaceId,
    page,
    (template) =>
      (provider === undefined || accounts.has(template.providerAccountId)) &&
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
      update: (told) => Effect.sync(() => update(memory, told)),
      list: (workspaceId, filter, page) => Effect.sync(() => list(memory, workspaceId, filter, page))
    }))
)
