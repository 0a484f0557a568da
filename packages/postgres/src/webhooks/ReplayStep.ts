/**
 * The steps of replay jobs (core's `ReplayStep`) in PostgreSQL. Lock order: a job before its webhook's health.
 */
import { type Id, Replay, ReplayStep, type Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { bigint, columns, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Row, type Statement, statement, value } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { writeRounds } from "./Rounds.ts"
import { delivery, deliveryOf, endedStatuses, testTriggers } from "./StoredDelivery.ts"

/** The columns of a job that callers see. */
export const replay = columns<Replay.Replay>(
  {
    id: "text",
    workspaceId: "text",
    webhookId: "text",
    since: "bigint",
    until: "bigint",
    status: "text",
    state: "text",
    total: "integer",
    replayed: "integer",
    createdAt: "bigint",
    completedAt: "bigint"
  }
)

/**
 * How far a job has come: the last delivery that it looked at, whose id is empty at first, and when the next step is
 * due.
 */
const progress = row({
  reachedAt: bigint<number | null>(),
  reachedId: text<Id.DeliveryId | "" | null>(),
  stepAt: bigint()
})

const jobOf = (row: Row): ReplayStep.Job => {
  const { reachedAt, reachedId, stepAt } = progress.read(row)
  return {
    replay: replay.read(row),
    reached: reachedId === "" ? null : { id: reachedId!, createdAt: reachedAt! },
    stepAt
  }
}

const job = replay.and(progress)

const insertJobs = insert(job.omit("state", "replayed", "completedAt", "reachedId"), "wac.replays")

const kept = job.pick("id", "state", "total", "replayed", "completedAt", "stepAt", "reachedAt", "reachedId")

const writeKept = unlessEmpty(
  kept,
  (rows) =>
    `update wac.replays r set ${kept.set("g", "id", "reachedAt", "reachedId")},
    reached_at = coalesce(g.reached_at, r.reached_at), reached_id = coalesce(g.reached_id, r.reached_id)
  from ${rows("g")} where r.id = g.id`
)

const keep = (jobs: ReadonlyArray<ReplayStep.Job>): ReadonlyArray<Statement> =>
  writeKept(jobs.map(({ reached, replay, stepAt }) => ({
    ...replay,
    stepAt,
    reachedAt: reached && reached.createdAt,
    reachedId: reached && reached.id
  })))

/**
 * Counts the deliveries in the range of a new job (`Replay.covers`). The count is null if the range is too large, or if
 * skips of the webhook are not yet written to its deliveries.
 */
const loadCovered = statement({
  ranges: columns<
    Pick<ReplayStep.Create, "id" | "workspaceId" | "since" | "status"> & {
      readonly until: Time.Instant | null
    }
  >({ id: "text", workspaceId: "text", since: "bigint", until: "bigint", status: "text" }),
  countedAtOnce: value<number>()
}, ({ countedAtOnce, ranges }) =>
  `select a.id, a.workspace_id, w.id as webhook_id, (
    select case when count(*) <= ${countedAtOnce}::integer and not exists (select from wac.webhook_skips s where s.webhook_id = w.id)
      then count(*) filter (where o.is_covered)
    end
    from (
      select d.trigger not in ${testTriggers} and (a.status is null or d.status = a.status) as is_covered
      from wac.deliveries d
      where d.webhook_id = w.id and d.created_at >= a.since and d.created_at < coalesce(a.until, 9223372036854775807)
        and d.status in ${endedStatuses}
      order by d.created_at, d.id limit ${countedAtOnce}::integer + 1
    ) o
  )::double precision as covered
  from ${ranges("a")}
  cross join lateral (select w.id from wac.webhooks w where w.workspace_id = a.workspace_id offset 0) w`)

const covered = columns<
  Pick<Replay.Replay, "id" | "workspaceId" | "webhookId"> & { readonly covered: number | null }
>({ id: "text", workspaceId: "text", webhookId: "text", covered: "double precision" })

/** `ReplayStore.create`. */
export const create: StepOptions<
  ReplayStep.Create,
  ReplayStep.LoadedRanges,
  Replay.Replay | undefined,
  ReplayStep.Writes
> = {
  load: (commands) => [
    loadCovered({
      // nothing was recorded later than now
      ranges: commands.map((command) => ({ ...command, until: command.until < command.now ? command.until : null })),
      countedAtOnce: Replay.countedAtOnce
    })
  ],
  read: ([rows], now) => {
    const all = rows!.map(covered.read)
    const webhooks = new Map(all.map(({ webhookId, workspaceId }) => [workspaceId, webhookId]))
    const counts = new Map(all.map(({ covered, id }) => [id, covered]))
    return {
      now,
      present: (workspaceId) => webhooks.get(workspaceId),
      covered: (_, job) => counts.get(job) ?? null
    }
  },
  decide: ReplayStep.create,
  write: ({ jobs }) => insertJobs(jobs.map(({ replay, stepAt }) => ({ ...replay, reachedAt: replay.since, stepAt })))
}

/** Locks jobs. This waits for a step in progress. */
const lockJobs = statement(
  { ids: list<Id.ReplayId>("text") },
  ({ ids }) => `select ${job.names("r")} from wac.replays r where r.id = any (${ids}) order by r.id for no key update`
)

/** `ReplayStore.cancel`. */
export const cancel: StepOptions<
  ReplayStep.Cancel,
  ReplayStep.LoadedJobs,
  Replay.Replay | undefined,
  ReplayStep.Writes
> = {
  load: (commands) => [lockJobs({ ids: commands.map(({ id }) => id) })],
  read: ([rows], now) => {
    const jobs = new Map(rows!.map(jobOf).map((job) => [job.replay.id, job]))
    return {
      now,
      job: (workspaceId, id) => {
        const job = jobs.get(id)
        return job?.replay.workspaceId === workspaceId ? job : undefined
      }
    }
  },
  decide: ReplayStep.cancel,
  write: ({ jobs }) => keep(jobs)
}

/** Chooses and locks a job. A separate statement, so that the statements after it know which one it chose. */
const choose = statement(
  { asked: value<Time.Instant | null>() },
  ({ asked }) =>
    `select set_config('wac_step.job', coalesce((
    select r.id from wac.replays r
    where r.state = 'running' and r.step_at <= ${Clocks.at(asked)}
    order by r.step_at limit 1
    for no key update skip locked
  ), ''), true)`
)

const chosen = "current_setting('wac_step.job')"

const lockText = `select h.webhook_id from wac.webhook_health h
  where h.webhook_id = (select r.webhook_id from wac.replays r where r.id = ${chosen}) for no key update`

const loadJob = statement({ maxWaiting: value<number>() }, ({ maxWaiting }) =>
  `select ${job.names("r")},
    w.is_paused is not null as is_present,
    coalesce(w.is_paused, false) as is_paused,
    not exists (select from wac.webhook_skips s where s.webhook_id = r.webhook_id) as is_written,
    (
      select count(*) from (
        (
          select 1 from wac.deliveries d
          where d.webhook_id = r.webhook_id and d.status = 'pending' and d.next_attempt_at is not null
            and d.round_attempts = 0 and d.trigger = 'replay'
          limit ${maxWaiting}::integer
        )
        union all
        (
          select 1 from wac.deliveries d
          where d.webhook_id = r.webhook_id and d.status = 'pending' and d.round_attempts > 0 and d.trigger = 'replay'
          limit ${maxWaiting}::integer
        )
        limit ${maxWaiting}::integer
      ) d
    )::double precision as waiting
  from wac.replays r
  left join lateral (
    select w.paused_at is not null as is_paused from wac.webhooks w where w.id = r.webhook_id offset 0
  ) w on true
  where r.id = ${chosen}`)

const chosenJob = columns<Pick<ReplayStep.LoadedStep, "isPresent" | "isPaused" | "isWritten" | "waiting">>({
  isPresent: "boolean",
  isPaused: "boolean",
  isWritten: "boolean",
  waiting: "double precision"
})

const loadEnded = statement({ limit: value<number>() }, ({ limit }) =>
  `select ${delivery.names("d")}
  from wac.replays r cross join lateral (
    select d.* from wac.deliveries d
    where d.webhook_id = r.webhook_id and (d.created_at, d.id) > (r.reached_at, r.reached_id) and d.created_at < r.until
      and d.status in ${endedStatuses}
      -- nothing is read for a job that must wait
      and exists (select from wac.webhooks w where w.id = r.webhook_id and w.paused_at is null)
      and not exists (select from wac.webhook_skips s where s.webhook_id = r.webhook_id)
    order by d.created_at, d.id limit ${limit}::integer
  ) d
  where r.id = ${chosen} order by d.created_at, d.id`)

/**
 * A request for a step. `asked` is the caller's time in tests that control time; `undefined` means the database's time.
 */
export interface StepCommand extends ReplayStep.Step {
  readonly asked: number | undefined
}

interface LoadedStep {
  readonly now: ReplayStep.LoadedStep["now"]
  /** Undefined if no job is due. */
  readonly due: ReplayStep.LoadedStep | undefined
}

/** `ReplayStore.step`. If several callers come at once, one step is done, and all are answered that there was work. */
export const step: StepOptions<StepCommand, LoadedStep, boolean, ReplayStep.StepWrites | undefined> = {
  load: ([first]) => [
    choose({ asked: first!.asked ?? null }),
    { text: lockText },
    loadJob({ maxWaiting: Replay.maxWaiting }),
    loadEnded({ limit: first!.limit })
  ],
  read: ([, , jobs, ended], now) => {
    const [job] = jobs!
    const due = job === undefined ? undefined : {
      now,
      job: jobOf(job),
      ...chosenJob.read(job),
      ended: ended!.map(deliveryOf),
      // no delivery waits for one that has ended
      order: () => []
    }
    return { now, due }
  },
  decide: ({ due }, commands) => ({
    answers: commands.map(() => due !== undefined),
    writes: due && ReplayStep.step(due, commands[0]!)
  }),
  write: (writes) => writes === undefined ? [] : [...keep(writes.jobs), ...writeRounds(writes)]
}
