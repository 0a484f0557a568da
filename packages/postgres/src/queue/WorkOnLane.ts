/**
 * Does a piece of work on a lane that is due: takes messages that callers queued (core's `QueueWorkStep.work`). Lock
 * order: the lane, then its queue and messages. Rows that other transactions hold are skipped.
 */
import { type Id, type PhoneNumber, QueueWorkStep, type Time } from "@wac/core"
import { Duration } from "effect"
import * as Clocks from "../Clocks.ts"
import { columns, type Reader, result } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { message, request } from "../messages/StoredSend.ts"
import { number } from "../numbers/StoredNumber.ts"
import { type Rows, type Statement, statement, value } from "../Statement.ts"
import { lease } from "./Lease.ts"

/**
 * A request for work. `asked` is the caller's time in tests that control time; `undefined` means the database's time.
 */
export interface WorkCommand extends QueueWorkStep.Work {
  readonly asked: number | undefined
}

/**
 * A condition on the heartbeat `h`: whether the queue of this workspace, or if omitted of any, is held until a person
 * releases it. `offset 0` keeps the planner from reading all workspaces while nothing is held.
 */
export const holds = (workspaceId?: string): string =>
  `h.held_since is not null and exists (
    select from wac.workspaces w
    where ${workspaceId === undefined ? "" : `w.id = ${workspaceId} and `}w.created_at <= h.held_since and not exists (
      select from wac.queue_releases r where r.workspace_id = w.id and r.held_since >= h.held_since
    )
    offset 0
  )`

/** A condition: whether the queue of this workspace is held. */
export const isHeld = (workspaceId: string): string =>
  `exists (select from wac.heartbeats h where ${holds(workspaceId)})`

/**
 * Chooses and locks a lane. A separate statement, so that the statements after it see what was queued before the lane
 * was locked.
 */
const choose = statement(
  { asked: value<Time.Instant | null>() },
  ({ asked }) =>
    `select set_config('wac_step.lane', coalesce((
    select l.phone_number_id from wac.send_lanes l
    where l.work_at <= ${Clocks.at(asked)} and not ${isHeld("l.workspace_id")}
    order by l.work_at limit 1
    for no key update of l skip locked
  ), ''), true)`
)

const lane = columns<QueueWorkStep.Lane>({
  phoneNumberId: "text",
  workspaceId: "text",
  workAt: "bigint",
  nextSlot: "double precision"
})

const loadLane: Statement = {
  text: `select ${lane.names("l")}, to_json(p.p) as number from wac.send_lanes l
  left join lateral (select p from wac.phone_numbers p where p.id = l.phone_number_id offset 0) p on true
  where l.phone_number_id = current_setting('wac_step.lane')`
}

const ofLane = result<{ readonly number: PhoneNumber.PhoneNumber | null }>({ number })

/**
 * How soon messages that other transactions hold are looked at again, in milliseconds: those transactions may leave
 * them unchanged.
 */
const heldFor = Duration.toMillis(Duration.seconds(1))

/** Locks and loads due messages. Returns at least one row, which holds the time of the next message. */
const loadQueue = statement({
  phoneNumberId: value<Id.PhoneNumberId>(),
  now: value<Time.Instant>(),
  limit: value<number>()
}, ({ limit, now, phoneNumberId }) =>
  `with due as materialized (
    select q.message_id, q.due_at, q.tries, q.send_until from wac.send_queue q
    where q.phone_number_id = ${phoneNumberId} and q.due_at <= ${now}::bigint
    order by q.due_at, q.message_id limit ${limit}
    for update skip locked
  ), locked as materialized (
    select m from wac.messages m where m.id = any (array(select d.message_id from due d)) order by m.id
    for update skip locked
  )
  select n.next_at, to_json(l.m) as queued, l.tries, l.send_until
  from (
    select least(
      (
        select q.due_at from wac.send_queue q where q.phone_number_id = ${phoneNumberId} and q.due_at > ${now}::bigint
        order by q.due_at, q.message_id limit 1
      ),
      case when (select count(*) from locked) < (
        select count(*) from (
          select from wac.send_queue q where q.phone_number_id = ${phoneNumberId} and q.due_at <= ${now}::bigint limit ${limit}
        ) q
      ) then ${now}::bigint + ${heldFor} end
    ) as next_at
  ) n
  left join (select l.m, d.* from locked l join due d on d.message_id = (l.m).id) l on true
  order by l.due_at, l.message_id`)

/** Reads a queued message, and the request that queued it. */
const keyed: Reader<Pick<QueueWorkStep.Queued, "message" | "request">> = {
  read: (row) => {
    const one = message.read(row)
    return {
      message: one,
      request: { workspaceId: one.workspaceId, ...request.read(row) } as QueueWorkStep.Queued["request"]
    }
  }
}

const queued = result<
  Pick<QueueWorkStep.Queued, "tries" | "sendUntil"> & Pick<QueueWorkStep.Due, "nextAt"> & {
    readonly queued: ReturnType<typeof keyed.read> | null
  }
>({ queued: keyed, tries: "integer", sendUntil: "bigint", nextAt: "bigint" })

const dueOf = (rows: Rows): QueueWorkStep.Due => {
  const all = rows.map(queued.read)
  return {
    messages: all.flatMap(({ queued, sendUntil, tries }) => queued === null ? [] : [{ ...queued, tries, sendUntil }]),
    nextAt: all[0]!.nextAt
  }
}

/** What was loaded for the chosen lane; `work` is undefined if no lane is due. */
interface Loaded {
  readonly now: QueueWorkStep.LoadedWork["now"]
  readonly work: QueueWorkStep.LoadedWork | undefined
}

/** What the decision still needs, for which lane, and at which time. */
interface Need extends QueueWorkStep.Need {
  readonly loaded: QueueWorkStep.LoadedWork
  readonly now: Time.Instant
}

const workOf = ([, rows]: ReadonlyArray<Rows>, now: Loaded["now"]): Loaded["work"] => {
  const [row] = rows!
  return row === undefined
    ? undefined
    : { now, lane: lane.read(row), number: ofLane.read(row).number ?? undefined, due: null }
}

const keepLane = statement(
  { lane: lane.omit("workspaceId").one },
  ({ lane: { nextSlot, phoneNumberId, workAt } }) =>
    `update wac.send_lanes l set work_at = ${workAt}, next_slot = ${nextSlot} where l.phone_number_id = ${phoneNumberId}`
)

/** `QueueStore.work`: one piece of work for each call. The calls of a process run one after another. */
export const work: StepOptions<
  WorkCommand,
  Loaded,
  QueueWorkStep.WorkResult | undefined,
  QueueWorkStep.WorkWrites | undefined,
  Need
> = {
  size: 1,
  load: ([command]) => [choose({ asked: command!.asked ?? null }), loadLane],
  read: (rows, now) => ({ now, work: workOf(rows, now) }),
  decide: ({ work }, [command]) => {
    if (work === undefined) return { answers: [undefined], writes: undefined }
    const decided = QueueWorkStep.work(work, [command!])
    return "needs" in decided
      // the time of the decision, so that no message is taken before it is due
      ? { needs: decided.needs.map((need) => ({ ...need, loaded: work, now: work.now(command!.now) })) }
      : decided
  },
  more: {
    load: (needs) =>
      needs.map(({ limit, loaded: { lane: { phoneNumberId } }, now }) => loadQueue({ phoneNumberId, now, limit })),
    read: (loaded, [need], [rows]) => ({ ...loaded, work: { ...need!.loaded, due: dueOf(rows!) } })
  },
  write: (writes) =>
    writes === undefined ? [] : [
      ...lease(writes.leased),
      // the time of a slot may be a fraction of a millisecond
      keepLane({ lane: { ...writes.lane, workAt: writes.lane.workAt && Math.ceil(writes.lane.workAt) } })
    ]
}
