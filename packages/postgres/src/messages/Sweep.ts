/**
 * Sweeps sends whose deadline has passed (core's `OutcomeStep.sweep`), and tidies tables. A sweep does not wait for
 * locks: it leaves rows that another transaction holds to that transaction or to the next sweep.
 */
import {
  type Id,
  KeyedMessage,
  type MessageStore,
  MessagingLimit,
  OutcomeStep,
  type SendBatch,
  type Time
} from "@wac/core"
import { Duration } from "effect"
import * as Clocks from "../Clocks.ts"
import { columns, result } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import type { Relation } from "../Schema.ts"
import { type Input, parameter, type Statement, statement, value } from "../Statement.ts"
import { keepSends } from "./KeepSends.ts"
import { send } from "./StoredSend.ts"

/** The number of deadline rows in one step. Each covers the sends of one batch of *accept*. */
const taken = 16

const silenceText = (timeouts: ReadonlyArray<string>): string =>
  KeyedMessage.silences.map(({ ofQueue, status }, i) =>
    `when m.status = '${status}'${ofQueue ? "" : " and m.campaign_id is null and m.send_at is null"} then ${
      timeouts[i]
    }::bigint`
  ).join(" ")

/**
 * An SQL expression for `KeyedMessage.deadlineOf`. It selects the candidates on which the core decides, and finds when
 * to look at the others again.
 */
export const deadline = (timeouts: ReadonlyArray<string>): string =>
  `coalesce(m.expires_at, m.lease_until, m.status_at + case ${silenceText(timeouts)} end)`

/** The parameters of {@link deadline}. */
export const timeouts: ReadonlyArray<number> = KeyedMessage.silences.map(({ after }) => Duration.toMillis(after))

/** {@link timeouts}, as an input. */
const silences: Input<typeof timeouts, ReadonlyArray<string>> = {
  size: timeouts.length,
  given: (first) => timeouts.map((_, i) => parameter(first + i)),
  encode: (timeouts) => timeouts
}

/** Joins the deadline of each message as `m`. */
const joinDeadline = (timeouts: ReadonlyArray<string>): string =>
  `cross join lateral (
      select ${deadline(timeouts)} as deadline
      from wac.messages m where m.id = x.message_id offset 0
    ) m`

/**
 * Takes due rows of deadlines. Messages are first read without a lock, which is safe because any change that makes a
 * deadline earlier adds another row.
 */
const take = statement(
  { at: value<Time.Instant | null>(), timeouts: silences },
  ({ at, timeouts }) =>
    `with taken as materialized (
    select o.* from wac.message_deadlines o where o.due_at <= ${Clocks.at(at)}
    order by o.due_at, o.workspace_id, o.id limit ${taken}
    for update skip locked
  ), looked_at as materialized (
    select t.id as entry, x.message_id, m.deadline
    from taken t
    cross join lateral unnest(t.message_ids) x (message_id)
    ${joinDeadline(timeouts)}
  ), due as materialized (
    select l.entry, l.message_id from looked_at l where l.deadline <= ${Clocks.at(at)}
    -- all of them: the planner expects few, and might otherwise read every message to see which are due
    limit (select sum(cardinality(t.message_ids)) from taken t)
  )
  select t.due_at, t.workspace_id, t.id::double precision as id, cardinality(t.message_ids) as messages, d.message_id,
    to_json(m.m) as send
  from taken t
  left join due d on d.entry = t.id
  left join lateral (select m from wac.messages m where m.id = d.message_id for update skip locked) m on true`
)

/** A row of `message_deadlines`. */
interface Entry {
  readonly dueAt: Time.Instant
  readonly workspaceId: Id.WorkspaceId
  readonly id: number
}

const entry = columns<Entry>({ dueAt: "bigint", workspaceId: "text", id: "bigint" })

/**
 * A row of {@link take}: a row of deadlines, with a due message if it has one; `send` is null if that message is
 * locked.
 */
const due = result<
  Entry & {
    readonly messages: number
    readonly messageId: Id.MessageId | null
    readonly send: KeyedMessage.KeyedMessage | null
  }
>({ dueAt: "bigint", workspaceId: "text", id: "bigint", messages: "integer", messageId: "text", send })

/** Messages with a later deadline move to new rows, grouped by about the same time. */
const awaitLater = statement({ entries: entry, timeouts: silences }, ({ entries, timeouts }) =>
  `with taken as (
    delete from wac.message_deadlines a using ${entries("g")}
    where a.due_at = g.due_at and a.workspace_id = g.workspace_id and a.id = g.id
    returning a.*
  )
  insert into wac.message_deadlines (workspace_id, due_at, message_ids)
  select a.workspace_id, min(a.deadline), array_agg(a.message_id)
  from (
    select t.id as entry, t.workspace_id, m.deadline, x.message_id
    from taken t
    cross join lateral unnest(t.message_ids) x (message_id)
    ${joinDeadline(timeouts)}
    where m.deadline is not null
  ) a
  group by a.entry, a.workspace_id, a.deadline / 1000`)

interface Loaded extends OutcomeStep.LoadedSweep {
  readonly entries: ReadonlyArray<Entry>
  /**
   * Whether some message of the taken rows was not locked by another transaction. Otherwise the next step would find
   * the same rows again.
   */
  readonly hasProgressed: boolean
}

interface Writes extends SendBatch.Writes {
  readonly entries: ReadonlyArray<Entry>
}

/** The result of one step of a sweep. */
export interface Swept extends MessageStore.SweepResult {
  /** Whether there may be more to do. */
  readonly more: boolean
}

interface Command extends OutcomeStep.Sweep {
  /** The time in tests that control it; `undefined` for the database's time. */
  readonly at: Time.Instant | undefined
}

/** `MessageStore.sweep`, step by step. */
export const sweep: StepOptions<Command, Loaded, Swept, Writes> = {
  size: 1,
  load: ([command]) => [take({ at: command!.at ?? null, timeouts })],
  read: ([rows], now) => {
    const entries = new Map<number, Entry & { readonly messages: number }>()
    const candidates: Array<KeyedMessage.KeyedMessage> = []
    let busy = 0
    for (const row of rows!) {
      const { messageId, send, ...entry } = due.read(row)
      entries.set(entry.id, entry)
      if (messageId === null) continue
      if (send === null) busy++
      else candidates.push(send)
    }
    const all = [...entries.values()]
    const messages = all.reduce((sum, { messages }) => sum + messages, 0)
    return { now, candidates, entries: all, hasProgressed: messages > busy }
  },
  decide: (loaded, commands) => {
    const { answers, writes } = OutcomeStep.sweep(loaded, commands)
    return {
      answers: answers.map((swept) => ({ ...swept, more: loaded.hasProgressed })),
      writes: { ...writes, entries: loaded.entries }
    }
  },
  write: ({ entries, ...writes }): ReadonlyArray<Statement> =>
    entries.length === 0 ? [] : [
      ...keepSends(writes),
      awaitLater({ entries, timeouts })
    ]
}

/** The maximum number of rows deleted at once, so that no other transaction waits long. */
export const tidied = 1000

/** How long full buckets are kept. A missing bucket counts as full, but the clocks of processes may differ. */
const fullFor = Duration.toMillis(Duration.minutes(1))

const tidyText = (table: Relation, isDone: string, at: string): string =>
  `with gone as (
    delete from ${table} g where g.ctid = any (array(
      select o.ctid from ${table} o where ${isDone} order by ${at} limit ${tidied} for update skip locked
    ))
    returning 1
  )
  select count(*)::integer as tidied from gone`

/** When neither a rate limit nor the frequency cap needs the bucket any more, as in the index `buckets_done`. */
const doneAt = "greatest(o.full_at, o.marketing_until)"

const tidyBuckets = statement(
  { asked: Clocks.asked, fullFor: value<number>() },
  ({ asked, fullFor }) =>
    tidyText("wac.buckets", `${doneAt} <= ${asked} - ${fullFor}::bigint and o.counted_at is null`, doneAt)
)

/** The maximum number of phone numbers whose customers are looked at in one step. */
export const numbersAtOnce = 100

/**
 * Lets go of customers who no longer count against the messaging limits of some numbers, the next ones after `after`,
 * so that their buckets can be deleted. The numbers are found by skipping from one to the next in the index
 * `buckets_counted`. The lock of a workspace guards what *accept* has counted, as everything that its sends spend.
 */
const uncount = statement({
  after: value<string>(),
  asked: Clocks.asked,
  period: value<number>()
}, ({ after, asked, period }) => {
  const lapsed = `${asked} - ${period}::bigint`
  const next = (after: string) =>
    `select b.phone_number_id, b.counted_at from wac.buckets b
      where b.counted_at is not null and b.phone_number_id > ${after} order by b.phone_number_id, b.counted_at limit 1`
  return `with recursive numbers as (
    (${next(after)})
    union all
    select n.* from numbers p cross join lateral (${next("p.phone_number_id")}) n
  ), looked_at as materialized (
    select n.* from numbers n limit ${numbersAtOnce}
  ), owned as materialized (
    select p.id, p.workspace_id from wac.phone_numbers p
    where p.id = any (array(select l.phone_number_id from looked_at l where l.counted_at <= ${lapsed}))
  ), locked as materialized (
    select w.id from wac.workspaces w where w.id = any (array(select p.workspace_id from owned p))
    order by w.id for no key update skip locked
  ), taken as materialized (
    select b.key from owned p cross join lateral (
      select b.key from wac.buckets b where b.phone_number_id = p.id and b.counted_at <= ${lapsed}
      order by b.counted_at limit ${tidied} for update skip locked
    ) b
    where p.workspace_id = any (array(select w.id from locked w))
    limit ${tidied}
  ), gone as (
    update wac.buckets b set counted_at = null where b.key = any (array(select t.key from taken t))
    returning b.phone_number_id
  ), counted as (
    update wac.phone_numbers p set customers_counted = p.customers_counted - g.customers
    from (select g.phone_number_id, count(*)::integer as customers from gone g group by g.phone_number_id) g
    where p.id = g.phone_number_id
  )
  select (select count(*)::integer from gone) as tidied, (
    select case when count(*) = ${numbersAtOnce} then max(l.phone_number_id) end from looked_at l
  ) as reached`
})

/**
 * The statement that lets go of customers who no longer count. It returns how many, and the number after which the next
 * step begins, if there are more numbers.
 */
export const forgetCounted = (asked: Time.Instant | undefined, after: string): Statement =>
  uncount({ after, asked, period: Duration.toMillis(MessagingLimit.period) })

/** Forgets customers' messages that are too old to be reported again (`InboundMessage.rememberedUntil`). */
const tidyInbound = statement(
  { asked: Clocks.asked },
  ({ asked }) => tidyText("wac.inbound_messages", `o.expires_at <= ${asked}`, "o.expires_at")
)

/**
 * The statements that delete rows without effect: full buckets, and old records of customers' messages. Each returns
 * the number of rows deleted.
 */
export const tidy = (asked: Time.Instant | undefined): ReadonlyArray<Statement> => [
  tidyBuckets({ asked, fullFor }),
  tidyInbound({ asked })
]
