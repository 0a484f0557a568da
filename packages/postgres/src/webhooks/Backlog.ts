/**
 * Reads the backlog of all workspaces. How long deliveries have waited, and how many webhooks have a long backlog, is
 * determined from the first thousand webhooks in line and the webhooks of the last thousand deliveries. The number of
 * waiting deliveries is exact up to a limit, and beyond it an estimate from the index's last analysis.
 */
import { DeliveryStore, type Time } from "@wac/core"
import * as Clocks from "../Clocks.ts"
import { json, row } from "../Columns.ts"
import { type Row, type Statement, statement, value } from "../Statement.ts"

const inLine = (isDoubtful: boolean, asked: string): string =>
  `(
        select h.webhook_id, h.recovered_at from wac.webhook_health h
        where ${isDoubtful ? "" : "not "}h.doubtful and h.ready_at <= ${asked}
        order by h.ready_at limit 500
      )`

const open = "d.webhook_id = h.webhook_id and d.status = 'pending'"
const untried = `${open} and d.next_attempt_at is not null and d.round_attempts = 0`

const countBacklog = statement(
  { asked: Clocks.asked, sizes: value<ReadonlyArray<number>>(), exactly: value<number>() },
  ({ asked, exactly, sizes }) =>
    `with counted as materialized (
    select count(*) as pending from (
      select from wac.deliveries d where d.status = 'pending' limit ${exactly}::integer + 1
    ) d
  ), waits as materialized (
    select min(greatest(d.at, w.resumed_at)) as since, (
      select count(*) from (
        select from wac.deliveries p
        where p.webhook_id = w.id and p.status = 'pending' and p.created_at >= coalesce(w.replayed_from, 0)
        limit (select max(size) from unnest(${sizes}::bigint[]) as size)
      ) p
    ) as waiting
    from (
      ${inLine(false, asked)}
      union all
      ${inLine(true, asked)}
      union
      -- recent deliveries may not be in line yet, as long as nothing claims
      select h.webhook_id, h.recovered_at
      from (
        select distinct d.webhook_id from (
          select d.webhook_id from wac.deliveries d
          where d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0
          order by d.position desc limit 1000
        ) d
      ) d join wac.webhook_health h on h.webhook_id = d.webhook_id
    ) h
    join wac.webhooks w on w.id = h.webhook_id and w.paused_at is null
    cross join lateral (
      (
        select d.next_attempt_at as at from wac.deliveries d
        where ${untried} and d.next_attempt_at >= coalesce(w.replayed_from, 0) and d.trigger <> 'replay'
        order by d.next_attempt_at limit 1
      )
      union all
      (
        select d.next_attempt_at from wac.deliveries d
        where ${untried} and d.trigger = 'replay'
        order by d.next_attempt_at limit 1
      )
      union all
      (
        select d.next_attempt_at from wac.deliveries d
        where ${open} and d.resumed_at = coalesce(w.resumed_at, 0)
          and d.next_attempt_at is not null and d.round_attempts > 0
        order by d.next_attempt_at limit 1
      )
      union all
      (
        select d.first_attempt_at from wac.deliveries d
        where ${open} and d.resumed_at < w.resumed_at
          and d.first_attempt_at >= coalesce(w.replayed_from, 0) and d.round_attempts > 0
        order by d.resumed_at, d.first_attempt_at limit 1
      )
    ) d
    where d.at <= ${asked}
    group by w.id
  )
  select json_build_object(
    'oldestDueAt', (select min(w.since) from waits w),
    'pausedWebhooks', (select count(*) from wac.webhooks w where w.paused_at is not null),
    'failingWebhooks', (
      select count(*) from wac.webhook_health h join wac.webhooks w on w.id = h.webhook_id
      where h.opens_at is not null and w.paused_at is null
    ),
    'pending', case when c.pending <= ${exactly} then c.pending else greatest(c.pending, (
      select c.reltuples::bigint from pg_catalog.pg_class c where c.oid = 'wac.deliveries_open'::regclass
    )) end,
    'webhooksByBacklog', (
      select json_agg((select count(*) from waits w where w.waiting >= s.size) order by s.place)
      from unnest(${sizes}) with ordinality as s (size, place)
    )
  ) as report
  from counted c`
)

/** The statements that count. */
export const backlog = (asked: Time.Instant | undefined): ReadonlyArray<Statement> => [
  countBacklog({ asked, sizes: DeliveryStore.backlogSizes, exactly: DeliveryStore.countedExactly })
]

const counted = row({ report: json<DeliveryStore.BacklogReport>() })

/** Reads the backlog from the result row. */
export const backlogOf = (row: Row): DeliveryStore.BacklogReport => counted.read(row).report
