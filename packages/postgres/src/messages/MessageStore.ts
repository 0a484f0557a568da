import { Contact, Id, Message, MessageStore, Page, type Time } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Asked from "../Asked.ts"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"
import { limitsOf } from "../limits/WrittenLimits.ts"
import type { Row } from "../Statement.ts"
import * as Accept from "./Accept.ts"
import { storedAnswer, type StoredVerdict, verdictOf } from "./StoredVerdict.ts"

/** How many messages one step of a sweep looks at. */
const sweepBatch = 256

// settle and reports

/** What a `wac_step` has of a report. */
const reportOf = (
  { at, error, providerMessageId, status }: Message.Report,
  { deliveries, events }: MessageStore.EventIds
) => ({
  status,
  at,
  provider_message_id: providerMessageId,
  ...(error === null ? {} : { error: JSON.stringify(error) }),
  concludes: Message.isDeliveryUnknown({ status, error }),
  events,
  deliveries
})

/** A command for `wac_apply_reports`. */
const reportedOf = (
  { ids, now, providerNumberId, reference, report }: MessageStore.ApplyReport,
  asked: Asked.Asked
) => ({
  now: asked(now),
  provider_number_id: providerNumberId,
  reference,
  ...reportOf(report, ids)
})

/** A command for `wac_settle`: upstream took the send. */
const sentOf = (
  { claimToken, ids, message: { id: messageId, workspaceId }, now }: MessageStore.SettleSend,
  providerMessageId: string,
  asked: Asked.Asked
) => ({
  now: asked(now),
  workspace_id: workspaceId,
  message_id: messageId,
  claim_token: claimToken,
  provider_message_id: providerMessageId,
  event: ids.events[0],
  delivery: ids.deliveries[0]
})

/** An end makes one event at most. */
const firstOf = ({ deliveries, events }: MessageStore.EventIds): MessageStore.EventIds => ({
  events: events.slice(0, 1),
  deliveries: deliveries.slice(0, 1)
})

/** A command for `wac_settle_any`. */
const settlementOf = (
  { claimToken, end, ids, message: { id: messageId, workspaceId }, now }: MessageStore.SettleSend,
  asked: Asked.Asked
) => {
  /** Of what happened now, the database says when that was. */
  const since = (at: Time.Instant) => at === now ? asked(at) : at
  const claim = {
    now: asked(now),
    workspace_id: workspaceId,
    message_id: messageId,
    claim_token: claimToken,
    end: end._tag
  }
  switch (end._tag) {
    case "Accepted": {
      const { providerMessageId } = end
      return {
        ...claim,
        ...reportOf({ status: "sent", at: now, providerMessageId, error: null }, firstOf(ids)),
        at: asked(now)
      }
    }
    case "Refused":
      return {
        ...claim,
        ...reportOf(end.report, firstOf(ids)),
        at: since(end.report.at),
        answer: storedAnswer(end.answer)
      }
    case "NotSent":
      return { ...claim, answer: storedAnswer(end.answer) }
    case "Unknown":
      return claim
  }
}

interface SweepAnswer extends MessageStore.Swept {
  /** Whether there may be more to do. */
  readonly more: boolean
}

const getText = "select wac_message(m) as message from messages m where m.id = $2 and m.workspace_id = $1"

/**
 * Newest first, through `messages_list`, or through `messages_reference` for a client's reference; only a query that
 * asks for its part of the table can use either. The last row tells where a filter stopped looking, if it found too few
 * before that; it is read in the same statement, because a message that came between two would have others given twice.
 *
 * $1 workspace, $2 limit, $3 and $4 the lowest id and the one that all are below, $5 whether there is a filter,
 * $6 status, $7 recipient, $8 and $9 times, $10 the reference.
 */
export const listText = (isByReference: boolean): string => {
  // with "=" the planner may go by the primary key, past whatever others have sent since the workspace last did
  const columns = (reference: string) => isByReference ? `m.workspace_id${reference}, m.id` : "m.workspace_id, m.id"
  const reference = ", (m.content->>'clientReference')"
  const of = (id: string) => isByReference ? `($1, $10, ${id})` : `($1, ${id})`
  const newest = `from messages m
    where (${columns(reference)}) >= ${of("$3")} and (${columns(reference)}) < ${of("$4")}
      and ${isByReference ? "m.content->>'clientReference' is not null" : "m.id > ''"}
    order by m.workspace_id desc${isByReference ? `${reference} desc` : ""}, m.id desc`
  return `with found as materialized (
    select m.* from (select m.* ${newest} limit ${MessageStore.lookedAt}) m
    where coalesce(m.status = $6, true) and coalesce(m.content->>'to' = $7, true)
      and coalesce(m.created_at >= $8::bigint, true) and coalesce(m.created_at < $9::bigint, true)
    order by m.workspace_id desc, m.id desc limit $2
  )
  (select wac_message(m) as message, null as reached from found m order by m.id desc)
  union all
  select null, (select m.id ${newest} offset ${MessageStore.lookedAt - 1} limit 1)
  where $5::boolean and (select count(*) from found) < $2`
}

/** The parameters of {@link listText}. */
export const listParams = (
  workspaceId: string,
  { clientReference, since, status, to, until }: MessageStore.MessageFilter,
  { after, limit }: Page.PageRequest
): ReadonlyArray<unknown> => {
  const ahead = Duration.toMillis(MessageStore.idAhead)
  const below = until === undefined ? highest : firstIdAt(until + ahead)
  return [
    workspaceId,
    limit + 1,
    since === undefined ? "" : firstIdAt(since - ahead),
    after === null || below < after ? below : after,
    [status, to, since, until].some((given) => given !== undefined),
    status ?? null,
    to ?? null,
    since ?? null,
    until ?? null,
    ...clientReference === undefined ? [] : [clientReference]
  ]
}

const highest = `msg_${"Z".repeat(26)}`

/** What no id made at that time or later is below. */
const firstIdAt = (time: Time.Instant): string => Id.lowestAt("msg", time)

const pageOf = (rows: ReadonlyArray<Row>, request: Page.PageRequest): Page.Page<Message.Message> => {
  const found = rows.flatMap((row) => plain<Message.Message | null>(row, "message") ?? [])
  const { items, next } = Page.fromOverread(found, request, ({ id }) => id)
  return { items, next: next ?? rows.map((row) => plain<string | null>(row, "reached")).at(-1) ?? null }
}

export const layer = Layer.effect(
  MessageStore.MessageStore,
  Effect.gen(function*() {
    const { batched, query, stepped } = yield* Database
    const asked = yield* Asked.asked
    const random = yield* SecureRandom.SecureRandom
    const accept = yield* stepped("MessageStore.accept", Accept.accept)
    const settle = yield* batched<ReturnType<typeof sentOf>, boolean>("MessageStore.settle", "wac_settle")
    const settleAny = yield* batched<ReturnType<typeof settlementOf>, boolean>("MessageStore.settle", "wac_settle_any")
    const abandon = yield* batched<unknown, true>("MessageStore.abandon", "wac_abandon")
    const lookUp = yield* batched<unknown, StoredVerdict>("MessageStore.lookUp", "wac_look_up")
    const applyReport = yield* batched<ReturnType<typeof reportedOf>, boolean>(
      "MessageStore.applyReport",
      "wac_apply_reports"
    )

    const ids: Effect.Effect<MessageStore.EventIds> = Effect.all({
      events: Effect.replicateEffect(Id.generate(random, "evt"), sweepBatch),
      deliveries: Effect.replicateEffect(Id.generate(random, "dlv"), sweepBatch)
    })

    const sweepStep = Effect.fnUntraced(function*(now: Time.Instant) {
      const { deliveries, events } = yield* ids
      const [row] = yield* query("MessageStore.sweep", "select wac_sweep($1::text::json) as swept", [
        JSON.stringify({
          now: asked(now),
          events,
          deliveries,
          deliveryUnknown: Message.deliveryUnknown,
          notSent: Message.notSent
        })
      ])
      return plain<SweepAnswer>(row!, "swept")
    })

    return MessageStore.MessageStore.of({
      accept,
      settle: (command) => {
        const { end } = command
        const any = Effect.suspend(() => settleAny(settlementOf(command, asked)))
        if (end._tag !== "Accepted") return any
        // in a statement of its own, since one that locked more messages after these might wait in a circle
        return Effect.flatMap(
          settle(sentOf(command, end.providerMessageId, asked)),
          (isCommon) => isCommon ? Effect.succeed(true) : any
        )
      },
      abandon: ({ claimToken, limits, message, now, request: { key, route, workspaceId } }) =>
        Effect.asVoid(abandon({
          now: asked(now),
          workspace_id: workspaceId,
          route,
          key,
          customer: Contact.keyOf(message.to),
          claim_token: claimToken,
          limits: limitsOf(limits)
        })),
      lookUp: ({ fingerprint, key, route, workspaceId }, now) =>
        Effect.map(lookUp({ now: asked(now), workspace_id: workspaceId, route, key, fingerprint }), verdictOf),
      applyReport: (command) => applyReport(reportedOf(command, asked)),
      get: (workspaceId, id) =>
        Effect.map(
          query("MessageStore.get", getText, [workspaceId, id]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => plain<Message.Message>(row, "message"))
        ),
      list: (workspaceId, filter, page) =>
        Effect.map(
          query(
            "MessageStore.list",
            listText(filter.clientReference !== undefined),
            listParams(workspaceId, filter, page)
          ),
          (rows) => pageOf(rows, page)
        ),
      sweep: Effect.fnUntraced(function*(now) {
        let swept: SweepAnswer = { unknown: 0, failed: 0, forgotten: 0, more: true }
        while (swept.more) {
          const { failed, forgotten, more, unknown } = yield* sweepStep(now)
          swept = {
            unknown: swept.unknown + unknown,
            failed: swept.failed + failed,
            forgotten: swept.forgotten + forgotten,
            more
          }
        }
        const { more: _, ...counts } = swept
        return counts
      })
    })
  })
)
