/**
 * `OutboxStore` in PostgreSQL: combines the operations of this folder and adds the short statements. Hosts add entries
 * with the schema's SQL function `enqueue`.
 */
import { type OutboxEntry, OutboxStore, type Time } from "@wac/core"
import { Duration, Effect, Layer, Queue } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, columns, row } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { Hint } from "../Hint.ts"
import { Schema } from "../Schema.ts"
import { statement, value } from "../Statement.ts"
import { end } from "./EndEntries.ts"

/** The channel on which `enqueue` notifies. */
const channel = "wac:wac_outbox"

/** Serializes claims, so that no two claim entries of the same workspace. */
const lockText = "select pg_advisory_xact_lock(hashtext('wac:outbox'), 0)"

/**
 * The number of entries that a claim looks at, since the first ones may all belong to workspaces that other processes
 * work on.
 */
const looked = 2000

const claim = statement(
  { asked: Clocks.asked, token: value<string>(), limit: value<number>(), lease: value<number>() },
  ({ asked, lease, limit, token }) =>
    `with judged as materialized (select ${asked} as at), chosen as materialized (
    select f.message_id from (
      select o.message_id, o.workspace_id, o.place from wac.outbox o
      where o.moved_at is null and o.due_at <= ${asked} order by o.place limit ${looked}
    ) f
    where (
      select 1 from wac.outbox c
      where c.workspace_id = f.workspace_id and c.claim_token is not null and c.due_at > ${asked} limit 1
    ) is null
    order by f.place limit ${limit}::integer
  ), taken as (
    update wac.outbox o set claim_token = ${token}, due_at = j.at + ${lease}::bigint
    from judged j where o.message_id = any (array(select c.message_id from chosen c))
    returning o.*
  )
  select j.at, t.message_id, t.workspace_id, t.key, t.message, t.tries,
    floor(extract(epoch from t.send_at) * 1000)::double precision as send_at,
    floor(extract(epoch from t.send_until) * 1000)::double precision as send_until,
    floor(extract(epoch from t.enqueued_at) * 1000)::double precision as enqueued_at
  from judged j left join taken t on true order by t.place`
)

const entry = columns<OutboxEntry.OutboxEntry>({
  messageId: "text",
  workspaceId: "text",
  key: "text",
  message: "json",
  sendAt: "double precision",
  sendUntil: "double precision",
  enqueuedAt: "double precision",
  tries: "integer"
})

const oldestWaiting = statement(
  {},
  () =>
    `select floor(extract(epoch from o.enqueued_at) * 1000)::double precision as enqueued_at
  from wac.outbox o where o.moved_at is null order by o.place limit 1`
)

const waiting = entry.pick("enqueuedAt")

const judged = row({ at: bigint() })

/** The maximum number of entries deleted in one statement. */
const atOnce = 500

const forget = statement({ before: value<Time.Instant>() }, ({ before }) =>
  `with gone as (
    delete from wac.outbox o where o.ctid = any (array(
      select o.ctid from wac.outbox o
      where o.moved_at < ${before}
        and (select m.id from wac.messages m where m.id = o.message_id and m.key is not null) is null
      order by o.moved_at limit ${atOnce} for update skip locked
    ))
    returning 1
  )
  select ${Forgotten.columns(atOnce)} from gone`)

const make = (isReachable: boolean) =>
  Layer.effect(
    OutboxStore.OutboxStore,
    Effect.gen(function*() {
      const { listen, planned, query, stepped } = yield* Database
      const callerNow = yield* callerClock
      const { quoted } = yield* Schema
      const ending = yield* stepped("OutboxStore.end", end)
      const hint = new Hint()
      if (isReachable) {
        const notifications = yield* listen(channel)
        yield* Effect.forkScoped(Effect.forever(Effect.map(Queue.take(notifications), hint.tell)))
      }

      return OutboxStore.OutboxStore.of({
        enqueueFunction: isReachable ? `${quoted}.enqueue` : null,
        claim: ({ limit, now, token }) =>
          Effect.map(
            Effect.andThen(
              Effect.sync(hint.claiming),
              planned("OutboxStore.claim", [
                { text: lockText },
                claim({ asked: callerNow(now), token, limit, lease: Duration.toMillis(OutboxStore.lease) })
              ])
            ),
            ([, rows]) => ({
              at: judged.read(rows![0]!).at,
              entries: rows!.flatMap((row) => row["message_id"] === null ? [] : [entry.read(row)])
            })
          ),
        end: ending,
        awaitHint: hint.wait,
        oldestWaitingAt: Effect.map(
          query("OutboxStore.oldestWaitingAt", oldestWaiting({})),
          ([row]) => row === undefined ? null : waiting.read(row).enqueuedAt
        ),
        forget: (before) =>
          Effect.map(planned("OutboxStore.forget", [forget({ before })]), ([rows]) => Forgotten.read(rows))
      })
    })
  )

/** The store on a server, where hosts' transactions can add to the outbox. */
export const layer = make(true)

/** The store in an embedded database, whose outbox no host's transaction can reach. */
export const layerEmbedded = make(false)
