/**
 * Erases the customer of messages, a page of a workspace's messages at a time; `MessageErasure` decides what
 * becomes of each.
 */
import { CustomerStore, type Id, type KeyedMessage, MessageErasure } from "@wac/core"
import { columns, list, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { conversationOf } from "../messages/Conversations.ts"
import { keepSends } from "../messages/KeepSends.ts"
import { message, sends } from "../messages/StoredSend.ts"
import { type Given, statement, value } from "../Statement.ts"

/** The number of messages that one step looks at. */
const size = 2000

const inputs = { workspaceId: value<Id.WorkspaceId>(), after: value<string>(), names: list<string>("text") }

/** The text of a page of messages. `m.id > ''` is the condition of the index. */
const page = ({ after, workspaceId }: Given<typeof inputs>): string =>
  `select m.id, coalesce(${conversationOf("m.id")}, m.content->>'to') as recipient from wac.messages m
  where (m.workspace_id, m.id) > (${workspaceId}, ${after}) and m.workspace_id = ${workspaceId} and m.id > ''
  order by m.workspace_id, m.id limit ${size}`

/** Reads a page's messages, and whether each is the customer's. */
export const look = statement(
  inputs,
  (given) => `select p.id, p.recipient = any (${given.names}) as is_theirs from (${page(given)}) p order by p.id`
)

/**
 * Locks and loads the customer's messages of a page, and those whose customer was erased before: their keys may have
 * been deleted since.
 */
const lock = statement(inputs, (given) =>
  `select to_json(m) as send from wac.messages m
  where m.id = any (array(select p.id from (${
    page(given)
  }) p where p.recipient = any (${given.names}) or p.recipient = ''))
  order by m.id for update`)

const unname = unlessEmpty(
  columns<MessageErasure.Erasure["unnamed"][number]>({ providerMessageId: "text", messageId: "text" }),
  (rows) =>
    `delete from wac.message_names n using ${rows("g")}
  where n.provider_message_id = g.provider_message_id and n.message_id = g.message_id`
)

/** Writes the content, which no other transition changes. */
const empty = unlessEmpty(
  message.pick("id", "content"),
  (rows) => `update wac.messages m set content = g.content from ${rows("g")} where m.id = g.id`
)

const rekey = unlessEmpty(
  columns<Pick<MessageErasure.Erasure["rekeyed"][number], "messageId" | "key">>({ messageId: "text", key: "text" }),
  (rows) => `update wac.messages m set key = g.key from ${rows("g")} where m.id = g.message_id`
)

const found = message.pick("id")

interface Loaded {
  readonly now: (asked: number) => number
  readonly sends: ReadonlyArray<KeyedMessage.KeyedMessage>
  readonly next: string | null
}

type Writes = Pick<MessageErasure.Erasure, "writes" | "unnamed" | "rekeyed">

/**
 * The position after which the next step begins, given the ids of this step's page; `null` if this was the last page.
 */
export const nextOf = (ids: ReadonlyArray<string>): string | null => ids.length < size ? null : ids.at(-1)!

/** `CustomerStore.erase` in `messages`. */
export const eraseMessages: StepOptions<CustomerStore.Step, Loaded, CustomerStore.Erased, Writes> = {
  size: 1,
  load: ([step]) => {
    const { after, names, workspaceId } = step!
    const given = { workspaceId, after: after ?? "", names: names.texts }
    return [look(given), lock(given)]
  },
  read: ([ids, rows], now) => ({
    now,
    sends: rows!.map((row) => sends.read(row).send),
    next: nextOf(ids!.map((row) => found.read(row).id))
  }),
  decide: ({ next, sends }) => {
    const { rekeyed, unnamed, writes, ...erasure } = MessageErasure.erase(sends)
    return { answers: [{ ...CustomerStore.nothing, ...erasure, next }], writes: { rekeyed, unnamed, writes } }
  },
  write: ({ rekeyed, unnamed, writes }) => [
    ...unname(unnamed),
    ...keepSends(writes),
    ...empty(writes.sends.map(({ message }) => message)),
    ...rekey(rekeyed)
  ]
}
