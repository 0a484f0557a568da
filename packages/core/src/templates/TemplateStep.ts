/**
 * The decisions of `TemplateStore`: applying a listing of an account, provider reports between two listings, and
 * templates that were created, changed or deleted here. Pure.
 */
import type { TemplateId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Template from "./Template.ts"
import * as TemplateSlots from "./TemplateSlots.ts"

/** A listing of an account's templates. */
export interface ReplaceAll {
  readonly now: Instant
  /** When the listing began, by the storage's clock. A time in the future counts as now. */
  readonly listedAt: Instant
  readonly workspaceId: WorkspaceId
  readonly providerAccountId: string
  readonly listed: ReadonlyArray<Template.ProviderTemplate>
  /** Ids for new templates; at least as many as were listed. */
  readonly ids: ReadonlyArray<TemplateId>
}

/** A provider report about an account's template. */
export interface Update {
  readonly now: Instant
  readonly providerAccountId: string
  readonly name: string
  readonly language: string
  /** The report's time. A time in the future counts as now. */
  readonly at: Instant
  readonly change: Template.TemplateChange
}

/** A template as the provider has it after it was created or changed here. */
export interface Put {
  readonly now: Instant
  /** When the provider was asked, by the storage's clock. A time in the future counts as now. */
  readonly at: Instant
  readonly workspaceId: WorkspaceId
  readonly providerAccountId: string
  readonly template: Template.ProviderTemplate
  /** The id if the template is new. */
  readonly id: TemplateId
}

/** A template that was deleted at the provider. */
export interface Remove {
  readonly workspaceId: WorkspaceId
  readonly id: TemplateId
}

/** A stored template, and for each field the time of the provider's report. */
export interface TemplateRecord {
  readonly template: Template.Template
  readonly told: Template.ReportTimes
}

/** The records that `replaceAll`, `put` and `remove` load, under a lock on the workspace's templates. */
export interface LoadedWorkspaces extends Known {
  /** The accounts in which a workspace has numbers. They may be a moment old. */
  readonly accounts: (id: WorkspaceId) => ReadonlySet<string>
  /** All templates of a workspace. */
  readonly ofWorkspace: (id: WorkspaceId) => ReadonlyArray<TemplateRecord>
}

/** The records that `update` loads, under locks on the templates. */
export interface LoadedNames extends Known {
  /** The templates with this name and language, in every workspace with a number of the account. */
  readonly named: (name: Pick<Update, "providerAccountId" | "name" | "language">) => ReadonlyArray<TemplateRecord>
}

/** The templates to write and to delete, each at most once. */
export interface Writes {
  readonly kept: ReadonlyArray<TemplateRecord>
  readonly gone: ReadonlyArray<Template.Template>
}

const keyOf = (
  { language, name, providerAccountId }: Pick<Template.Template, "language" | "name" | "providerAccountId">
) => `${language} ${name} ${providerAccountId}`

/** A template as the provider listed or returned it, except for fields that the provider reported later. */
const keptOf = (
  { at, id, providerAccountId, template, workspaceId }: Omit<Put, "now">,
  before: TemplateRecord | undefined
): TemplateRecord => {
  const { listed, told } = Template.relist(template, before?.template ?? template, before?.told ?? {}, at)
  return {
    template: {
      ...listed,
      id: before?.template.id ?? id,
      workspaceId,
      providerAccountId,
      variables: Template.variablesOf(template.components),
      unfillable: TemplateSlots.unfillableOf(template),
      syncedAt: at
    },
    told
  }
}

/** A workspace's templates after a listing; `undefined` if the listing must be ignored. */
const relisted = (
  { ids, listed, listedAt, now, providerAccountId, workspaceId }: ReplaceAll,
  accounts: ReadonlySet<string>,
  known: ReadonlyMap<string, TemplateRecord>
): ReadonlyMap<string, TemplateRecord> | undefined => {
  if (!accounts.has(providerAccountId)) return undefined
  const isOfAccount = ({ template }: TemplateRecord) => template.providerAccountId === providerAccountId
  // a time in the future is of a clock that was wrong
  const isNewer = ({ template: { syncedAt } }: TemplateRecord) => syncedAt > listedAt && syncedAt <= now
  if ([...known.values()].some((kept) => isOfAccount(kept) && isNewer(kept))) return undefined
  const after = new Map(
    [...known].filter(([, kept]) => !isOfAccount(kept) && accounts.has(kept.template.providerAccountId))
  )
  listed.forEach((template, i) => {
    const key = keyOf({ ...template, providerAccountId })
    // if a template is listed twice, the first entry takes an id and the last one sets the content
    const before = after.get(key) ?? known.get(key)
    after.set(key, keptOf({ at: listedAt, workspaceId, providerAccountId, template, id: ids[i]! }, before))
  })
  return after
}

/**
 * Decides `TemplateStore.replaceAll`: makes a workspace's templates of an account equal to the listing. Known templates
 * keep their id and what the provider reported after the listing began (`Template.relist`). Others are deleted,
 * including those of accounts in which the workspace has no number. Nothing changes if the workspace has no number in
 * this account, or if a listing that began later was applied before.
 */
export const replaceAll: Decide<ReplaceAll, LoadedWorkspaces, void, Writes> = (loaded, commands) => {
  const before = new Map<TemplateId, TemplateRecord>()
  const byWorkspace = new Map<WorkspaceId, ReadonlyMap<string, TemplateRecord>>()
  const load = (id: WorkspaceId): ReadonlyMap<string, TemplateRecord> => {
    const all = loaded.ofWorkspace(id)
    for (const kept of all) before.set(kept.template.id, kept)
    return new Map(all.map((kept) => [keyOf(kept.template), kept]))
  }
  const answers = commands.map((asked) => {
    const now = loaded.now(asked.now)
    const command = { ...asked, now, listedAt: Math.min(asked.listedAt, now) }
    const known = byWorkspace.get(command.workspaceId) ?? load(command.workspaceId)
    byWorkspace.set(
      command.workspaceId,
      relisted(command, loaded.accounts(command.workspaceId), known) ?? known
    )
  })
  const after = [...byWorkspace.values()].flatMap((kept) => [...kept.values()])
  const ids = new Set(after.map(({ template }) => template.id))
  return {
    answers,
    writes: {
      kept: after.filter((kept) => before.get(kept.template.id) !== kept),
      gone: [...before.values()].map(({ template }) => template).filter(({ id }) => !ids.has(id))
    }
  }
}

/**
 * Decides `TemplateStore.update`: applies provider reports (`Template.observe`). The answer is how many workspaces have
 * the template.
 */
export const update: Decide<Update, LoadedNames, number, Writes> = (loaded, commands) => {
  const kept = new Map<TemplateId, TemplateRecord>()
  const answers = commands.map(({ at, change, language, name, now, providerAccountId }) => {
    const named = loaded.named({ providerAccountId, name, language })
    for (const found of named) {
      const { template, told } = kept.get(found.template.id) ?? found
      const present = loaded.now(now)
      // a listing in the future is of a clock that was wrong
      const listed = { ...template, syncedAt: Math.min(template.syncedAt, present) }
      kept.set(template.id, Template.observe(listed, told, change, Math.min(at, present)))
    }
    return named.length
  })
  return { answers, writes: { kept: [...kept.values()], gone: [] } }
}

/**
 * Decides `TemplateStore.put`: keeps a template that was created or changed here. A listing that began earlier is
 * ignored from then on. The answer is the template; `undefined` if the workspace has no number in the account.
 */
export const put: Decide<Put, LoadedWorkspaces, Template.Template | undefined, Writes> = (loaded, commands) => {
  const kept = new Map<TemplateId, TemplateRecord>()
  const answers = commands.map((asked) => {
    const command = { ...asked, at: Math.min(asked.at, loaded.now(asked.now)) }
    if (!loaded.accounts(command.workspaceId).has(command.providerAccountId)) return undefined
    const isSame = ({ template }: TemplateRecord) => keyOf(template) === keyOf({ ...command.template, ...command })
    const before = [...kept.values()].find((one) => isSame(one) && one.template.workspaceId === command.workspaceId) ??
      loaded.ofWorkspace(command.workspaceId).find(isSame)
    const after = keptOf(command, before)
    kept.set(after.template.id, after)
    return after.template
  })
  return { answers, writes: { kept: [...kept.values()], gone: [] } }
}

/** Decides `TemplateStore.remove`. Repeating it changes nothing. */
export const remove: Decide<Remove, LoadedWorkspaces, void, Writes> = (loaded, commands) => {
  const gone = new Map<TemplateId, Template.Template>()
  const answers = commands.map(({ id, workspaceId }) => {
    const found = loaded.ofWorkspace(workspaceId).find(({ template }) => template.id === id)
    if (found !== undefined) gone.set(id, found.template)
  })
  return { answers, writes: { kept: [], gone: [...gone.values()] } }
}
