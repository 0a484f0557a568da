/**
 * Records the attempts of a hand-written service in PostgreSQL, one row per attempt, so that the service could show
 * them to its customers. Attempts that end while an insert is in progress share the next insert, and so its commit.
 */
import pg from "pg"
import type { Attempted } from "./WebhookAttempt.ts"
import type { Job } from "./WebhookEvent.ts"

export const schema = `
create table attempts (
  id bigint generated always as identity primary key,
  event_id text not null,
  webhook integer not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status smallint
);
create index on attempts (event_id);
`

/** Counts the attempts that were answered with 200. */
export const delivered = "select count(*)::float8 as count from attempts where status = 200"

/** The maximum number of concurrent inserts. */
const inserting = 2

interface Waiting {
  readonly job: Job
  readonly attempted: Attempted
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Resolves once the attempt is durable. */
export type Log = (job: Job, attempted: Attempted) => Promise<void>

export const open = (databaseUrl: string): Log => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: inserting, idleTimeoutMillis: 0 })
  let waiting: Array<Waiting> = []
  let underWay = 0

  const insert = (rows: ReadonlyArray<Waiting>) =>
    pool.query({
      name: "attempts",
      text: `insert into attempts (event_id, webhook, started_at, duration_ms, status)
        select e, w, to_timestamp(s / 1000.0), d, c
        from unnest($1::text[], $2::integer[], $3::float8[], $4::integer[], $5::smallint[]) as u (e, w, s, d, c)`,
      values: [
        rows.map(({ job }) => job.eventId),
        rows.map(({ job }) => job.webhook),
        rows.map(({ attempted }) => attempted.startedAt),
        rows.map(({ attempted }) => attempted.durationMs),
        rows.map(({ attempted }) => attempted.status)
      ]
    })

  const next = (): void => {
    if (underWay >= inserting || waiting.length === 0) return
    const rows = waiting
    waiting = []
    underWay++
    insert(rows).then(
      () => rows.forEach(({ resolve }) => resolve()),
      (error: unknown) => rows.forEach(({ reject }) => reject(error))
    ).finally(() => {
      underWay--
      next()
    })
  }

  return (job, attempted) =>
    new Promise((resolve, reject) => {
      waiting.push({ job, attempted, resolve, reject })
      // attempts that end in the same turn of the event loop share the insert
      setImmediate(next)
    })
}
