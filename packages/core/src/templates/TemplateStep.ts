/**
 * What the transitions of templates decide: what a listing of an account, and what upstream reports between two listings,
 * make of them.
 */
import type { TemplateId, WorkspaceId } from "../Id.ts"
import type { Decide, Known } from "../Step.ts"
import type { Instant } from "../Time.ts"
import * as Template from "./Template.ts"
import * as TemplateSlots from "./TemplateSlots.ts"

/** An account's templates were listed. */
export interface ReplaceAll {
  /** When the listing began. */
  readonly listedAt: Instant
  readonly workspaceId: WorkspaceId
  readonly providerAccountId: string
  readonly listed: ReadonlyArray<Template.ProviderTemplate>
  /** For templates that are new; at least as many as were listed. */
  readonly ids: ReadonlyArray<TemplateId>
}

/** Upstream reports a change of an account's template. */
export interface Update {
  readonly now: Instant
  readonly providerAccountId: string
  readonly name: string
  readonly language: string
  /** A time to come counts as now. */
  readonly at: Instant
  readonly change: Template.TemplateChange
}

/** A template, and when upstream reported its fields. */
export interface Kept {
  readonly template: Template.Template
  readonly told: Template.Told
}

/** What a listing loads, under a lock of the workspace's templates. */
export interface LoadedWorkspaces extends Known {
  /** The accounts that a workspace has numbers of. They may be a moment old. */
  readonly accounts: (id: WorkspaceId) => ReadonlySet<string>
  /** All templates of a workspace. */
  readonly ofWorkspace: (id: WorkspaceId) => ReadonlyArray<Kept>
}

/** What upstream's words load, under locks of the templates. */
export interface LoadedNames extends Known {
  /** The templates of that name, in every workspace with a number of the account. */
  readonly named: (name: Pick<Update, "providerAccountId" | "name" | "language">) => ReadonlyArray<Kept>
}

/** Templates as they are after the step, each at most once. */
export interface Writes {
  readonly kept: ReadonlyArray<Kept>
  readonly gone: ReadonlyArray<Template.Template>
}

const nameOf = (
  { language, name, providerAccountId }: Pick<Template.Template, "language" | "name" | "providerAccountId">
) => `${language} ${name} ${providerAccountId}`

/** A workspace's templates after a listing; `undefined` when it says nothing that counts. */
const relisted = (
  { ids, listed, listedAt, providerAccountId, workspaceId }: ReplaceAll,
  accounts: ReadonlySet<string>,
  known: ReadonlyMap<string, Kept>
): ReadonlyMap<string, Kept> | undefined => {
  if (!accounts.has(providerAccountId)) return undefined
  const isOfAccount = ({ template }: Kept) => template.providerAccountId === providerAccountId
  const isNewer = ({ template }: Kept) => template.syncedAt > listedAt
  if ([...known.values()].some((kept) => isOfAccount(kept) && isNewer(kept))) return undefined
  const after = new Map(
    [...known].filter(([, kept]) => !isOfAccount(kept) && accounts.has(kept.template.providerAccountId))
  )
  listed.forEach((template, i) => {
    const name = nameOf({ ...template, providerAccountId })
    // of one that is listed twice the first takes an id, and the last says what it is
    const before = after.get(name) ?? known.get(name)
    const { listed, told } = Template.relist(template, before?.template ?? template, before?.told ?? {}, listedAt)
    after.set(name, {
      template: {
        ...listed,
        id: before?.template.id ?? ids[i]!,
        workspaceId,
        providerAccountId,
        variables: Template.variablesOf(template.components),
        unfillable: TemplateSlots.unfillableOf(template),
        syncedAt: listedAt
      },
      told
    })
  })
  return after
}

/**
 * Makes a workspace's templates of an account those that were listed: known ones keep their id and what upstream reported
 * after the listing had begun (`Template.relist`), others go, and so do those of accounts that the workspace has no number
 * of. Nothing changes when this is such an account, or when a listing that began later was taken before.
 */
export const replaceAll: Decide<ReplaceAll, LoadedWorkspaces, void, Writes> = (loaded, commands) => {
  const loadedOnes = new Map<TemplateId, Kept>()
  const byWorkspace = new Map<WorkspaceId, ReadonlyMap<string, Kept>>()
  const load = (id: WorkspaceId): ReadonlyMap<string, Kept> => {
    const all = loaded.ofWorkspace(id)
    for (const kept of all) loadedOnes.set(kept.template.id, kept)
    return new Map(all.map((kept) => [nameOf(kept.template), kept]))
  }
  const answers = commands.map((command) => {
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
      kept: after.filter((kept) => loadedOnes.get(kept.template.id) !== kept),
      gone: [...loadedOnes.values()].map(({ template }) => template).filter(({ id }) => !ids.has(id))
    }
  }
}

/** Applies upstream's words (`Template.observe`). Answers with how many workspaces have the template. */
export const update: Decide<Update, LoadedNames, number, Writes> = (loaded, commands) => {
  const kept = new Map<TemplateId, Kept>()
  const answers = commands.map(({ at, change, language, name, now, providerAccountId }) => {
    const named = loaded.named({ providerAccountId, name, language })
    for (const found of named) {
      const { template, told } = kept.get(found.template.id) ?? found
      kept.set(template.id, Template.observe(template, told, change, Math.min(at, loaded.now(now))))
    }
    return named.length
  })
  return { answers, writes: { kept: [...kept.values()], gone: [] } }
}
