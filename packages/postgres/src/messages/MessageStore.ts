/**
 * `MessageStore` in PostgreSQL: combines the operations of this folder (`Abandon`, `Accept`, `ApplyReport`, `LookUp`,
 * `Settle`, `Sweep`) and adds the short statements.
 */
import { CustomerNames, Id, type Message, type MessageReferences, MessageStore, Page, type Time } from "@wac/core"
import { Duration, Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { columns, result, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Expired from "../Expired.ts"
import { texts } from "../Parameter.ts"
import type { Row } from "../Statement.ts"
import * as Abandon from "./Abandon.ts"
import * as Accept from "./Accept.ts"
import * as ApplyReport from "./ApplyReport.ts"
import * as Conversations from "./Conversations.ts"
import * as ForgetMessages from "./ForgetMessages.ts"
import * as LookUp from "./LookUp.ts"
import * as Settle from "./Settle.ts"
import { message } from "./StoredSend.ts"
import * as Sweep from "./Sweep.ts"

/** The number of messages in one step of a sweep. */
const sweepBatch = 256

const getText = "select to_json(m) as message from messages m where m.id = $2 and m.workspace_id = $1"

const found = result<{ readonly message: Message.Message }>({ message })

/** A page's message, or where the search for it stopped. */
const listed = result<{ readonly message: Message.Message | null; readonly reached: string | null }>({
  message,
  reached: "text"
})

/** A message that other messages can refer to, and the phone number or the key of its customer. */
const named = columns<
  Pick<MessageReferences.Named, "phoneNumberId" | "providerMessageId"> & {
    readonly phone: string | null
    readonly customer: string | null
  }
>({ phoneNumberId: "text", providerMessageId: "text", phone: "text", customer: "text" })

const messageId = columns<Pick<MessageReferences.Named, "messageId">>({ messageId: "text" })

const mark = row({ fingerprint: text() })

const getNamedText = `select to_json(m) as message from message_names n
  join messages m on m.id = n.message_id where n.provider_message_id = $2 and m.workspace_id = $1`

const namedText = `select m.phone_number_id, m.provider_message_id, m.content->>'to' as phone, null as customer
    from messages m where m.id = $2 and m.workspace_id = $1
  union all
  select i.phone_number_id, i.provider_message_id, null, i.customer
    from inbound_messages i where i.message_id = $2 and i.workspace_id = $1`

const namedOf = (messageId: Id.MessageId, row: Row): MessageReferences.Named => {
  const { customer, phone, ...others } = named.read(row)
  return { ...others, messageId, customer: phone === null ? customer ?? "" : CustomerNames.keyOf(phone) }
}

const recallText = `select r.fingerprint from read_marks r
  where r.workspace_id = $1 and r.message_id = $2 and r.key = $3
    and r.expires_at > ${Clocks.at("$4")}`

/**
 * An expired mark counts as absent (`Idempotency.isExpired`). Forgets another one: no statement deletes what it writes.
 */
const keepMarkText = `with judged as (
    select ${Clocks.at("$6")} as now
  ), gone as (
    ${
  Expired.forgetOne(
    "read_marks",
    "(select j.now from judged j)",
    "(o.workspace_id, o.message_id, o.key) <> ($1, $2, $3)"
  )
}
  )
  insert into read_marks as r (workspace_id, message_id, key, fingerprint, expires_at)
  select $1, $2, $3, $4, j.now + $5::bigint from judged j
  on conflict (workspace_id, message_id, key) do update set
    fingerprint = case when r.expires_at > excluded.expires_at - $5::bigint then r.fingerprint else excluded.fingerprint end,
    expires_at = case when r.expires_at > excluded.expires_at - $5::bigint then r.expires_at else excluded.expires_at end
  returning r.fingerprint`

/** Each part looks up one row, besides the number's. */
const idOfText = `select m.id as message_id from phone_numbers p
    cross join lateral (
      select n.message_id from message_names n where n.provider_message_id = $2 offset 0
    ) n
    cross join lateral (
      select m.id from messages m where m.id = n.message_id and m.phone_number_id = p.id offset 0
    ) m
    where p.provider_number_id = $1
  union all
  select i.message_id from phone_numbers p
    cross join lateral (
      select i.message_id from inbound_messages i
      where i.phone_number_id = p.id and i.provider_message_id = $2 offset 0
    ) i
    where p.provider_number_id = $1
  limit 1`

/**
 * Newest first, through `messages_list`, or `messages_reference` for a client's reference. Only a query with the
 * index's condition can use either. If a filter stopped scanning early, the last row says where. It is read in the same
 * statement, because a message that arrived between two statements would make others appear twice.
 *
 * $1 workspace, $2 limit, $3 and $4 the lowest id and the upper bound, $5 whether there is a filter, $6 status, $7
 * recipient, $8 and $9 times, $10 the reference.
 */
export const listText = (isByReference: boolean): string => {
  // with "=" the planner may use the primary key, and scan past what other workspaces have sent since
  const columns = (reference: string) => isByReference ? `m.workspace_id${reference}, m.id` : "m.workspace_id, m.id"
  const reference = ", (m.content->>'clientReference')"
  const of = (id: string) => isByReference ? `($1, $10, ${id})` : `($1, ${id})`
  const newest = `from messages m
    where (${columns(reference)}) >= ${of("$3")} and (${columns(reference)}) < ${of("$4")}
      and ${isByReference ? "m.content->>'clientReference' is not null" : "m.id > ''"}
    order by m.workspace_id desc${isByReference ? `${reference} desc` : ""}, m.id desc`
  return `with found as materialized (
    select m.* from (select m.* ${newest} limit ${MessageStore.lookedAt}) m
    where coalesce(m.status = $6, true) and coalesce(m.content->>'to' = any ($7::text[]), true)
      and coalesce(m.created_at >= $8::bigint, true) and coalesce(m.created_at < $9::bigint, true)
    order by m.workspace_id desc, m.id desc limit $2
  )
  (select to_json(m) as message, null as reached from found m order by m.id desc)
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
  const below = until === undefined ? Id.highest("msg") : firstIdAt(until + ahead)
  return [
    workspaceId,
    limit + 1,
    since === undefined ? "" : firstIdAt(since - ahead),
    after === null || below < after ? below : after,
    [status, to, since, until].some((given) => given !== undefined),
    status ?? null,
    to === undefined ? null : texts(to),
    since ?? null,
    until ?? null,
    ...clientReference === undefined ? [] : [clientReference]
  ]
}

/** A lower bound of the ids of messages created at that time or later. */
const firstIdAt = (time: Time.Instant): string => Id.lowestAt("msg", time)

const pageOf = (rows: ReadonlyArray<Row>, request: Page.PageRequest): Page.Page<Message.Message> => {
  const found = rows.map(listed.read)
  const messages = found.map(({ message }) => message).filter((message) => message !== null)
  const { items, next } = Page.fromOverread(messages, request, ({ id }) => id)
  return { items, next: next ?? found.at(-1)?.reached ?? null }
}

export const layer = Layer.effect(
  MessageStore.MessageStore,
  Effect.gen(function*() {
    const { direct, planned, query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const random = yield* SecureRandom.SecureRandom
    const accept = yield* stepped("MessageStore.accept", Accept.accept)
    const outright = yield* direct("MessageStore.settle", Settle.outright)
    const settle = yield* stepped("MessageStore.settle", Settle.settle)
    const abandon = yield* stepped("MessageStore.abandon", Abandon.abandon)
    const lookUp = yield* direct("MessageStore.lookUp", LookUp.lookUp)
    const applyReport = yield* stepped("MessageStore.applyReport", ApplyReport.applyReport)
    const sweep = yield* stepped("MessageStore.sweep", Sweep.sweep)
    const forgetBodies = yield* stepped("MessageStore.forgetBodies", ForgetMessages.forgetBodies)

    const ids: Effect.Effect<MessageStore.EventIds> = Effect.all({
      events: Effect.replicateEffect(Id.generate(random, "evt"), sweepBatch),
      deliveries: Effect.replicateEffect(Id.generate(random, "dlv"), sweepBatch)
    })

    const sweepStep = Effect.fnUntraced(function*(now: Time.Instant) {
      const swept = yield* sweep({ now, at: callerNow(now), ids: yield* ids })
      const tidied = yield* Effect.forEach(
        Sweep.tidy(callerNow(now)),
        ({ params, text }) => Effect.map(query("MessageStore.sweep", text, params!), ([row]) => row!["tidied"])
      )
      return { ...swept, more: swept.more || tidied.includes(Sweep.tidied) }
    })

    return MessageStore.MessageStore.of({
      accept,
      settle: (command) =>
        Effect.flatMap(
          command.end._tag === "Accepted" ? outright(command) : Effect.succeed(false),
          (isWritten) => isWritten ? Effect.succeed(true) : settle(command)
        ),
      abandon,
      lookUp: (request, now) => lookUp({ request, now: callerNow(now) }),
      applyReport,
      named: (workspaceId, id) =>
        Effect.map(
          query("MessageStore.named", namedText, [workspaceId, id]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => namedOf(id, row))
        ),
      idOf: (providerNumberId, providerMessageId) =>
        Effect.map(
          query("MessageStore.idOf", idOfText, [providerNumberId, providerMessageId]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => messageId.read(row).messageId)
        ),
      recallReadMark: ({ key, messageId, workspaceId }, now) =>
        Effect.map(
          query("MessageStore.recallReadMark", recallText, [workspaceId, messageId, key, callerNow(now) ?? null]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => mark.read(row).fingerprint)
        ),
      keepReadMark: ({ expiresAt, fingerprint, key, messageId, now, workspaceId }) =>
        Effect.map(
          query("MessageStore.keepReadMark", keepMarkText, [
            workspaceId,
            messageId,
            key,
            fingerprint,
            expiresAt - now,
            callerNow(now) ?? null
          ]),
          ([row]) => mark.read(row!).fingerprint
        ),
      get: (workspaceId, id) =>
        Effect.map(
          query("MessageStore.get", getText, [workspaceId, id]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => found.read(row).message)
        ),
      list: (workspaceId, filter, page) =>
        filter.providerMessageId === undefined
          ? Effect.map(
            query(
              "MessageStore.list",
              listText(filter.clientReference !== undefined),
              listParams(workspaceId, filter, page)
            ),
            (rows) => pageOf(rows, page)
          )
          : Effect.map(query("MessageStore.list", getNamedText, [workspaceId, filter.providerMessageId]), (rows) => ({
            items: rows.map((row) => found.read(row).message).filter((message) =>
              MessageStore.isOf(filter, message) && (page.after === null || message.id < page.after)
            ),
            next: null
          })),
      received: (workspaceId, id) =>
        Effect.map(
          query("MessageStore.received", Conversations.receivedText, [workspaceId, id]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), Conversations.receivedOf)
        ),
      conversation: (workspaceId, filter, page) => {
        const { params, text } = Conversations.list(workspaceId, filter, page)
        return Effect.map(
          query("MessageStore.conversation", text, params),
          (rows) => Conversations.pageOf(rows, page)
        )
      },
      sweep: Effect.fnUntraced(function*(now) {
        let swept: MessageStore.Swept = { unknown: 0, failed: 0, forgotten: 0 }
        let more = true
        while (more) {
          const step = yield* sweepStep(now)
          swept = MessageStore.sum(swept, step)
          more = step.more
        }
        return swept
      }),
      forget: (before) =>
        Effect.map(planned("MessageStore.forget", ForgetMessages.forgetMessages(before)), ForgetMessages.forgotten),
      forgetBodies: (before) => forgetBodies({ before })
    })
  })
)
