/**
 * The steps of replay jobs (core's `ReplayStep`) in PostgreSQL. Lock order: a job before its webhook's health.
 */
import { type Id, Replay, ReplayStep } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { instant, plain } from "../Column.ts"
import { columns, type Fields } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { instants, texts } from "../Parameter.ts"
import type { Row, Statement } from "../Statement.ts"
import { writeRounds } from "./Rounds.ts"
import { delivery, deliveryOf, endedStatuses, testTriggers } from "./StoredDelivery.ts"

/** The columns of a job that callers see. */
export const replay = columns(
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
  } satisfies Fields<Replay.Replay>
)

export const replayOf = (row: Row): Replay.Replay => replay.read(row) as Replay.Replay

const jobOf = (row: Row): ReplayStep.Job => ({
  replay: replayOf(row),
  reached: plain<string>(row, "reached_id") === "" ? null : {
    id: plain(row, "reached_id"),
    createdAt: instant(row, "reached_at")
  },
  stepAt: instant(row, "step_at")
})

const jobColumns = `${replay.names("r")}, r.reached_at, r.reached_id, r.step_at`

const made = columns({
  id: "text",
  workspaceId: "text",
  webhookId: "text",
  since: "bigint",
  until: "bigint",
  status: "text",
  total: "integer",
  createdAt: "bigint",
  reachedAt: "bigint",
  stepAt: "bigint"
})

const kept = columns({
  id: "text",
  state: "text",
  total: "integer",
  replayed: "integer",
  completedAt: "bigint",
  stepAt: "bigint",
  reachedAt: "bigint",
  reachedId: "text"
})

const keepText = `update replays r set ${kept.set("g", "id", "reachedAt", "reachedId")},
    reached_at = coalesce(g.reached_at, r.reached_at), reached_id = coalesce(g.reached_id, r.reached_id)
  from ${kept.rows("g")} where r.id = g.id`

const keep = (jobs: ReadonlyArray<ReplayStep.Job>): ReadonlyArray<Statement> =>
  jobs.length === 0 ? [] : [{
    text: keepText,
    params: kept.params(jobs.map(({ reached, replay, stepAt }) => ({
      ...replay,
      stepAt,
      reachedAt: reached && reached.createdAt,
      reachedId: reached && reached.id
    })))
  }]

/**
 * Counts the range if it is small enough (`Replay.covers`). If skipped deliveries are still to be written, the count is
 * not known yet.
 */
const coveredText = `select a.id, a.workspace_id, w.id as webhook_id, (
    select case when count(*) <= $6::integer and not exists (select from webhook_skips s where s.webhook_id = w.id)
      then count(*) filter (where o.is_covered)
    end
    from (
      select d.trigger not in ${testTriggers} and (a.status is null or d.status = a.status) as is_covered
      from deliveries d
      where d.webhook_id = w.id and d.created_at >= a.since and d.created_at < coalesce(a.until, 9223372036854775807)
        and d.status in ${endedStatuses}
      order by d.created_at, d.id limit $6::integer + 1
    ) o
  )::double precision as covered
  from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::text[]) a (id, workspace_id, since, until, status)
  cross join lateral (select w.id from webhooks w where w.workspace_id = a.workspace_id offset 0) w`

/** `ReplayStore.create`. */
export const create: StepOptions<
  ReplayStep.Create,
  ReplayStep.LoadedRanges,
  Replay.Replay | undefined,
  ReplayStep.Writes
> = {
  load: (commands) => [{
    text: coveredText,
    params: [
      texts(commands.map(({ id }) => id)),
      texts(commands.map(({ workspaceId }) => workspaceId)),
      instants(commands.map(({ since }) => since)),
      // nothing was recorded later than now
      instants(commands.map(({ now, until }) => until < now ? until : null)),
      texts(commands.map(({ status }) => status)),
      Replay.countedAtOnce
    ]
  }],
  read: ([rows], now) => {
    const webhooks = new Map(rows!.map((row) => [plain<Id.WorkspaceId>(row, "workspace_id"), row]))
    const covered = new Map(rows!.map((row) => [plain<Id.ReplayId>(row, "id"), plain<number | null>(row, "covered")]))
    return {
      now,
      present: (workspaceId) => {
        const row = webhooks.get(workspaceId)
        return row && plain<Id.WebhookId>(row, "webhook_id")
      },
      covered: (_, job) => covered.get(job) ?? null
    }
  },
  decide: ReplayStep.create,
  write: ({ jobs }) =>
    jobs.length === 0 ? [] : [{
      text: made.insert("replays"),
      params: made.params(jobs.map(({ replay, stepAt }) => ({ ...replay, reachedAt: replay.since, stepAt })))
    }]
}

/** Waits for a step in progress. */
const jobsText = `select ${jobColumns} from replays r where r.id = any ($1::text[]) order by r.id for no key update`

/** `ReplayStore.cancel`. */
export const cancel: StepOptions<
  ReplayStep.Cancel,
  ReplayStep.LoadedJobs,
  Replay.Replay | undefined,
  ReplayStep.Writes
> = {
  load: (commands) => [{ text: jobsText, params: [texts(commands.map(({ id }) => id))] }],
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

/** A separate statement, so that the statements after it know which job it has chosen. */
const chooseText = `select set_config('wac.job', coalesce((
    select r.id from replays r
    where r.state = 'running' and r.step_at <= ${Clocks.at("$1")}
    order by r.step_at limit 1
    for no key update skip locked
  ), ''), true)`

const chosen = "current_setting('wac.job')"

const lockText = `select h.webhook_id from webhook_health h
  where h.webhook_id = (select r.webhook_id from replays r where r.id = ${chosen}) for no key update`

const jobText = `select ${jobColumns},
    exists (select from webhooks w where w.id = r.webhook_id) as is_present,
    not exists (select from webhook_skips s where s.webhook_id = r.webhook_id) as is_written,
    (
      select count(*) from (
        select from deliveries d
        where d.webhook_id = r.webhook_id and d.status = 'pending' and d.next_attempt_at is not null
          and d.round_attempts = 0 and d.trigger = 'replay'
        limit $1::integer
      ) d
    )::double precision as waiting
  from replays r where r.id = ${chosen}`

const endedText = `select ${delivery.names("d")}
  from replays r cross join lateral (
    select d.* from deliveries d
    where d.webhook_id = r.webhook_id and (d.created_at, d.id) > (r.reached_at, r.reached_id) and d.created_at < r.until
      and d.status in ${endedStatuses}
      -- nothing is read for a job that must wait
      and exists (select from webhooks w where w.id = r.webhook_id)
      and not exists (select from webhook_skips s where s.webhook_id = r.webhook_id)
    order by d.created_at, d.id limit $1::integer
  ) d
  where r.id = ${chosen} order by d.created_at, d.id`

/** A step, with the caller's time if that judges. */
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
    { text: chooseText, params: [first!.asked ?? null] },
    { text: lockText },
    { text: jobText, params: [Replay.maxWaiting] },
    { text: endedText, params: [first!.limit] }
  ],
  read: ([, , jobs, ended], now) => {
    const [job] = jobs!
    const due = job === undefined ? undefined : {
      now,
      job: jobOf(job),
      isPresent: plain<boolean>(job, "is_present"),
      isWritten: plain<boolean>(job, "is_written"),
      waiting: plain<number>(job, "waiting"),
      ended: ended!.map(deliveryOf),
      // nothing waits for a delivery whose end is written
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
