/**
 * Settles sends (core's `SendStep.settle`). The common outcome, a send that the provider accepted, is written directly
 * in one round trip. Every other outcome is loaded, decided and written.
 */
import { type Id, type MessageStore, type Sends, SendStep } from "@wac/core"
import * as Tallies from "../campaigns/Tallies.ts"
import { plain } from "../Column.ts"
import type { DirectOptions, StepOptions } from "../Database.ts"
import { recording, wake } from "../events/Recording.ts"
import { instants, integers, jsons, texts } from "../Parameter.ts"
import { awaitDeadlines, keepSends } from "./KeepSends.ts"
import { sendOf, type StoredSend } from "./StoredSend.ts"

/**
 * Applies only if the stored message is as it was claimed, on which `SendStep.outright` based its decision. `further`
 * are more parts of the `with`.
 */
const outrightText = (further = "") =>
  `with settled as (
    update messages m set status = s.status, status_at = s.status_at, provider_message_id = s.provider_message_id,
      sent_at = s.sent_at, sequence = s.sequence, claim_token = null, lease_until = null, expires_at = s.expires_at
    from (
      select s.* from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::bigint[],
        $8::text[], $9::bigint[], $10::integer[], $11::bigint[], $12::text[], $13::text[], $14::text[], $15::json[],
        $16::text[], $17::integer[])
        s (message_id, workspace_id, token, status_before, sequence_before, status, status_at, provider_message_id,
          sent_at, sequence, expires_at, event_id, delivery_id, type, data, trace, place)
      order by s.message_id, s.place
      offset 0
    ) s
    where m.id = s.message_id
      -- hidden from the planner in a case: it would expect no rows, and read all of them to check
      and case when m.status = s.status_before and m.provider_message_id is null and m.sequence = s.sequence_before
        then m.claim_token = s.token and m.workspace_id = s.workspace_id end
    returning s.event_id as id, s.delivery_id, s.workspace_id, s.type, s.status_at as created_at,
      s.message_id as order_key, s.sequence, s.data, s.trace, s.provider_message_id, s.place
  ), named as (
    -- the first message to get a name keeps it
    insert into message_names (provider_message_id, message_id)
    select m.provider_message_id, m.order_key from settled m order by m.provider_message_id, m.place
    on conflict do nothing
  ), ${recording("settled e")}${further}
  select m.place, ${wake} from settled m`

const outrightPlain = outrightText()

/** The same for messages of which some belong to campaigns. */
const outrightCounted = outrightText(`, dequeued as (
    delete from campaign_queue q where q.message_id = any (array(select m.order_key from settled m))
  ), counted as (
    ${
  Tallies.adding(
    `unnest($18::text[], $19::text[], $20::text[], $21::text[], $22::integer[], $23::integer[], $24::integer[])
      a (${Tallies.columns}, place) join settled m on m.place = a.place`
  )
}
  )`)

/** Drops repeated commands, since a claim ends only once. */
const firsts = (given: ReadonlyArray<{ readonly command: MessageStore.SettleSend; readonly place: number }>) => {
  const ids = new Set<Id.MessageId>()
  return given.filter(({ command: { message } }) => !ids.has(message.id) && ids.add(message.id))
}

/** `MessageStore.settle`, written directly. The answer is false if nothing was written. */
export const outright: DirectOptions<MessageStore.SettleSend, boolean> = {
  write: (commands, now) => {
    const given = firsts(commands.map((command, place) => ({ command, place }))).flatMap(({ command, place }) => {
      const at = now(command.now)
      const after = at === undefined ? undefined : SendStep.outright(command, at)
      return after === undefined ? [] : [{ command, place, after }]
    })
    if (given.length === 0) return []
    const before = given.map(({ command: { message } }) => message)
    const messages = given.map(({ after: { message } }) => message)
    const recorded = given.map(({ after: { event } }) => event)
    const counted = given.flatMap(({ after: { message: { campaignId }, tallies }, place }) =>
      campaignId === null ? [] : tallies.map((tally) => ({ ...tally, campaignId, place }))
    )
    return [{
      text: counted.length === 0 ? outrightPlain : outrightCounted,
      params: [
        texts(before.map(({ id }) => id)),
        texts(before.map(({ workspaceId }) => workspaceId)),
        texts(given.map(({ command: { claimToken } }) => claimToken)),
        texts(before.map(({ status }) => status)),
        integers(before.map(({ sequence }) => sequence)),
        texts(messages.map(({ status }) => status)),
        instants(messages.map(({ statusAt }) => statusAt)),
        texts(messages.map(({ providerMessageId }) => providerMessageId)),
        instants(messages.map(({ sentAt }) => sentAt)),
        integers(messages.map(({ sequence }) => sequence)),
        instants(given.map(({ after: { expiresAt } }) => expiresAt)),
        texts(recorded.map(({ event: { id } }) => id)),
        texts(recorded.map(({ deliveryId }) => deliveryId)),
        texts(recorded.map(({ event: { type } }) => type)),
        jsons(recorded.map(({ event: { data } }) => data)),
        texts(recorded.map(({ event: { trace } }) => trace)),
        integers(given.map(({ place }) => place)),
        ...counted.length === 0
          ? []
          : [...Tallies.columnsOf(counted), integers(counted.map(({ place }) => place))]
      ]
    }]
  },
  read: ([settled]) => {
    const places = new Set(settled?.map((row) => plain<number>(row, "place")))
    return (_, place) => places.has(place)
  }
}

const lockText = "select to_json(m) as send from messages m where m.id = any ($1::text[]) order by m.id for update"

/** `MessageStore.settle`. */
export const settle: StepOptions<MessageStore.SettleSend, Sends.Loaded, boolean, Sends.Writes> = {
  load: (commands) => [{ text: lockText, params: [texts([...new Set(commands.map(({ message }) => message.id))])] }],
  read: ([rows], now) => {
    const sends = new Map(rows!.map((row) => {
      const send = sendOf(plain<StoredSend>(row, "send"))
      return [send.message.id, send]
    }))
    return { now, send: (id) => sends.get(id) }
  },
  decide: SendStep.settle,
  write: (writes) => [...keepSends(writes), ...awaitDeadlines(writes.deadlines)]
}
