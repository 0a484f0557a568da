/**
 * `QueueStore` in PostgreSQL: combines the operations of this folder and adds the short statements.
 */
import { type Id, QueueStore, type Time } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, columns, row } from "../Columns.ts"
import { Database } from "../Database.ts"
import { ifGiven, isAny, type Statement, statement, value, variants } from "../Statement.ts"
import { beat } from "./BeatHeart.ts"
import { end } from "./EndQueued.ts"
import { holds, isHeld, work } from "./WorkOnLane.ts"

/** Reads when work on the first lane is due, of lanes that are not held. */
export const nextText = `select l.work_at from wac.send_lanes l
  where l.work_at is not null and not ${isHeld("l.workspace_id")} order by l.work_at limit 1`

const next = row({ workAt: bigint() })

const workspaceId = value<Id.WorkspaceId>()

/** Counts the backlog. It reads only the first message of each lane, since a lane may have many. */
const countBacklog = variants(
  { asked: Clocks.asked },
  { workspaceId },
  ({ asked }, { workspaceId }) =>
    `with judged as materialized (select ${asked} as at)
  select (
      select coalesce(sum(s.queued), 0)::double precision
      from wac.queue_sizes s${ifGiven(workspaceId, (id) => ` where s.workspace_id = ${id}`)}
    ) as queued,
    (
      select min(d.due_at) from wac.send_lanes l
      cross join lateral (
        select q.due_at from wac.send_queue q where q.phone_number_id = l.phone_number_id
        order by q.due_at, q.message_id limit 1
      ) d
      where l.work_at is not null and d.due_at <= j.at${ifGiven(workspaceId, (id) => ` and l.workspace_id = ${id}`)}
    ) as oldest_due_at,
    (select h.held_since from wac.heartbeats h where ${holds(workspaceId)}) as held_since, j.at
  from judged j`
)

/** The statement that counts the backlog of a workspace, or of all workspaces if `workspaceId` is null. */
export const backlogOf = (workspaceId: Id.WorkspaceId | null, asked: Time.Instant | undefined): Statement =>
  countBacklog({ asked }, { workspaceId: workspaceId ?? undefined })

const backlog = columns<QueueStore.Backlog>({
  queued: "double precision",
  oldestDueAt: "bigint",
  heldSince: "bigint",
  at: "bigint"
})

const held = row({ heldSince: bigint() })

/** Reads since when a workspace is held; no row if it is not. */
export const heldSinceOf = statement(
  { workspaceId },
  ({ workspaceId }) => `select ${held.names("h")} from wac.heartbeats h where ${holds(workspaceId)}`
)

/** Releases the queues of all workspaces from the present hold. */
export const releaseAllText = `update wac.heartbeats h set held_since = null where ${holds()} returning 1`

const releaseOne = statement(
  { workspaceId },
  ({ workspaceId }) =>
    `insert into wac.queue_releases as r (workspace_id, held_since)
  select ${workspaceId}, h.held_since from wac.heartbeats h where ${holds(workspaceId)}
  on conflict (workspace_id) do update set held_since = excluded.held_since where r.held_since < excluded.held_since
  returning 1`
)

export const layer = Layer.effect(
  QueueStore.QueueStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const working = yield* stepped("QueueStore.work", work)
    const ending = yield* stepped("QueueStore.end", end)
    const beating = yield* stepped("QueueStore.beat", beat)

    return QueueStore.QueueStore.of({
      work: (command) => Effect.map(working({ ...command, asked: callerNow(command.now) }), Option.fromUndefinedOr),
      end: ending,
      nextAt: Effect.map(
        query("QueueStore.nextAt", { text: nextText }),
        ([found]) => found === undefined ? null : next.read(found).workAt
      ),
      beat: beating,
      backlog: (workspaceId, now) =>
        Effect.map(
          query("QueueStore.backlog", backlogOf(workspaceId, callerNow(now))),
          ([found]) => backlog.read(found!)
        ),
      heldSince: (workspaceId) =>
        Effect.map(
          query("QueueStore.heldSince", heldSinceOf({ workspaceId })),
          ([found]) => found === undefined ? null : held.read(found).heldSince
        ),
      release: (workspaceId) =>
        Effect.map(
          query(
            "QueueStore.release",
            workspaceId === null
              ? { text: releaseAllText }
              : releaseOne({ workspaceId })
          ),
          isAny
        )
    })
  })
)
