/**
 * Writes lanes: a lane records when work on a number's queued messages is due. Lanes are locked last and in the order
 * of their keys. A transaction that makes a message due earlier must also write the lane, after the message's row in
 * the queue: then a concurrent piece of work sees either the message or the lane.
 */
import type { Id, QueueWorkStep, Time } from "@wac/core"
import { columns, unlessEmpty } from "../Columns.ts"
import type { Statement } from "../Statement.ts"

/** When work on a number's lane is due. */
interface Due {
  readonly phoneNumberId: Id.PhoneNumberId
  readonly dueAt: Time.Instant
}

/** The earliest entry of each number. */
const firsts = <A extends Due>(all: ReadonlyArray<A>): ReadonlyArray<A> => {
  const found = new Map<Id.PhoneNumberId, A>()
  for (const one of all) {
    const known = found.get(one.phoneNumberId)
    if (known === undefined || one.dueAt < known.dueAt) found.set(one.phoneNumberId, one)
  }
  return [...found.values()]
}

const open = unlessEmpty(
  columns<Due & Pick<QueueWorkStep.Lane, "workspaceId">>({
    phoneNumberId: "text",
    dueAt: "bigint",
    workspaceId: "text"
  }),
  (rows) =>
    `insert into wac.send_lanes as l (phone_number_id, workspace_id, work_at)
  select d.phone_number_id, d.workspace_id, d.due_at from ${rows("d")} order by 1
  on conflict (phone_number_id) do update set work_at = excluded.work_at
  where l.work_at is null or l.work_at > excluded.work_at`
)

/** The statements that create lanes for newly queued messages, or make their work due earlier. */
export const openLanes = (
  due: ReadonlyArray<Due & Pick<QueueWorkStep.Lane, "workspaceId">>
): ReadonlyArray<Statement> => open(firsts(due))

const hurry = unlessEmpty(
  columns<Due>({ phoneNumberId: "text", dueAt: "bigint" }),
  (rows) =>
    // judged by the lanes as they are once they are locked: whoever held one may have made its work due later
    `with due as materialized (
    select l.phone_number_id, l.work_at, d.due_at
    from ${rows("d")} join wac.send_lanes l on l.phone_number_id = d.phone_number_id
    order by l.phone_number_id for no key update of l
  )
  update wac.send_lanes l set work_at = d.due_at from due d
  where l.phone_number_id = d.phone_number_id and (d.work_at is null or d.work_at > d.due_at)`
)

/** The statements that make the work of existing lanes due at these times, unless it is due earlier. */
export const hurryLanes = (due: ReadonlyArray<Due>): ReadonlyArray<Statement> => hurry(firsts(due))
