/**
 * `MessageStore` in PostgreSQL: combines the operations of this folder (`Abandon`, `Accept`, `ApplyReport`, `Cancel`,
 * `LookUp`, `Settle`, `Sweep`) and adds the short statements.
 */
import { CustomerNames, Id, Message, type MessageReferences, MessageStore, Page, type Time } from "@wac/core"
import { Duration, Effect, Exit, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { callerClock } from "../CallerClock.ts"
import { isUnstarted } from "../campaigns/StoredCampaign.ts"
import * as Clocks from "../Clocks.ts"
import { columns, integer, result, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Expired from "../Expired.ts"
import { texts } from "../Parameter.ts"
import { first, type Given, listOf, type Row, type Statement, statement, value } from "../Statement.ts"
import * as Abandon from "./Abandon.ts"
import * as Accept from "./Accept.ts"
import * as ApplyReport from "./ApplyReport.ts"
import * as Cancel from "./Cancel.ts"
import * as Conversations from "./Conversations.ts"
import * as ForgetMessages from "./ForgetMessages.ts"
import * as LookUp from "./LookUp.ts"
import * as Settle from "./Settle.ts"
import { message } from "./StoredSend.ts"
import * as Sweep from "./Sweep.ts"

/** The number of messages in one step of a sweep. */
const sweepBatch = 256

const workspaceId = value<Id.WorkspaceId>()

const get = statement({ workspaceId, id: value<Id.MessageId>() }, ({ id, workspaceId }) => `
  select to_json(m) as message from wac.messages m where m.id = ${id} and m.workspace_id = ${workspaceId}`)

const found = result<{ readonly message: Message.Message }>({ message })

/** A row of a list: a message, or the id at which the search stopped. */
const listed = result<{ readonly message: Message.Message | null; readonly reached: string | null }>({
  message,
  reached: "text"
})

/**
 * What a reference to a message needs. The customer is given by `phone` for a sent message, and by `customer`, the key,
 * for a received one.
 */
const named = columns<
  Pick<MessageReferences.NamedMessage, "phoneNumberId" | "providerMessageId" | "isOpen"> & {
    readonly phone: string | null
    readonly customer: string | null
  }
>({ phoneNumberId: "text", providerMessageId: "text", isOpen: "boolean", phone: "text", customer: "text" })

const messageId = columns<Pick<MessageReferences.NamedMessage, "messageId">>({ messageId: "text" })

const fingerprint = row({ fingerprint: text() })

const getNamed = statement(
  { workspaceId, providerMessageId: value<string>() },
  ({ providerMessageId, workspaceId }) =>
    `select to_json(m) as message from wac.message_names n
  join wac.messages m on m.id = n.message_id
  where n.provider_message_id = ${providerMessageId} and m.workspace_id = ${workspaceId}`
)

/**
 * Finds a message that others can refer to. The duplicate memory comes last, and only for messages from the business's
 * own phone, which are in no conversation: it forgets customers' messages while they are still kept.
 */
export const loadNamed = statement({ workspaceId, id: value<Id.MessageId>() }, ({ id, workspaceId }) => `
  select m.phone_number_id, m.provider_message_id, m.status not in ${listOf(Message.over)} as is_open,
    m.content->>'to' as phone, null as customer
    from wac.messages m where m.id = ${id} and m.workspace_id = ${workspaceId}
  union all
  select c.phone_number_id, c.received->>'providerMessageId', false, null, c.customer
    from wac.conversations c where c.message_id = ${id} and c.workspace_id = ${workspaceId} and c.is_inbound
  union all
  select i.phone_number_id, i.provider_message_id, false, null, i.customer
    from wac.inbound_messages i where i.message_id = ${id} and i.workspace_id = ${workspaceId}
  limit 1`)

const namedOf = (messageId: Id.MessageId, row: Row): MessageReferences.NamedMessage => {
  const { customer, phone, ...others } = named.read(row)
  return { ...others, messageId, customer: phone === null ? customer ?? "" : CustomerNames.keyOf(phone) }
}

const markKey = columns<MessageStore.ReadMarkKey>({ workspaceId: "text", messageId: "text", key: "text" })

const mark = markKey.and(fingerprint)

const recallMark = statement({ mark: markKey.one, now: Clocks.asked }, ({ mark, now }) => `
  select r.fingerprint from wac.read_marks r
  where ${markKey.are("r", mark)} and r.expires_at > ${now}`)

/**
 * Stores a read mark; an expired mark counts as absent (`Idempotency.isExpired`). Also deletes a different expired
 * mark, since a statement cannot delete the row that it writes.
 */
const keepMark = statement(
  { mark: mark.one, bindsFor: value<number>(), now: Clocks.asked },
  ({ bindsFor, mark: given, now }) =>
    `with judged as (
    select ${now} as now
  ), gone as (
    ${
      Expired.forgetOne(
        "wac.read_marks",
        "(select j.now from judged j)",
        `not ${markKey.are("o", given)}`
      )
    }
  )
  insert into wac.read_marks as r (${mark.names()}, expires_at)
  select ${mark.values(given)}, j.now + ${bindsFor}::bigint from judged j
  on conflict (${markKey.names()}) do update set
    fingerprint = case when r.expires_at > (select j.now from judged j) then r.fingerprint else excluded.fingerprint end,
    expires_at = case when r.expires_at > (select j.now from judged j) then r.expires_at else excluded.expires_at end
  returning r.fingerprint`
)

/**
 * Finds a message by the provider's identifiers, first among sent and then among received messages. Each part looks up
 * one row besides the number's.
 */
const idOf = statement(
  { providerNumberId: value<string>(), providerMessageId: value<string>() },
  ({ providerMessageId, providerNumberId }) =>
    `select m.id as message_id from wac.phone_numbers p
    cross join lateral (
      select n.message_id from wac.message_names n where n.provider_message_id = ${providerMessageId} offset 0
    ) n
    cross join lateral (
      select m.id from wac.messages m where m.id = n.message_id and m.phone_number_id = p.id offset 0
    ) m
    where p.provider_number_id = ${providerNumberId}
  union all
  select i.message_id from wac.phone_numbers p
    cross join lateral (
      select i.message_id from wac.inbound_messages i
      where i.phone_number_id = p.id and i.provider_message_id = ${providerMessageId} offset 0
    ) i
    where p.provider_number_id = ${providerNumberId}
  limit 1`
)

/** The index that a list is read from. */
type ListIndex = "messages_list" | "messages_reference" | "messages_failed"

/** The condition of each index: only a query that has it can use the index. */
const within: Record<ListIndex, string> = {
  messages_list: "m.id > ''",
  messages_reference: "m.content->>'clientReference' is not null",
  messages_failed: "m.failed_at is not null"
}

/** Selects the workspace's campaigns that are not started. Lists do not show their messages. */
const unstartedIn = (workspaceId: string): string =>
  `select c.id from wac.campaigns c where c.workspace_id = ${workspaceId} and ${isUnstarted}`

/** The inputs of a page: the lowest id, the upper bound of ids, and the filter. */
const listInputs = {
  workspaceId,
  limit: value<number>(),
  from: value<string>(),
  below: value<string>(),
  isFiltered: value<boolean>(),
  status: value<Message.MessageStatus | null>(),
  to: value<ReturnType<typeof texts> | null>(),
  since: value<Time.Instant | null>(),
  until: value<Time.Instant | null>()
}

/**
 * The text of a list, newest first, read from the index that fits the filter. If the scan stopped early, the last row
 * holds the id where it stopped. That is read in the same statement, because a message that arrived between two
 * statements would make others appear twice.
 */
const listText = (
  index: ListIndex,
  { below, from, isFiltered, limit, since, status, to, until, workspaceId }: Given<typeof listInputs>,
  reference?: string
): string => {
  const referenceColumn = "(m.content->>'clientReference')"
  // with "=" the planner may use the primary key, and scan other workspaces' newer messages
  const columns = ["m.workspace_id", ...reference === undefined ? [] : [referenceColumn], "m.id"]
  const of = (id: string) => `(${[workspaceId, ...reference === undefined ? [] : [reference], id].join(", ")})`
  const newest = `from wac.messages m
    where (${columns.join(", ")}) >= ${of(from)} and (${columns.join(", ")}) < ${of(below)} and ${within[index]}
    order by ${columns.map((column) => `${column} desc`).join(", ")}`
  const unstarted = unstartedIn(workspaceId)
  return `with found as materialized (
    select m.* from (select m.* ${newest} limit ${Page.maxScanned}) m
    where (m.campaign_id is null or m.campaign_id not in (${unstarted}))
      and coalesce(m.status = ${status}, true) and coalesce(m.content->>'to' = any (${to}::text[]), true)
      and coalesce(m.created_at >= ${since}::bigint, true) and coalesce(m.created_at < ${until}::bigint, true)
    order by m.workspace_id desc, m.id desc limit ${limit}
  )
  (select to_json(m) as message, null as reached from found m order by m.id desc)
  union all
  select null, (select m.id ${newest} offset ${Page.maxScanned - 1} limit 1)
  where (${isFiltered}::boolean or exists (${unstarted})) and (select count(*) from found) < ${limit}`
}

const listAll = statement(listInputs, (given) => listText("messages_list", given))

const listFailed = statement(listInputs, (given) => listText("messages_failed", given))

const listReferenced = statement(
  { ...listInputs, reference: value<string>() },
  ({ reference, ...given }) => listText("messages_reference", given, reference)
)

/** A lower bound of the ids of messages created at that time or later. */
const firstIdAt = (time: Time.Instant): string => Id.lowestAt("msg", time)

/** The statement for a page of a list, which reads the index that answers the filter with the fewest rows. */
export const list = (
  workspaceId: Id.WorkspaceId,
  { clientReference, since, status, to, until }: MessageStore.MessageFilter,
  { after, limit }: Page.PageRequest
): Required<Statement> => {
  const ahead = Duration.toMillis(MessageStore.idAhead)
  const below = until === undefined ? Id.highest("msg") : firstIdAt(until + ahead)
  const page = {
    workspaceId,
    limit: limit + 1,
    from: since === undefined ? "" : firstIdAt(since - ahead),
    below: after === null || below < after ? below : after,
    isFiltered: [status, to, since, until].some((given) => given !== undefined),
    status: status ?? null,
    to: to === undefined ? null : texts(to),
    since: since ?? null,
    until: until ?? null
  }
  if (clientReference !== undefined) return listReferenced({ ...page, reference: clientReference })
  return status === "failed" ? listFailed(page) : listAll(page)
}

const pageOf = (rows: ReadonlyArray<Row>, request: Page.PageRequest): Page.Page<Message.Message> => {
  const found = rows.map(listed.read)
  const messages = found.map(({ message }) => message).filter((message) => message !== null)
  const { items, next } = Page.fromOverread(messages, request, ({ id }) => id)
  return { items, next: next ?? found.at(-1)?.reached ?? null }
}

const counted = row({ tidied: integer(), reached: text<string | null>() })

export const layer = Layer.effect(
  MessageStore.MessageStore,
  Effect.gen(function*() {
    const { direct, planned, query, stepped } = yield* Database
    const callerNow = yield* callerClock
    const random = yield* SecureRandom.SecureRandom
    const accept = yield* stepped("MessageStore.accept", Accept.accept)
    const settleDirectly = yield* direct("MessageStore.settle", Settle.settleDirectly)
    const settle = yield* stepped("MessageStore.settle", Settle.settle)
    const abandon = yield* stepped("MessageStore.abandon", Abandon.abandon)
    const cancel = yield* stepped("MessageStore.cancel", Cancel.cancel)
    const lookUp = yield* direct("MessageStore.lookUp", LookUp.lookUp)
    const applyReport = yield* stepped("MessageStore.applyReport", ApplyReport.applyReport)
    const sweep = yield* stepped("MessageStore.sweep", Sweep.sweep)
    const forgetBodies = yield* stepped("MessageStore.forgetBodies", ForgetMessages.forgetBodies)

    const ids: Effect.Effect<MessageStore.EventIds> = Effect.all({
      events: Effect.replicateEffect(Id.generate(random, "evt"), sweepBatch),
      deliveries: Effect.replicateEffect(Id.generate(random, "dlv"), sweepBatch)
    })

    const tidyAll = Effect.fnUntraced(function*(tidy: Statement) {
      let tidied: unknown = Sweep.tidied
      while (tidied === Sweep.tidied) {
        const [rows] = yield* planned("MessageStore.sweep", [tidy])
        tidied = rows![0]!["tidied"]
      }
    })

    // the sent message that this round of deletions looked at last
    let passed = ""
    // the number whose counted customers were looked at last
    let looked = ""
    const uncount = Effect.fnUntraced(function*(now: Time.Instant | undefined) {
      let isMore = true
      while (isMore) {
        const [rows] = yield* planned("MessageStore.sweep", [Sweep.forgetCounted(now, looked)])
        const { reached, tidied } = counted.read(rows![0]!)
        isMore = tidied === Sweep.tidied
        if (!isMore) looked = reached ?? ""
      }
    })

    return MessageStore.MessageStore.of({
      accept,
      settle: (command) =>
        Effect.flatMap(
          command.end._tag === "Accepted" ? settleDirectly(command) : Effect.succeed(false),
          (isWritten) => isWritten ? Effect.succeed(true) : settle(command)
        ),
      abandon,
      cancel: (command) => Effect.map(cancel(command), Option.fromUndefinedOr),
      lookUp: (request, now) => lookUp({ request, now: callerNow(now) }),
      applyReport,
      named: (workspaceId, id) =>
        Effect.map(query("MessageStore.named", loadNamed({ workspaceId, id })), first((row) => namedOf(id, row))),
      idOf: (providerNumberId, providerMessageId) =>
        Effect.map(
          query("MessageStore.idOf", idOf({ providerNumberId, providerMessageId })),
          first((row) => messageId.read(row).messageId)
        ),
      recallReadMark: (mark, now) =>
        Effect.map(
          query("MessageStore.recallReadMark", recallMark({ mark, now: callerNow(now) })),
          first((row) => fingerprint.read(row).fingerprint)
        ),
      keepReadMark: ({ expiresAt, now, ...mark }) =>
        Effect.map(
          query("MessageStore.keepReadMark", keepMark({ mark, bindsFor: expiresAt - now, now: callerNow(now) })),
          ([row]) => fingerprint.read(row!).fingerprint
        ),
      get: (workspaceId, id) =>
        Effect.map(query("MessageStore.get", get({ workspaceId, id })), first((row) => found.read(row).message)),
      list: (workspaceId, filter, page) =>
        filter.providerMessageId === undefined
          ? Effect.map(
            query("MessageStore.list", list(workspaceId, filter, page)),
            (rows) => pageOf(rows, page)
          )
          : Effect.map(
            query("MessageStore.list", getNamed({ workspaceId, providerMessageId: filter.providerMessageId })),
            (rows) => ({
              items: rows.map((row) => found.read(row).message).filter((message) =>
                MessageStore.isOf(filter, message) && (page.after === null || message.id < page.after)
              ),
              next: null
            })
          ),
      received: (workspaceId, id) =>
        Effect.map(
          query("MessageStore.received", Conversations.loadReceived({ workspaceId, id })),
          first(Conversations.receivedOf)
        ),
      conversation: (workspaceId, filter, page) =>
        Effect.map(
          query("MessageStore.conversation", Conversations.list(workspaceId, filter, page)),
          (rows) => Conversations.pageOf(rows, page)
        ),
      numbersWith: (workspaceId, part, limit) =>
        Effect.map(
          query("MessageStore.numbersWith", Conversations.numbers({ workspaceId, limit, ...part })),
          (rows) => rows.map((row) => Conversations.numberOf.read(row).customer)
        ),
      sweep: Effect.fnUntraced(function*(now) {
        let swept: MessageStore.SweepResult = { unknown: 0, failed: 0, forgotten: 0 }
        let more = true
        while (more) {
          const step = yield* sweep({ now, at: callerNow(now), ids: yield* ids })
          swept = MessageStore.sum(swept, step)
          more = step.more
        }
        // a table that cannot be tidied must not keep another from it, and least of all sends from their end
        yield* Effect.flatten(Effect.map(
          Effect.forEach(
            [uncount(callerNow(now)), ...Sweep.tidy(callerNow(now)).map(tidyAll)],
            (tidying) => Effect.exit(tidying)
          ),
          Exit.asVoidAll
        ))
        return swept
      }),
      forget: (before) =>
        Effect.map(
          Effect.suspend(() => planned("MessageStore.forget", ForgetMessages.forgetMessages(before, passed))),
          (rows) => {
            const step = ForgetMessages.forgotten(rows)
            // after the last sent message, the round may still have others to delete; the next round begins again
            passed = ForgetMessages.reachedIn(rows) ?? (step.isMore ? passed : "")
            return step
          }
        ),
      forgetBodies: (before) => forgetBodies({ before })
    })
  })
)
