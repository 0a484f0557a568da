/**
 * Erases the customer of messages, a page of a workspace's messages at a time; `CustomerRecords.fateOf` decides what
 * becomes of each.
 */
import { CustomerRecords, CustomerStore, type Id, type Send } from "@wac/core"
import { plain } from "../Column.ts"
import type { StepOptions } from "../Database.ts"
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

const emptyText = `with given as materialized (
    select * from unnest($1::text[], $2::json[], $3::text[], $4::json[], $5::text[])
      g (id, content, provider_message_id, error, campaign_key)
  ), names as (
    delete from message_names n using given g join messages m on m.id = g.id
    where g.provider_message_id is null and n.provider_message_id = m.provider_message_id and n.message_id = m.id
  )
  update messages m set content = g.content, provider_message_id = g.provider_message_id, error = g.error,
    last_failure = null,
    key = case when m.key is not null and m.campaign_id is not null then g.campaign_key else m.key end,
    answer = case when m.campaign_id is null then m.answer end
  from given g where m.id = g.id`

const removeText = `with gone as (delete from messages m where m.id = any ($1::text[]) returning m.*)
  update quota_usage q set used = q.used - g.messages
  from (
    select g.workspace_id, g.quota_month as month, count(*)::integer as messages from gone g
    where g.quota_month is not null group by 1, 2 order by 1, 2
  ) g
  where q.workspace_id = g.workspace_id and q.month = g.month`

interface Loaded {
  readonly now: (asked: number) => number
  readonly sends: ReadonlyArray<Send.Send>
  readonly next: string | null
}

interface Writes {
  readonly emptied: ReadonlyArray<Extract<CustomerRecords.Fate, { readonly _tag: "Emptied" }>["message"]>
  readonly removed: ReadonlyArray<Id.MessageId>
}

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
    const fates = sends.map((send) => ({ id: send.message.id, fate: CustomerRecords.fateOf(send) }))
    const ids = (tag: CustomerRecords.Fate["_tag"]) => fates.flatMap(({ fate, id }) => fate._tag === tag ? [id] : [])
    const emptied = fates.flatMap(({ fate }) => fate._tag === "Emptied" ? [fate.message] : [])
    const removed = ids("Removed")
    return {
      answers: [{
        ...CustomerStore.nothing,
        erased: emptied.length + removed.length,
        queued: ids("Queued"),
        busy: ids("Busy").length,
        next
      }],
      writes: { emptied, removed }
    }
  },
  write: ({ emptied, removed }) => [
    ...emptied.length === 0 ? [] : [{
      text: emptyText,
      params: [
        texts(emptied.map(({ id }) => id)),
        jsons(emptied.map(({ content }) => content)),
        texts(emptied.map(({ providerMessageId }) => providerMessageId)),
        jsons(emptied.map(({ error }) => error)),
        texts(emptied.map(({ id }) => CustomerRecords.keyOfErased(id)))
      ]
    }],
    ...removed.length === 0 ? [] : [{ text: removeText, params: [texts(removed)] }]
  ]
}
