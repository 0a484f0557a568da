/**
 * The steps of templates (core's `TemplateStep`) in PostgreSQL: what they load and write.
 */
import { type Id, type Template, TemplateStep } from "@wac/core"
import { columns, inJson, list, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Row, type Statement, statement } from "../Statement.ts"
import { template } from "./StoredTemplate.ts"

const told = columns<Pick<TemplateStep.TemplateRecord, "told">>({ told: "json" })

const keptOf = (row: Row): TemplateStep.TemplateRecord => ({ template: template.read(row), ...told.read(row) })

const account = template.pick("workspaceId", "providerAccountId")

const workspaces = list<Id.WorkspaceId>("text")

/** Serializes a workspace's listings without locking its row, which sends need. */
const lock = statement({ workspaces }, ({ workspaces }) => `
  select pg_advisory_xact_lock(hashtext('wac:templates'), l.name)
  from (select distinct hashtext(w.id) as name from unnest(${workspaces}) w (id) order by 1) l`)

const loadAccounts = statement({ workspaces }, ({ workspaces }) => `
  select ${account.names("p")} from wac.phone_numbers p where p.workspace_id = any (${workspaces})`)

const loadAll = statement({ workspaces }, ({ workspaces }) => `
  select ${template.names("t")}, t.told from wac.templates t where t.workspace_id = any (${workspaces})
  order by t.id for no key update`)

const keep = statement(
  { kept: inJson<ReadonlyArray<TemplateStep.TemplateRecord>>() },
  ({ kept }) =>
    `insert into wac.templates (id, workspace_id, provider_account_id, name, language, category, status,
    parameter_format, components, variables, unfillable, quality, rejection_reason, provider_template_id, synced_at, told)
  select k.template ->> 'id', k.template ->> 'workspaceId', k.template ->> 'providerAccountId', k.template ->> 'name',
    k.template ->> 'language', k.template ->> 'category', k.template ->> 'status', k.template ->> 'parameterFormat',
    k.template -> 'components', array(select json_array_elements_text(k.template -> 'variables')),
    k.template ->> 'unfillable', k.template ->> 'quality', k.template ->> 'rejectionReason',
    k.template ->> 'providerTemplateId', (k.template ->> 'syncedAt')::bigint, k.told
  from json_to_recordset(${kept}) k (template json, told jsonb)
  on conflict (id) do update set category = excluded.category, status = excluded.status,
    parameter_format = excluded.parameter_format, components = excluded.components, variables = excluded.variables,
    unfillable = excluded.unfillable, quality = excluded.quality, rejection_reason = excluded.rejection_reason,
    provider_template_id = excluded.provider_template_id, synced_at = excluded.synced_at, told = excluded.told`
)

const removeGone = unlessEmpty(
  list<Id.TemplateId>("text"),
  (ids) => `delete from wac.templates t where t.id = any (${ids})`
)

const write = ({ gone, kept }: TemplateStep.Writes): ReadonlyArray<Statement> => [
  ...removeGone(gone.map(({ id }) => id)),
  ...kept.length === 0 ? [] : [keep({ kept })]
]

/** The rows that listings and changes of a workspace's templates load. */
const ofWorkspaces = {
  load: (commands: ReadonlyArray<{ readonly workspaceId: Id.WorkspaceId }>): ReadonlyArray<Statement> => {
    const workspaces = commands.map(({ workspaceId }) => workspaceId)
    return [lock, loadAccounts, loadAll].map((load) => load({ workspaces }))
  },
  read: (
    [, accountRows, templates]: ReadonlyArray<ReadonlyArray<Row>>,
    now: TemplateStep.LoadedWorkspaces["now"]
  ): TemplateStep.LoadedWorkspaces => {
    const accounts = new Map<Id.WorkspaceId, Set<string>>()
    for (const row of accountRows!) {
      const { providerAccountId, workspaceId } = account.read(row)
      const own = accounts.get(workspaceId) ?? new Set()
      accounts.set(workspaceId, own.add(providerAccountId))
    }
    const all = templates!.map(keptOf)
    return {
      now,
      accounts: (id) => accounts.get(id) ?? new Set(),
      ofWorkspace: (id) => all.filter(({ template }) => template.workspaceId === id)
    }
  }
}

/** `TemplateStore.replaceAll`. */
export const replaceAll: StepOptions<
  TemplateStep.ReplaceAll,
  TemplateStep.LoadedWorkspaces,
  void,
  TemplateStep.Writes
> = { ...ofWorkspaces, decide: TemplateStep.replaceAll, write }

/** `TemplateStore.put`. */
export const put: StepOptions<
  TemplateStep.Put,
  TemplateStep.LoadedWorkspaces,
  Template.Template | undefined,
  TemplateStep.Writes
> = { ...ofWorkspaces, decide: TemplateStep.put, write }

/** `TemplateStore.remove`. */
export const remove: StepOptions<
  TemplateStep.Remove,
  TemplateStep.LoadedWorkspaces,
  void,
  TemplateStep.Writes
> = { ...ofWorkspaces, decide: TemplateStep.remove, write }

const named = template.pick("providerAccountId", "name", "language")

const lockNamed = statement({ names: named }, ({ names }) =>
  `select ${template.names("t")}, t.told
  from wac.templates t
  where t.id = any (array(
    select t.id from ${names("n")}
    cross join lateral (
      select distinct p.workspace_id from wac.phone_numbers p where p.provider_account_id = n.provider_account_id offset 0
    ) p
    cross join lateral (
      select t.id from wac.templates t
      where t.workspace_id = p.workspace_id and t.provider_account_id = n.provider_account_id and t.name = n.name
        and t.language = n.language offset 0
    ) t
  ))
  order by t.id for no key update`)

const nameOf = ({ language, name, providerAccountId }: ReturnType<typeof named.read>) =>
  `${language} ${name} ${providerAccountId}`

/** `TemplateStore.update`. */
export const update: StepOptions<TemplateStep.Update, TemplateStep.LoadedNames, number, TemplateStep.Writes> = {
  load: (commands) => [lockNamed({ names: commands })],
  read: ([rows], now) => {
    const all = rows!.map(keptOf)
    return { now, named: (name) => all.filter(({ template }) => nameOf(template) === nameOf(name)) }
  },
  decide: TemplateStep.update,
  write
}
