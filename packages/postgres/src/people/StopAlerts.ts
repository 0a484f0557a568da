/**
 * Takes the addresses of removed members out of the workspaces' alert settings: part of `MemberStore.change` and
 * `MemberStore.assign`.
 */
import type { Member } from "@wac/core"
import { columns, unlessEmpty } from "../Columns.ts"

/** Keeps the order of the other addresses. Several addresses of a workspace go at once: an update meets a row once. */
export const stopAlerts = unlessEmpty(
  columns<Pick<Member.Member, "workspaceId" | "email">>({ workspaceId: "text", email: "text" }),
  (rows) =>
    `update wac.alert_settings a set emails = array(
    select e.email from unnest(a.emails) with ordinality e (email, place)
    where e.email <> all (s.emails) order by e.place)
  from (select s.workspace_id, array_agg(s.email) as emails from ${rows("s")} group by s.workspace_id) s
  where a.workspace_id = s.workspace_id and a.emails && s.emails`
)
