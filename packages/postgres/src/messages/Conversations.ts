/**
 * Conversations in PostgreSQL: the statements that write and read them.
 */
import { type Conversation, Id, type Message, NumberPart, Page, ReceivedMessage } from "@wac/core"
import { boolean, json, list as listOf, result, row, text } from "../Columns.ts"
import { type Row, type Statement, statement, value } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { message } from "./StoredSend.ts"

type Said = Pick<ReceivedMessage.ReceivedMessage, "content" | "context">
type Facts = Omit<ReceivedMessage.ReceivedMessage, keyof Said | "id" | "phoneNumberId" | "workspaceId">

/**
 * A message of a conversation. `received` and `said` are null for a message that the workspace sent; after the
 * retention, `said` is null for every message.
 */
const said = row({
  messageId: text<Id.MessageId>(),
  workspaceId: text<Id.WorkspaceId>(),
  phoneNumberId: text<Id.PhoneNumberId>(),
  customer: text(),
  isInbound: boolean(),
  received: json<Facts | null>(),
  said: json<Said | null>()
})

const insertSaid = insert(said, "wac.conversations")

/** The statements that store customers' messages. */
export const keepSaid = (messages: ReadonlyArray<ReceivedMessage.ConversationMessage>): ReadonlyArray<Statement> =>
  insertSaid(messages.map(({ customer, message: { content, context, id, phoneNumberId, workspaceId, ...facts } }) => ({
    messageId: id,
    workspaceId,
    phoneNumberId,
    customer,
    isInbound: true,
    received: facts,
    said: { content, context }
  })))

/**
 * Moves the messages under some names of a number to the customer with the key `to`. Rows are locked in the order of
 * their keys.
 */
const move = statement(
  {
    workspaceId: value<Id.WorkspaceId>(),
    phoneNumberId: value<Id.PhoneNumberId>(),
    names: listOf<string>("text"),
    to: value<string>()
  },
  ({ names, phoneNumberId, to, workspaceId }) =>
    `update wac.conversations c set customer = ${to} where c.message_id = any (array(
    select o.message_id from wac.conversations o
    where o.workspace_id = ${workspaceId} and o.customer = any (${names}) and o.phone_number_id = ${phoneNumberId}
    order by o.message_id for update
  ))`
)

/**
 * The statements for names that now belong to a different customer: earlier messages under these names stay with the
 * customers who had them.
 */
export const moveConversations = (moved: ReadonlyArray<Conversation.Reassignment>): ReadonlyArray<Statement> =>
  moved.map(move)

/** An expression for the customer in whose conversation a message is; null if it is in none. */
export const conversationOf = (messageId: string): string =>
  `(select c.customer from wac.conversations c where c.message_id = ${messageId})`

/** Part of a statement that deletes messages from conversations: those whose ids the query `ids` selects. */
export const forgetText = (ids: string): string =>
  `delete from wac.conversations c using (${ids}) g (id) where c.message_id = g.id`

const stored = said.omit("customer", "isInbound")

const messageIn = (
  { messageId, phoneNumberId, said, workspaceId }: ReturnType<typeof stored.read>,
  received: Facts
): ReceivedMessage.ReceivedMessage => ({
  ...received,
  ...said ?? ReceivedMessage.deletedContent,
  id: messageId,
  phoneNumberId,
  workspaceId
})

/** Reads a customer's message from a row. */
export const receivedOf = (row: Row): ReceivedMessage.ReceivedMessage => {
  const found = stored.read(row)
  return messageIn(found, found.received!)
}

const found = stored.names("c")

/** Loads a customer's message by wac's id. */
export const loadReceived = statement(
  { workspaceId: value<Id.WorkspaceId>(), id: value<Id.MessageId>() },
  ({ id, workspaceId }) =>
    `select ${found} from wac.conversations c
  where c.message_id = ${id} and c.workspace_id = ${workspaceId} and c.is_inbound`
)

/** The inputs of a page: up to `limit` messages before a message. */
const page = { workspaceId: value<Id.WorkspaceId>(), limit: value<number>(), before: value<string>() }

/**
 * Reads a page of a conversation by the index `conversations_list`: up to `limit` rows of each name and direction, and
 * of these the newest.
 */
const listNamed = statement(
  { ...page, names: listOf<string>("text"), directions: listOf<boolean>("boolean") },
  ({ before, directions, limit, names, workspaceId }) =>
    `with found as materialized (
    select c.* from unnest(${names}) n (name) cross join unnest(${directions}) d (is_inbound)
    cross join lateral (
      select ${found} from wac.conversations c
      where (c.workspace_id, c.customer, c.is_inbound, c.message_id) >= (${workspaceId}, n.name, d.is_inbound, '')
        and (c.workspace_id, c.customer, c.is_inbound, c.message_id) < (${workspaceId}, n.name, d.is_inbound, ${before})
      order by c.workspace_id desc, c.customer desc, c.is_inbound desc, c.message_id desc limit ${limit}
    ) c
    order by c.message_id desc limit ${limit}
  )
  select ${found}, (
    select to_json(m) from wac.messages m where m.id = c.message_id and c.received is null
  ) as message
  from found c order by c.message_id desc`
)

const outbound = result<{ readonly message: Message.Message | null }>({ message })

/** Reads a page of all customers' messages of a workspace by the index `conversations_inbound`. */
const listInbound = statement(page, ({ before, limit, workspaceId }) =>
  `select ${found} from wac.conversations c
  where (c.workspace_id, c.message_id) >= (${workspaceId}, '')
    and (c.workspace_id, c.message_id) < (${workspaceId}, ${before}) and c.is_inbound
  order by c.workspace_id desc, c.message_id desc limit ${limit}`)

/** The statement of a page. */
export const list = (
  workspaceId: Id.WorkspaceId,
  { direction, names }: Conversation.Filter,
  { after, limit }: Page.PageRequest
): Required<Statement> => {
  const page = { workspaceId, limit: limit + 1, before: after ?? Id.highest("msg") }
  return names === undefined ? listInbound(page) : listNamed({
    ...page,
    names,
    directions: direction === undefined ? [false, true] : [direction === "inbound"]
  })
}

/**
 * Finds the phone numbers of customers that begin with the given digits, or, if these have no country code, with any
 * country code and the digits. It steps through the index `conversations_list` from each number to the next, so a
 * conversation costs one row, however long it is. The upper bound of a range is a letter, since letters come after
 * digits in every collation.
 */
export const numbers = statement(
  {
    workspaceId: value<string>(),
    limit: value<number>(),
    digits: value<string>(),
    isInternational: value<boolean>()
  },
  ({ digits, isInternational, limit, workspaceId }) =>
    `with starts as (
    select '+' || ${digits}::text as start
    union all
    select '+' || code || ${digits}::text from generate_series(1, ${10 ** NumberPart.maxCodeDigits - 1}) code
    where not ${isInternational}::boolean
  )
  select distinct n.customer from starts s cross join lateral (
    with recursive each (customer, place) as (
      (
        select c.customer, 1 from wac.conversations c
        where c.workspace_id = ${workspaceId} and c.customer >= s.start and c.customer < s.start || 'A'
        order by c.customer limit 1
      )
      union all
      select o.customer, e.place + 1 from each e cross join lateral (
        select c.customer from wac.conversations c
        where c.workspace_id = ${workspaceId} and c.customer > e.customer and c.customer < s.start || 'A'
        order by c.customer limit 1
      ) o where e.place < ${limit}::integer
    )
    select e.customer from each e where starts_with(e.customer, s.start)
  ) n
  order by n.customer limit ${limit}::integer`
)

/** A row of {@link numbers}. */
export const numberOf = row({ customer: text() })

/** Reads the page from the rows of {@link list}. */
export const pageOf = (rows: ReadonlyArray<Row>, request: Page.PageRequest): Page.Page<Conversation.Entry> => {
  const entries = rows.map((row): readonly [id: string, entry: Conversation.Entry | undefined] => {
    const found = stored.read(row)
    const id = found.messageId
    if (found.received !== null) return [id, { direction: "inbound", message: messageIn(found, found.received) }]
    const { message } = outbound.read(row)
    // the message was deleted before its row in the conversation
    return [id, message === null ? undefined : { direction: "outbound", message }]
  })
  const { items, next } = Page.fromOverread(entries, request, ([id]) => id)
  return { items: items.flatMap(([, entry]) => entry ?? []), next }
}
