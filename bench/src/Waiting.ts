/**
 * Inserts waiting deliveries with SQL, as a database has them after receivers were down for a while.
 */
import { Effect } from "effect"
import type { BenchFailed } from "./BenchFailed.ts"
import type { Database } from "./Database.ts"

/** The number of deliveries per statement. */
const chunk = 250_000

/**
 * The number of events, which the deliveries share. That is realistic enough, as each attempt reads its event by
 * itself.
 */
const events = 1000

/** Who owns the deliveries. Several owners take them in turn. */
export interface Owner {
  readonly workspaceId: string
  readonly webhookId: string
}

const id = (prefix: string, n: string): string => `'${prefix}_0' || lpad((${n})::text, 25, '0')`

const now = "extract(epoch from now())::bigint * 1000"

const hour = 3_600_000

interface Kind {
  /** The prefix that makes identifiers and order keys of this kind unique. */
  readonly mark: string
  readonly columns: string
}

/** Deliveries with five attempts, the last a while ago, due one after the other over the next four hours. */
const retry: Kind = {
  mark: "R",
  columns: `5, 5, ${now} - ${hour}, ${now} - ${hour} / 2, ${now} + n * (4.0 * ${hour} / $5)::numeric, ${now} - ${hour}`
}

/** New deliveries, one every few milliseconds of the last hour. */
const fresh: Kind = {
  mark: "H",
  columns: `0, 0, null, null, ${now} - ${hour} + (n * ${hour}::numeric / $5)::bigint, ` +
    `${now} - ${hour} + (n * ${hour}::numeric / $5)::bigint`
}

const fill = (
  database: Database,
  owners: ReadonlyArray<Owner>,
  count: number,
  { columns, mark }: Kind
): Effect.Effect<void, BenchFailed> =>
  Effect.gen(function*() {
    yield* database.query("set synchronous_commit = off")
    yield* database.query(
      `insert into wac.events (id, workspace_id, type, created_at, data)
      select ${id(`evt${mark}`, "n")}, $1, 'message.sent', ${now} - ${hour}, '{"status":"sent"}'
      from generate_series(1, ${events}) n`,
      [owners[0]!.workspaceId]
    )
    for (let first = 1; first <= count; first += chunk) {
      yield* database.query(
        `insert into wac.deliveries (id, workspace_id, webhook_id, event_id, event_type, envelope, order_key, sequence,
          status, attempt_count, round_attempts, first_attempt_at, last_attempt_at, next_attempt_at, created_at)
        select ${id(`dlv${mark}`, "n")}, o.workspace_id, o.webhook_id, ${id(`evt${mark}`, `n % ${events} + 1`)},
          'message.sent', 'combined', ${id(`msg${mark}`, "n")}, 1, 'pending', ${columns}
        from generate_series($3::bigint, $4::bigint) n
        join unnest($1::text[], $2::text[]) with ordinality as o (workspace_id, webhook_id, place)
          on o.place = n % cardinality($1::text[]) + 1
        cross join (select $5::numeric) as all_of_them`,
        [
          owners.map(({ workspaceId }) => workspaceId),
          owners.map(({ webhookId }) => webhookId),
          first,
          Math.min(count, first + chunk - 1),
          count
        ]
      )
    }
    yield* database.query("reset synchronous_commit")
    yield* database.tidy
  })

/** Inserts the given number of deliveries that wait for a retry. */
export const retries = (database: Database, owners: ReadonlyArray<Owner>, count: number) =>
  fill(database, owners, count, retry)

/** Inserts the given number of deliveries that were never attempted. */
export const untried = (database: Database, owner: Owner, count: number) => fill(database, [owner], count, fresh)
