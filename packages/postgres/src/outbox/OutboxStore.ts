/**
 * `OutboxStore` in PostgreSQL: combines the operations of this folder and adds the short statements. Hosts add entries
 * with the schema's SQL function `enqueue`.
 */
import { type Id, type OutboxEntry, OutboxStore, type StoreError, type Time } from "@wac/core"
import { Duration, Effect, Layer, Queue } from "effect"
import { callerClock } from "../CallerClock.ts"
import { result } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { Hint } from "../Hint.ts"
import { Schema } from "../Schema.ts"
import { statement, value } from "../Statement.ts"
import * as ClaimEntries from "./ClaimEntries.ts"
import { end } from "./EndEntries.ts"

/** The channel on which `enqueue` notifies. */
const channel = "wac:wac_outbox"

/** No field that lists show is longer (`OutboxEntry.unreadable`). */
const longest = 255

/** Entries that wait for another try wait on purpose. */
const oldestWaiting = statement(
  {},
  () =>
    `select floor(extract(epoch from o.enqueued_at) * 1000)::double precision as enqueued_at
  from wac.outbox o where o.moved_at is null and o.tries = 0 order by o.place limit 1`
)

const waiting = result<Pick<OutboxEntry.OutboxEntry, "enqueuedAt">>({ enqueuedAt: "double precision" })

/** The fields of a message that lists show, as far as they are texts of a possible length. */
const listedFields = `jsonb_strip_nulls(jsonb_build_object(${
  ["to", "from", "type", "client_reference"].map((field) =>
    `'${field}', case when jsonb_typeof(t.message -> '${field}') = 'string'
      and length(t.message ->> '${field}') <= ${longest} then t.message -> '${field}' end`
  ).join(", ")
}))`

/** Exported for the test of its cost. */
export const listed = statement(
  { workspaceId: value<Id.WorkspaceId>(), after: value<number>(), limit: value<number>() },
  ({ after, limit, workspaceId }) =>
    `select t.place, ${ClaimEntries.entryColumns(listedFields)}
  from wac.outbox t
  where t.workspace_id = ${workspaceId} and t.moved_at is null and t.place > ${after}
  order by t.place limit ${limit}`
)

const place = result<{ readonly place: number }>({ place: "bigint" })

/** Exported for the test of its cost. */
export const enqueuedUntil = statement(
  { workspaceId: value<Id.WorkspaceId>(), until: value<Time.Instant>() },
  ({ until, workspaceId }) =>
    `select count(*)::double precision as entries from wac.outbox o
  where o.workspace_id = ${workspaceId} and o.moved_at is null
    and floor(extract(epoch from o.enqueued_at) * 1000) <= ${until}::bigint`
)

const counted = result<{ readonly entries: number }>({ entries: "double precision" })

/** The maximum number of entries that one statement of `forget` looks at. */
const atOnce = 500

/**
 * How long until an entry whose key is still kept is looked at again. The key of a message that waits for its time is
 * kept until then, and many such entries must not delay the deletion of others.
 */
const later = Duration.days(1)

/** Exported for the test of its cost. */
export const forget = statement({ before: value<Time.Instant>() }, ({ before }) =>
  `with old as materialized (
    select o.ctid, (select m.id from wac.messages m where m.id = o.message_id and m.key is not null) is null as is_over
    from wac.outbox o where o.moved_at < ${before} order by o.moved_at limit ${atOnce} for update skip locked
  ), kept as (
    update wac.outbox o set moved_at = ${before}::bigint + ${Duration.toMillis(later)}
    where o.ctid = any (array(select f.ctid from old f where not f.is_over))
  ), gone as (
    delete from wac.outbox o where o.ctid = any (array(select f.ctid from old f where f.is_over))
    returning 1
  )
  select (select count(*) from gone)::integer as removed, (select count(*) from old) = ${atOnce} as is_more`)

const make = (isReachable: boolean) =>
  Layer.effect(
    OutboxStore.OutboxStore,
    Effect.gen(function*() {
      const { listen, planned, query, stepped } = yield* Database
      const callerNow = yield* callerClock
      const { quoted } = yield* Schema
      const ending = yield* stepped("OutboxStore.end", end)
      const hint = new Hint()
      let last = ""
      if (isReachable) {
        const notifications = yield* listen(channel)
        yield* Effect.forkScoped(Effect.forever(Effect.map(Queue.take(notifications), hint.tell)))
      }

      /** Claims after `last`; if none of the workspaces looked at is free, goes on until it has come round to `start`. */
      const claimFrom =
        (start: string) =>
        ({ limit, now, token }: OutboxStore.Claim): Effect.Effect<OutboxStore.Claimed, StoreError.StoreError> =>
          Effect.suspend(() => {
            const statements = ClaimEntries.claim({ asked: callerNow(now), token, limit, last, start })
            return Effect.flatMap(planned("OutboxStore.claim", statements), (rows) => {
              const { at, entries, isRound, last: reached } = ClaimEntries.read(rows)
              last = reached ?? last
              return entries.length > 0 || isRound
                ? Effect.succeed({ at, entries })
                : claimFrom(start)({ limit, now, token })
            })
          })

      return OutboxStore.OutboxStore.of({
        enqueueFunction: isReachable ? `${quoted}.enqueue` : null,
        claim: (command) =>
          Effect.suspend(() => {
            hint.claiming()
            return claimFrom(last)(command)
          }),
        end: ending,
        awaitHint: hint.wait,
        oldestWaitingAt: Effect.map(
          query("OutboxStore.oldestWaitingAt", oldestWaiting({})),
          ([row]) => row === undefined ? null : waiting.read(row).enqueuedAt
        ),
        list: (workspaceId, { after, limit }) =>
          Effect.map(
            query("OutboxStore.list", listed({ workspaceId, after: Number(after ?? 0), limit: limit + 1 })),
            (rows) => ({
              items: rows.slice(0, limit).map((row) => ClaimEntries.entry.read(row)),
              next: rows.length > limit ? String(place.read(rows[limit - 1]!).place) : null
            })
          ),
        enqueuedUntil: (workspaceId, until) =>
          Effect.map(
            query("OutboxStore.enqueuedUntil", enqueuedUntil({ workspaceId, until })),
            ([row]) => counted.read(row!).entries
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
