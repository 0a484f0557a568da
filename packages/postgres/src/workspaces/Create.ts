/**
 * Creates workspaces (core's `WorkspaceStep.create`), one after another.
 */
import { WorkspaceStep } from "@wac/core"
import { plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { keepNumbers, lockNames } from "../numbers/PhoneNumberStep.ts"
import { booleans, instants, integers, texts } from "../Parameter.ts"
import type { Statement } from "../Statement.ts"

const lockText = "select pg_advisory_xact_lock(hashtext('workspaces'), 0)"

const loadText = `select exists (select from workspaces) as is_any, array(
    select p.provider_number_id from phone_numbers p where p.provider_number_id = any ($1::text[])
  ) as known`

const workspacesText = `insert into workspaces (id, name, created_at, tier, monthly_quota, suspended)
  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::integer[], $6::boolean[])`

const ownersText = `with people as (
    insert into people (user_id, email, password_hash, created_at)
    select * from unnest($1::text[], $3::text[], $4::text[], $6::bigint[])
  )
  insert into members (user_id, workspace_id, role, created_at)
  select * from unnest($1::text[], $2::text[], $5::text[], $6::bigint[])`

const write = ({ numbers, owners, workspaces }: WorkspaceStep.Writes): ReadonlyArray<Statement> =>
  workspaces.length === 0 ? [] : [
    {
      text: workspacesText,
      params: [
        texts(workspaces.map(({ id }) => id)),
        texts(workspaces.map(({ name }) => name)),
        instants(workspaces.map(({ createdAt }) => createdAt)),
        texts(workspaces.map(({ tier }) => tier)),
        integers(workspaces.map(({ monthlyQuota }) => monthlyQuota)),
        booleans(workspaces.map(({ suspended }) => suspended))
      ]
    },
    ...keepNumbers(numbers),
    {
      text: ownersText,
      params: [
        texts(owners.map(({ userId }) => userId)),
        texts(owners.map(({ workspaceId }) => workspaceId)),
        texts(owners.map(({ email }) => email)),
        texts(owners.map(({ passwordHash }) => passwordHash)),
        texts(owners.map(({ role }) => role)),
        instants(owners.map(({ createdAt }) => createdAt))
      ]
    }
  ]

/** `WorkspaceStore.create` and `WorkspaceStore.createFirst`. */
export const create: StepOptions<
  WorkspaceStep.Create | WorkspaceStep.CreateFirst,
  WorkspaceStep.Loaded,
  WorkspaceStep.Created,
  WorkspaceStep.Writes
> = {
  load: (commands) => {
    const names = commands.map(({ phoneNumber }) => phoneNumber.providerNumberId)
    return [{ text: lockText }, lockNames(names), { text: loadText, params: [texts(names)] }]
  },
  read: ([, , rows], now) => {
    const known = new Set(plain<ReadonlyArray<string>>(rows![0]!, "known"))
    return { now, isAny: plain(rows![0]!, "is_any"), isKnown: (providerNumberId) => known.has(providerNumberId) }
  },
  decide: WorkspaceStep.create,
  write
}
