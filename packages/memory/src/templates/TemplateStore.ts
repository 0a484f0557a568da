/**
 * `TemplateStore` in memory: each method is one synchronous step over `State`, decided by `TemplateStep`.
 */
import { type Id, type Page, type Template, TemplateStep, TemplateStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { named } from "../numbers/PhoneNumberStore.ts"
import { forgetTemplate, type Memory, State, templateName } from "../State.ts"

const accountsOf = (memory: Memory, id: Id.WorkspaceId): ReadonlySet<string> =>
  new Set(memory.phoneNumbers.all(id).map(({ providerAccountId }) => providerAccountId))

const keptOf = (memory: Memory, template: Template.Template): TemplateStep.TemplateRecord => ({
  template,
  told: memory.templateTold.get(template.id) ?? {}
})

const write = (memory: Memory, { gone, kept }: TemplateStep.Writes): void => {
  for (const template of gone) forgetTemplate(memory, template)
  for (const { template, told } of kept) {
    memory.templates.set(template)
    memory.templateByName.set(templateName(template), template.id)
    memory.templateTold.set(template.id, told)
  }
}

const loadedOf = (memory: Memory): TemplateStep.LoadedWorkspaces => ({
  now: memory.now,
  accounts: (id) => accountsOf(memory, id),
  ofWorkspace: (id) => memory.templates.all(id).map((template) => keptOf(memory, template))
})

const replaceAll = (memory: Memory, command: TemplateStep.ReplaceAll): void =>
  write(memory, TemplateStep.replaceAll(loadedOf(memory), [command]).writes)

const put = (memory: Memory, command: TemplateStep.Put): Template.Template | undefined => {
  const { answers: [template], writes } = TemplateStep.put(loadedOf(memory), [command])
  write(memory, writes)
  return template
}

const get = (memory: Memory, workspaceId: Id.WorkspaceId, id: Id.TemplateId): Option.Option<Template.Template> =>
  Option.filter(
    Option.fromNullishOr(memory.templates.get(id)),
    (template) => template.workspaceId === workspaceId
  )

const update = (memory: Memory, command: TemplateStep.Update): number => {
  const { answers: [count], writes } = TemplateStep.update({
    now: memory.now,
    named: ({ providerAccountId, ...name }) =>
      [...new Set(named(memory, { providerAccountId }).map(({ workspaceId }) => workspaceId))].flatMap(
        (workspaceId) => {
          const id = memory.templateByName.get(templateName({ ...name, workspaceId, providerAccountId }))
          return id === undefined ? [] : [keptOf(memory, memory.templates.get(id)!)]
        }
      )
  }, [command])
  write(memory, writes)
  return count!
}

const list = (
  memory: Memory,
  workspaceId: Id.WorkspaceId,
  filter: TemplateStore.StoredTemplateFilter,
  page: Page.PageRequest
): Page.Page<Template.Template> => {
  const { category, language, name, nameContains, provider, status } = filter
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
      (nameContains === undefined || template.name.includes(nameContains)) &&
      (status === undefined || template.status === status)
  )
}

export const layer = Layer.effect(
  TemplateStore.TemplateStore,
  Effect.map(State, (memory) =>
    TemplateStore.TemplateStore.of({
      replaceAll: (command) => Effect.sync(() => replaceAll(memory, command)),
      put: (command) => Effect.sync(() => put(memory, command)),
      remove: (command) => Effect.sync(() => write(memory, TemplateStep.remove(loadedOf(memory), [command]).writes)),
      get: (workspaceId, id) => Effect.sync(() => get(memory, workspaceId, id)),
      update: (told) => Effect.sync(() => update(memory, told)),
      list: (workspaceId, filter, page) => Effect.sync(() => list(memory, workspaceId, filter, page))
    }))
)
