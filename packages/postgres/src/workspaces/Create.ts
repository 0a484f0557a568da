/**
 * Creates workspaces (core's `WorkspaceStep.create`), one after another.
 */
import { WorkspaceStep } from "@wac/core"
import { columns, list, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { keepAdded, lockNames } from "../numbers/PhoneNumberStep.ts"
import { type Statement, statement } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { workspace } from "./StoredWorkspace.ts"

const lockText = "select pg_advisory_xact_lock(hashtext('wac:workspaces'), 0)"

const found = columns<Pick<WorkspaceStep.Loaded, "isAny"> & { readonly known: ReadonlyArray<string> }>({
  isAny: "boolean",
  known: "text[]"
})

const load = statement(
  { names: list<string>("text") },
  ({ names }) =>
    `select exists (select from wac.workspaces) as is_any, array(
    select p.provider_number_id from wac.phone_numbers p where p.provider_number_id = any (${names})
  ) as known`
)

const insertWorkspaces = insert(workspace, "wac.workspaces")

const insertOwners = unlessEmpty(
  columns<WorkspaceStep.Writes["owners"][number]>({
    userId: "text",
    workspaceId: "text",
    email: "text",
    passwordHash: "text",
    role: "text",
    createdAt: "bigint"
  }),
  (rows) =>
    `with people as (
    insert into wac.people (user_id, email, password_hash, created_at)
    select o.user_id, o.email, o.password_hash, o.created_at from ${rows("o")}
  )
  insert into wac.members (user_id, workspace_id, role, created_at)
  select o.user_id, o.workspace_id, o.role, o.created_at from ${rows("o")}`
)

const write = (writes: WorkspaceStep.Writes): ReadonlyArray<Statement> => [
  ...insertWorkspaces(writes.workspaces),
  ...keepAdded(writes),
  ...insertOwners(writes.owners)
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
    return [{ text: lockText }, lockNames({ names }), load({ names })]
  },
  read: ([, , rows], now) => {
    const { isAny, known } = found.read(rows![0]!)
    const names = new Set(known)
    return { now, isAny, isKnown: (providerNumberId) => names.has(providerNumberId) }
  },
  decide: WorkspaceStep.create,
  write
}
