/**
 * Claims due deliveries.
 *
 * The cost depends only on the webhooks whose turn it is. A webhook is considered when its `ready_at` has come, or when
 * a delivery of it has appeared since the claimer's last look (`seen` is what was settled then). So a transaction that
 * records a delivery neither writes nor waits for anything else. `ready_at` is never later than the time at which
 * something can be claimed, except for what has just appeared: a transaction that makes something due earlier lowers
 * it, and a claim raises it.
 *
 * Claims of all processes are serialized, so their count of attempts in flight is exact; attempts that end or are
 * released meanwhile are seen by the next claim. A claim waits for no row: if a completion holds a webhook's health,
 * `ready_at` stays, and the claimer looks at that webhook again.
 *
 * It must choose by indexes, so it states in SQL what core decides by `Delivery.endsRound`, `line`, `dueAt` and
 * `place`, and by `AttemptSlots.freeSlots`, `drainSlots` and `nextDrainAt`. The suite `DeliveryStoreModelSuite` compares it with these
 * functions. Numbers of rules are parameters, constants of core, or columns derived by the rules (`webhook_health`).
 */
import { AttemptSlots, Delivery, type DeliveryStore, type Id, RetrySchedule, type Time, Webhook } from "@wac/core"
import { Duration } from "effect"
import * as Clocks from "../Clocks.ts"
import { bigint, boolean, list, result, row, texts } from "../Columns.ts"
import { settled } from "../events/EventPositions.ts"
import { event } from "../events/StoredEvent.ts"
import { lockOffset } from "../Schema.ts"
import { givenOf, type Rows, type Statement, statement, value } from "../Statement.ts"
import { delivery } from "./StoredDelivery.ts"
import { secret, secretsText } from "./StoredWebhook.ts"

/**
 * Serializes claims, and sets the planner's settings. Committing asynchronously is safe: if a server crash loses a
 * claim, its attempt is made again.
 */
const lockText = `select set_config('synchronous_commit', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('enable_sort', 'off', true), set_config('enable_memoize', 'off', true), 
  pg_advisory_xact_lock(7305148210 + ${lockOffset})`

/** The time and the settled position of the claim, read after earlier claims. */
const look = statement(
  { asked: value<Time.Instant | null>() },
  ({ asked }) =>
    `select set_config('wac_step.now', ${Clocks.at(asked)}::text, true),
  set_config('wac_step.settled', ${settled}::text, true)`
)

/** The parameters of a claim. */
const inputs = {
  /** The last state that the claimer saw; null if it must look at everything. */
  seen: value<number | null>(),
  /** Webhooks to look at again. */
  again: list<Id.WebhookId>("text"),
  /** The maximum for webhooks of each standing. */
  mostHealthy: value<number>(),
  mostDoubtful: value<number>(),
  /** The lease's length in milliseconds. */
  lease: value<number>(),
  /** The claimer's token. */
  token: value<string>(),
  /** The maximum number of concurrent attempts of a webhook's backlog, and the gap between them in milliseconds. */
  draining: value<number>(),
  drainGap: value<number>()
}

const given = givenOf(inputs)

const now = "(select current_setting('wac_step.now')::bigint)"
const until = "(select current_setting('wac_step.settled')::bigint)"

/** A subquery for the due time of a webhook's first delivery that is untried in its round. */
const firstUntried = (condition: string): string =>
  `(
          select d.next_attempt_at from wac.deliveries d
          where d.webhook_id = h.webhook_id
            and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0 and ${condition}
          order by d.next_attempt_at limit 1
        )`

/** A subquery for the webhooks of a standing whose turn has come. */
const inLine = (isDoubtful: boolean, most: string): string =>
  `(
      select h.webhook_id, h.changes, h.ready_at, h.doubtful, h.ready_at as at from wac.webhook_health h
      where ${isDoubtful ? "" : "not "}h.doubtful and h.ready_at <= ${now} order by h.ready_at limit ${most}
    )`

const lastInLine = (isDoubtful: boolean): string =>
  `(
        select h.ready_at from wac.webhook_health h where ${isDoubtful ? "" : "not "}h.doubtful and h.ready_at <= ${now}
        order by h.ready_at desc limit 1
      )`

/** The latest beginning of a round that is over (`RetrySchedule.lastAt`). */
const lastBegan = `${now} - ${Duration.toMillis(RetrySchedule.duration)}`

/** The numbers of a webhook's queues, in the order in which a failing webhook takes from them; first what ends a round. */
const queue = {
  last: -1,
  fresh: Delivery.lines.indexOf("fresh"),
  backlog: Delivery.lines.indexOf("backlog"),
  retry: Delivery.lines.indexOf("retry")
}

/** The condition of a webhook's pending deliveries that have a due time and are not claimed. */
const due =
  "d.webhook_id = o.webhook_id and d.id <> all (o.claimed) and d.status = 'pending' and d.next_attempt_at is not null"

/**
 * The condition that excludes deliveries that a resume skipped. The addition keeps the planner from using an index on
 * positions.
 */
const notSkipped = "d.position + 0 > o.skipped_until"

/**
 * The webhooks that join the line because deliveries appeared since the last look. All webhooks are considered by a
 * claimer that has never looked, and when more may have appeared than there are webhooks.
 */
const lineText = `look as materialized (
    select case
      when ${until} - ${given.seen}::bigint > 1000 + 4 * (
        select c.reltuples from pg_catalog.pg_class c where c.oid = 'wac.webhook_health'::regclass
      ) then null
      else ${given.seen}::bigint
    end as seen
  ), arrived as (
    select d.webhook_id, d.next_attempt_at as at from wac.deliveries d
    where d.position > (select l.seen from look l)
      and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts = 0
    union all
    select h.webhook_id, heads.at
    from wac.webhook_health h join wac.webhooks w on w.id = h.webhook_id cross join lateral (
      select least(
        ${firstUntried("d.trigger <> 'replay'")},
        ${firstUntried("d.trigger = 'replay'")},
        (
          select least(d.next_attempt_at, h.recovered_at) from wac.deliveries d
          where d.webhook_id = h.webhook_id and d.resumed_at = coalesce(w.resumed_at, 0)
            and d.status = 'pending' and d.next_attempt_at is not null and d.round_attempts > 0
          order by d.next_attempt_at limit 1
        ),
        (
          select d.last_attempt_at from wac.deliveries d
          where d.webhook_id = h.webhook_id and d.resumed_at < w.resumed_at
            and d.status = 'pending' and d.round_attempts > 0
          limit 1
        )
      ) as at
    ) heads
    where (select l.seen from look l) is null and heads.at is not null
  ), placed as materialized (
    ${inLine(false, `${given.mostHealthy}::bigint`)}
    union all
    ${inLine(true, `${given.mostDoubtful}::bigint`)}
    union all
    -- A webhook that joins the line goes next after its head, not last: the others have had turns while it had nothing.
    select k.webhook_id, h.changes, h.ready_at, h.doubtful,
      case when e.at <= ${now}
        then least(e.at, 1 + (
          select o.ready_at from wac.webhook_health o where o.doubtful = h.doubtful and o.ready_at <= ${now}
          order by o.ready_at limit 1
        ))
        else e.at
      end
    from (
      select k.webhook_id, min(k.at) as at from (
        select a.webhook_id, a.at from arrived a
        union all
        select one, ${now} from unnest(${given.again}) as one
      ) k
      group by k.webhook_id
    ) k
    cross join lateral (
      select h.changes, h.ready_at, h.doubtful from wac.webhook_health h
      where h.webhook_id = k.webhook_id and coalesce(h.ready_at > ${now}, true) offset 0
    ) h
    cross join lateral (select w.paused_at from wac.webhooks w where w.id = k.webhook_id offset 0) w
    cross join lateral (select case when w.paused_at is null then least(h.ready_at, k.at) else ${now} end as at) e
    -- a webhook that was paused meanwhile leaves the line
    where w.paused_at is null or h.ready_at is not null
  ), line as materialized (
    select
      coalesce(
        (array_agg(p.webhook_id order by p.at, p.webhook_id) filter (where p.at <= ${now} and not p.doubtful))[:${given.mostHealthy}],
        '{}'
      ) as healthy,
      coalesce(
        (array_agg(p.webhook_id order by p.at, p.webhook_id) filter (where p.at <= ${now} and p.doubtful))[:${given.mostDoubtful}],
        '{}'
      ) as doubtful,
      greatest(max(p.at) filter (where p.at <= ${now}), ${lastInLine(false)}, ${lastInLine(true)}) as line_end
    from placed p
  )`

/**
 * Claims deliveries of the webhooks of one turn, and finds the webhooks' next places in line. `t` is the turn, with the
 * numbers that are left to claim; `l.lapsed` are deliveries whose claim's lease has ended.
 */
const turnText = `with chosen as (
      select g.place, h.webhook_id, h.changes, h.ready_at, h.slots_taken, h.recovered_at, coalesce(h.last_success_at, 0) as unheard_from,
        h.doubtful, w.paused_at is not null as paused, w.resumed_at, coalesce(w.resumed_at, 0) as fresh_from, w.skipped_until,
        coalesce(w.replayed_from, 0) as replayed_from, coalesce(n.next_at, 0) as drain_at,
        h.opens_at is not null as failing, h.opens_at as gap_end, h.slots as capacity,
        -- a fair share, so that a long queue is not scanned for the few that can be taken from it
        ceil(
          case when h.doubtful then t.left_doubtful else t.left_healthy end::numeric
            / count(*) over (partition by h.doubtful)
        ) + 1 as share,
        f.claimed, f.in_flight, f.draining, f.first_end, f.last_end
      from unnest(c.turn) with ordinality as g (webhook_id, place)
      cross join lateral (select h.* from wac.webhook_health h where h.webhook_id = g.webhook_id offset 0) h
      cross join lateral (select w.* from wac.webhooks w where w.id = g.webhook_id offset 0) w
      left join lateral (select n.next_at from wac.webhook_drains n where n.webhook_id = g.webhook_id offset 0) n on true
      cross join lateral (
        select coalesce(array_agg(k.delivery_id), '{}') as claimed,
          count(*) filter (where k.lease_until > ${now}) as in_flight,
          count(*) filter (where k.lease_until > ${now} and k.backlog) as draining,
          min(k.lease_until) as first_end,
          max(k.lease_until) as last_end
        from wac.delivery_claims k
        where k.webhook_id = h.webhook_id and k.delivery_id <> all (l.lapsed)
      ) f
    ), open as (
      select c.*, f.slots,
        case when c.drain_at <= ${now} then greatest(least(f.slots, ${given.draining}::integer - c.draining), 0) else 0 end
          as drain_slots
      from chosen c cross join lateral (
        select case
          when c.paused or c.gap_end > ${now} then 0
          else greatest(least(c.capacity - c.in_flight, c.share), 0)
        end as slots
      ) f
    ), candidates as (
      -- Of each queue the first that fit, and one more, which says when there is something to do again. Nothing is
      -- sorted that an index already orders: while few deliveries are pending, every index seems as good, and an index
      -- over all webhooks would be scanned for each.
      select o.*, d.id, d.workspace_id, d.line, d.due_at, d.due_at <= ${now} and d.allowed as may,
        row_number() over (
          partition by o.webhook_id
          order by d.due_at <= ${now} and d.allowed desc, case when o.failing then d.line end, d.waits_since, d.id
        ) as turn
      from open o left join lateral (
        (
          select d.id, d.workspace_id, ${queue.fresh} as line, d.next_attempt_at as due_at,
            d.next_attempt_at as waits_since, true as allowed
          from wac.deliveries d
          where ${due} and d.round_attempts = 0 and d.trigger <> 'replay' and d.next_attempt_at >= o.fresh_from
            and ${notSkipped}
          order by d.next_attempt_at limit o.slots + 1
        )
        union all
        (
          select b.id, b.workspace_id, ${queue.backlog}, b.due_at, b.waits_since,
            row_number() over (order by b.waits_since, b.id) <= o.drain_slots
          from (
            (
              select d.id, d.workspace_id, d.next_attempt_at as due_at, d.next_attempt_at as waits_since
              from wac.deliveries d
              where ${due} and d.round_attempts = 0 and d.trigger <> 'replay'
                and d.next_attempt_at >= o.replayed_from and d.next_attempt_at < o.resumed_at and ${notSkipped}
              order by d.next_attempt_at limit o.drain_slots + 1
            )
            union all
            (
              select d.id, d.workspace_id, d.last_attempt_at, d.first_attempt_at
              from wac.deliveries d
              where ${due} and d.round_attempts > 0 and d.resumed_at < o.resumed_at
                and d.first_attempt_at >= o.replayed_from and ${notSkipped}
              order by d.resumed_at, d.first_attempt_at limit o.drain_slots + 1
            )
            union all
            (
              select d.id, d.workspace_id, d.next_attempt_at, d.next_attempt_at
              from wac.deliveries d
              where ${due} and d.round_attempts = 0 and d.trigger = 'replay' and ${notSkipped}
              order by d.next_attempt_at limit o.drain_slots + 1
            )
          ) b
        )
        union all
        (
          select distinct r.id, r.workspace_id, case when l.is_last then ${queue.last} else ${queue.retry} end, r.due_at,
            case when l.is_last then r.first_attempt_at else r.due_at end, true
          from (
            (
              select d.id, d.workspace_id, d.first_attempt_at,
                case when d.last_attempt_at < o.recovered_at then least(d.next_attempt_at, o.recovered_at)
                  else d.next_attempt_at
                end as due_at
              from wac.deliveries d
              where ${due} and d.round_attempts > 0 and d.resumed_at = o.fresh_from
              order by d.next_attempt_at limit o.slots + 1
            )
            union all
            -- those that its recovery brings forward
            (
              select d.id, d.workspace_id, d.first_attempt_at, least(d.next_attempt_at, o.recovered_at)
              from wac.deliveries d
              where ${due} and d.round_attempts > 0 and d.resumed_at = o.fresh_from
                and d.last_attempt_at >= o.fresh_from and d.last_attempt_at < o.recovered_at
              order by d.last_attempt_at limit o.slots + 1
            )
            union all
            -- those whose failure pauses it
            (
              select d.id, d.workspace_id, d.first_attempt_at, d.next_attempt_at from wac.deliveries d
              where o.failing and ${due} and d.round_attempts > 0 and d.resumed_at = o.fresh_from
                and d.first_attempt_at > o.unheard_from and d.first_attempt_at <= ${lastBegan}
              order by d.first_attempt_at limit o.slots + 1
            )
          ) r
          cross join lateral (
            select o.failing and r.first_attempt_at > o.unheard_from and r.first_attempt_at <= ${lastBegan} as is_last
          ) l
        )
      ) d on not o.paused
    ), ranked as materialized (
      select c.*, e.eligible and row_number() over (partition by e.eligible, c.doubtful order by c.turn, c.place)
        <= case when c.doubtful then t.left_doubtful else t.left_healthy end as taken
      from candidates c
      cross join lateral (select coalesce(c.turn <= c.slots and c.may, false) as eligible) e
    ), served as materialized (
      select r.webhook_id, r.changes, r.ready_at, r.slots_taken, r.paused, r.failing, r.gap_end, r.capacity,
        r.in_flight + count(*) filter (where r.taken) as in_flight,
        r.draining + count(*) filter (where r.taken and r.line = ${queue.backlog}) as draining,
        least(r.first_end, max(${now} + ${given.lease}::bigint) filter (where r.taken)) as first_end,
        greatest(r.last_end, max(${now} + ${given.lease}::bigint) filter (where r.taken)) as last_end,
        min(r.due_at) filter (where not r.taken and r.line <> ${queue.backlog}) as head,
        min(r.due_at) filter (where not r.taken and r.line = ${queue.backlog}) as backlog_head,
        count(*) filter (where r.taken and r.line = ${queue.backlog}) as drained,
        greatest(r.drain_at, ${now})
          + ${given.drainGap}::bigint * count(*) filter (where r.taken and r.line = ${queue.backlog}) as drain_at
      from ranked r
      group by r.webhook_id, r.changes, r.ready_at, r.slots_taken, r.paused, r.failing, r.gap_end, r.capacity,
        r.in_flight, r.draining, r.first_end, r.last_end, r.drain_at
    ), ready as (
      select s.webhook_id, s.changes, s.ready_at as was, s.slots_taken as were_taken,
        not s.paused and not s.failing
          and (s.in_flight >= s.capacity or s.draining >= ${given.draining} and s.backlog_head is not null) as taken,
        case when not s.paused and coalesce(s.head, s.backlog_head, s.first_end) is not null then
          greatest(
            -- last in line; not by the clock, since another claimer's clock may be behind
            least(t.line_end + 1, ${now}),
            -- when a slot is free; a failing webhook has one (\`AttemptSlots.slots\`)
            case
              when s.failing then greatest(s.gap_end, case when s.in_flight > 0 then s.last_end end)
              when s.in_flight >= s.capacity then s.first_end
            end,
            least(
              s.head,
              case when s.draining < ${given.draining}
                then greatest(s.backlog_head, case when s.backlog_head is not null then s.drain_at end)
              end,
              s.first_end
            )
          )
        end as at
      from served s
    ), places as (
      select array_agg(r.webhook_id) as place_ids, array_agg(r.changes) as place_changes, array_agg(r.at) as place_ats,
        array_agg(r.taken) as place_taken
      from ready r
      -- a place that is too early, but not in the past, is corrected when it comes: it is not worth a write
      where r.taken <> r.were_taken
        or (r.was is distinct from r.at and not coalesce(r.was > ${now} and r.was <= r.at, false))
    ), claims as (
      select array_agg(r.id order by r.turn, r.place) as ids,
        array_agg(r.workspace_id order by r.turn, r.place) as workspaces,
        array_agg(r.webhook_id order by r.turn, r.place) as webhooks,
        array_agg(r.doubtful order by r.turn, r.place) as are_doubtful,
        array_agg(r.line = ${queue.backlog} order by r.turn, r.place) as are_backlog,
        array_agg(r.id = any (l.lapsed) order by r.turn, r.place) as are_lapsed,
        count(*) filter (where not r.doubtful) as healthy,
        count(*) filter (where r.doubtful) as doubtful
      from ranked r where r.taken
    ), drained as (
      select array_agg(s.webhook_id) as drain_ids, array_agg(s.drain_at) as drain_ats from served s where s.drained > 0
    )
    select k.*, p.*, n.* from claims k, places p, drained n`

/**
 * Gives webhooks turns while slots are free; each turn has twice as many webhooks as the one before. Considering a
 * webhook costs as much as ten deliveries, so the first turn has so few webhooks that each can take about eight
 * deliveries.
 */
const turnsText = `turns as (
    select 0 as n, l.healthy, l.doubtful, l.line_end, ${given.mostHealthy}::bigint as left_healthy, ${given.mostDoubtful}::bigint as left_doubtful,
      greatest(ceil(greatest(${given.mostHealthy}, ${given.mostDoubtful}) / 8.0), 8)::integer as size, '{}'::text[] as turn,
      null::text[] as ids, null::text[] as workspaces, null::text[] as webhooks, null::boolean[] as are_doubtful,
      null::boolean[] as are_backlog, null::boolean[] as are_lapsed,
      null::text[] as place_ids, null::bigint[] as place_changes, null::bigint[] as place_ats,
      null::boolean[] as place_taken, null::text[] as drain_ids, null::bigint[] as drain_ats
    from line l
    union all
    select t.n + 1, t.healthy[t.size + 1:], t.doubtful[t.size + 1:], t.line_end, t.left_healthy - r.healthy,
      t.left_doubtful - r.doubtful, t.size * 2, c.turn, r.ids, r.workspaces, r.webhooks, r.are_doubtful, r.are_backlog,
      r.are_lapsed, r.place_ids, r.place_changes, r.place_ats, r.place_taken, r.drain_ids, r.drain_ats
    from turns t
    cross join lateral (
      select case when t.left_healthy > 0 then t.healthy[:t.size] else '{}' end
        || case when t.left_doubtful > 0 then t.doubtful[:t.size] else '{}' end as turn
    ) c
    -- claims whose lease has ended and which no transaction is just ending late
    cross join lateral (
      select coalesce(array_agg(k.delivery_id), '{}') as lapsed from (
        select k.delivery_id from wac.delivery_claims k
        where k.webhook_id = any (c.turn) and k.lease_until <= ${now}
        for update skip locked
      ) k
    ) l
    cross join lateral (
    ${turnText}
    ) r
    where c.turn <> '{}'
  )`

/** The columns of a claimed delivery, whose status is known: it is pending. */
const open = delivery.omit("status", "completedAt")

/** The columns of the delivery's event. */
const own = event.pick("createdAt", "orderKey", "sequence", "data", "trace")

/** How the delivery was found: whether its webhook is doubtful, and whether it is of the backlog. */
const found = row({ doubtful: boolean(), backlog: boolean() })

const claim = statement(inputs, () =>
  `with recursive ${lineText}, ${turnsText}, claimed as materialized (
    select t.n, c.*
    from turns t
    cross join lateral unnest(t.ids, t.workspaces, t.webhooks, t.are_doubtful, t.are_backlog, t.are_lapsed)
      with ordinality as c (delivery_id, workspace_id, webhook_id, doubtful, backlog, lapsed, place)
  ), taken as (
    insert into wac.delivery_claims (webhook_id, delivery_id, workspace_id, token, lease_until, backlog)
    select c.webhook_id, c.delivery_id, c.workspace_id, ${given.token}, ${now} + ${given.lease}, c.backlog from claimed c where not c.lapsed
  ), retaken as (
    -- separate, because it is rare: an insert that checks for conflicts costs half as much again
    update wac.delivery_claims k set token = ${given.token}, lease_until = ${now} + ${given.lease}, backlog = c.backlog
    from claimed c
    where c.lapsed and k.webhook_id = c.webhook_id and k.delivery_id = c.delivery_id
  ), drains as (
    insert into wac.webhook_drains as n (webhook_id, next_at)
    select d.webhook_id, d.next_at from turns t cross join lateral unnest(t.drain_ids, t.drain_ats) d (webhook_id, next_at)
    on conflict (webhook_id) do update set next_at = excluded.next_at
  ), wanted as materialized (
    select p.* from turns t
    cross join lateral unnest(t.place_ids, t.place_changes, t.place_ats, t.place_taken)
      p (webhook_id, changes, at, taken)
    union all
    -- slots_taken stays as it is if a place is only marked
    select p.webhook_id, p.changes, p.at, null from placed p
    where (p.ready_at is null or p.ready_at > p.at)
      and p.webhook_id not in (select unnest(t.turn) from turns t)
  ), free as (
    select h.webhook_id, w.at, coalesce(w.taken, h.slots_taken) as taken
    from wanted w join wac.webhook_health h on h.webhook_id = w.webhook_id
    where h.changes = w.changes
    for no key update of h skip locked
  ), done as (
    update wac.webhook_health h set ready_at = f.at, slots_taken = f.taken from free f where h.webhook_id = f.webhook_id
    returning h.webhook_id
  )
  select
    (
      select coalesce(
        json_agg(
          -- by position: names would be half of what is written and read
          json_build_array(
            ${open.array.text("d")}, ${own.array.text("e")}, ${found.array.text("c")}
          ) order by c.n, c.place
        ),
        '[]'
      )
      from claimed c
      cross join lateral (
        select d.* from wac.deliveries d where d.workspace_id = c.workspace_id and d.id = c.delivery_id offset 0
      ) d
      cross join lateral (select e.* from wac.events e where e.id = d.event_id offset 0) e
    ) as deliveries,
    (
      select coalesce(
        json_agg(json_build_object('id', w.id, 'url', w.url, 'secrets', (${secretsText}))),
        '[]'
      )
      from (select distinct c.webhook_id from claimed c) c
      cross join lateral (select w.id, w.url from wac.webhooks w where w.id = c.webhook_id offset 0) w
    ) as webhooks,
    set_config(
      'wac_step.again',
      array(select w.webhook_id from wanted w where w.webhook_id not in (select d.webhook_id from done d))::text,
      true
    ) as again`)

const again = "current_setting('wac_step.again')::text[]"

const nextInLine = (isDoubtful: boolean, most: string): string =>
  `(
      select h.ready_at from wac.webhook_health h
      where ${most}::bigint > 0 and ${isDoubtful ? "" : "not "}h.doubtful and h.ready_at is not null
        and h.webhook_id <> all (${again})
      order by h.ready_at limit 1
    )`

/**
 * Reads what is left after the claim, and when to claim next. If webhooks are to be looked at again, that is after ten
 * milliseconds, by when the completion that holds their row will be done.
 */
const leave = statement(
  { mostHealthy: value<number>(), mostDoubtful: value<number>() },
  ({ mostDoubtful, mostHealthy }) =>
    `select ${now} as at, ${until} as seen, ${again} as again,
    least(
      ${nextInLine(false, mostHealthy)},
      ${nextInLine(true, mostDoubtful)},
      case when ${again} <> '{}' then ${now} + 10 end
    ) as next_due_at,
    exists (select from wac.deliveries d where d.status = 'testing') as has_tests`
)

/** The state that a claimer keeps from its last claim. */
export interface Looked {
  /** The state that it saw; `null` if it must look at everything. */
  readonly seen: number | null
  /** Webhooks to look at again, besides those whose turn it is. */
  readonly again: ReadonlyArray<Id.WebhookId>
}

type Claim = Parameters<DeliveryStore.DeliveryStore["Service"]["claimDue"]>[0]

/** The statements that claim. */
export const claimDue = (
  { leaseUntil, limit, now, token }: Claim,
  asked: Time.Instant | undefined,
  { again, seen }: Looked
): ReadonlyArray<Statement> => {
  const most = { mostHealthy: Math.max(limit.healthy, 0), mostDoubtful: Math.max(limit.doubtful, 0) }
  return [
    { text: lockText },
    look({ asked: asked ?? null }),
    claim({
      ...most,
      seen,
      again,
      lease: leaseUntil - now,
      token,
      draining: AttemptSlots.maxDraining,
      drainGap: Duration.toMillis(AttemptSlots.drainGap)
    }),
    leave(most)
  ]
}

/** A claimed delivery in the result: the values of {@link open}, {@link own} and {@link found}. */
type ClaimedRow = readonly [open: ReadonlyArray<unknown>, own: ReadonlyArray<unknown>, found: ReadonlyArray<unknown>]

const sender = result<Pick<DeliveryStore.ClaimedDelivery, "url" | "secrets"> & { readonly id: Id.WebhookId }>({
  id: "text",
  url: "text",
  secrets: [secret]
})

/** The result of a claim. */
export interface Found extends Looked {
  readonly claimed: DeliveryStore.Claimed
  /** Whether there are tests, which a crashed process may have left. */
  readonly hasTests: boolean
}

const claimed = result<
  { readonly deliveries: ReadonlyArray<ClaimedRow>; readonly webhooks: ReadonlyArray<ReturnType<typeof sender.read>> }
>({ deliveries: "json", webhooks: [sender] })

const left = row({
  at: bigint(),
  seen: bigint(),
  again: texts<ReadonlyArray<Id.WebhookId>>(),
  nextDueAt: bigint<number | null>(),
  hasTests: boolean()
})

const claimedDelivery = (
  [openValues, ownValues, foundValues]: ClaimedRow,
  senders: ReadonlyMap<Id.WebhookId, Pick<DeliveryStore.ClaimedDelivery, "url" | "secrets">>,
  at: Time.Instant
): DeliveryStore.ClaimedDelivery => {
  const delivery = { ...open.array.read(openValues), status: "pending", completedAt: null } as const
  const { backlog, doubtful } = found.array.read(foundValues)
  return {
    delivery,
    event: {
      ...own.array.read(ownValues),
      id: delivery.eventId,
      workspaceId: delivery.workspaceId,
      type: delivery.eventType
    },
    ...senders.get(delivery.webhookId)!,
    standing: doubtful ? "doubtful" : "healthy",
    at,
    isBacklog: backlog
  }
}

/** Reads the results of {@link claimDue}. */
export const foundOf = ([, , claimRows, leftRows]: ReadonlyArray<Rows>): Found => {
  const { deliveries, webhooks } = claimed.read(claimRows![0]!)
  const { at, nextDueAt, ...others } = left.read(leftRows![0]!)
  const senders = new Map(
    webhooks.map(({ id, secrets, url }) =>
      [id, { url, secrets: secrets.filter((secret) => Webhook.isLive(secret, at)) }] as const
    )
  )
  return {
    ...others,
    claimed: { deliveries: deliveries.map((row) => claimedDelivery(row, senders, at)), at, nextDueAt }
  }
}
