/**
 * Erases the customer of messages, a page of a workspace's messages at a time; `MessageErasure` decides what
 * becomes of each.
 */
import { CustomerStore, MessageErasure, type Send } from "@wac/core"
import { plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
import { keepSends } from "../messages/KeepSends.ts"
import { sendOf, type StoredSend } from "../messages/StoredSend.ts"
import { jsons, texts } from "../Parameter.ts"

/** Messages looked at in one step. */
const size = 2000

/** $1 workspace, $2 the message before. The condition on the id is the index's. */
const page = `select m.id, m.content->>'to' as recipient from messages m
  where (m.workspace_id, m.id) > ($1, $2) and m.workspace_id = $1 and m.id > ''
  order by m.workspace_id, m.id limit ${size}`

export const pageText = `select p.id, p.recipient = any ($3::text[]) as is_theirs from (${page}) p order by p.id`

/** Those whose customer was erased before are looked at again: their keys may be gone now. */
const lockText = `select to_json(m) as send from messages m
  where m.id = any (array(select p.id from (${page}) p where p.recipient = any ($3::text[]) or p.recipient = ''))
  order by m.id for update`

const unnameText = `delete from message_names n
  using unnest($1::text[], $2::text[]) g (provider_message_id, message_id)
  where n.provider_message_id = g.provider_message_id and n.message_id = g.message_id`

/** What no other transition changes. */
const emptyText = `update messages m set content = g.content
  from unnest($1::text[], $2::json[]) g (id, content) where m.id = g.id`

const rekeyText = `update messages m set key = g.key from unnest($1::text[], $2::text[]) g (id, key) where m.id = g.id`

interface Loaded {
  readonly now: (asked: number) => number
  readonly sends: ReadonlyArray<Send.Send>
  readonly next: string | null
}

type Writes = Pick<MessageErasure.Erasure, "writes" | "unnamed" | "rekeyed">

/** Where the next step of a walk begins, given the ids of this one. */
export const nextOf = (ids: ReadonlyArray<string>): string | null => ids.length < size ? null : ids.at(-1)!

/** `CustomerStore.erase` in `messages`. */
export const eraseMessages: StepOptions<CustomerStore.Step, Loaded, CustomerStore.Erased, Writes> = {
  size: 1,
  load: ([step]) => {
    const { after, names, workspaceId } = step!
    const params = [workspaceId, after ?? "", texts(names.texts)]
    return [{ text: pageText, params }, { text: lockText, params }]
  },
  read: ([ids, rows], now) => ({
    now,
    sends: rows!.map((row) => sendOf(plain<StoredSend>(row, "send"))),
    next: nextOf(ids!.map((row) => plain(row, "id")))
  }),
  decide: ({ next, sends }) => {
    const { rekeyed, unnamed, writes, ...erasure } = MessageErasure.erase(sends)
    return { answers: [{ ...CustomerStore.nothing, ...erasure, next }], writes: { rekeyed, unnamed, writes } }
  },
  write: ({ rekeyed, unnamed, writes }) => [
    ...unnamed.length === 0 ? [] : [{
      text: unnameText,
      params: [
        texts(unnamed.map(({ providerMessageId }) => providerMessageId)),
        texts(unnamed.map(({ messageId }) => messageId))
      ]
    }],
    ...keepSends(writes),
    ...writes.sends.length === 0 ? [] : [{
      text: emptyText,
      params: [
        texts(writes.sends.map(({ message }) => message.id)),
        jsons(writes.sends.map(({ message }) => message.content))
      ]
    }],
    ...rekeyed.length === 0 ? [] : [{
      text: rekeyText,
      params: [texts(rekeyed.map(({ messageId }) => messageId)), texts(rekeyed.map(({ key }) => key))]
    }]
  ]
}
