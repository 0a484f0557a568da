/**
 * Settles sends (core's `OutcomeStep.settle`). The common outcome, a send that the provider accepted, is written
 * directly in one round trip. Every other outcome is loaded, decided and written.
 */
import { type Id, Message, type MessageStore, OutcomeStep, type SendBatch } from "@wac/core"
import * as Tallies from "../campaigns/Tallies.ts"
import * as Timelines from "../campaigns/Timelines.ts"
import { bigint, integer, row, type Table, text } from "../Columns.ts"
import type { DirectOptions, StepOptions } from "../Database.ts"
import { recording, wake } from "../events/Recording.ts"
import { event } from "../events/StoredEvent.ts"
import { dequeuing } from "../queue/Dequeue.ts"
import { statement } from "../Statement.ts"
import { awaitDeadlines, keepSends } from "./KeepSends.ts"
import { lockSends, message, sendsIn } from "./StoredSend.ts"

/**
 * What is written when the provider accepted a send: the new state of the message, the state that it must have had
 * before, and the event.
 */
const accepted = message
  .pick("workspaceId", "status", "providerMessageId", "sentAt", "sequence", "statusAt")
  .and(event.pick("type", "data", "trace"))
  .and(row({
    messageId: text<Id.MessageId>(),
    token: text(),
    statusBefore: text<Message.MessageStatus>(),
    sequenceBefore: integer(),
    expiresAt: bigint<number | null>(),
    eventId: text<Id.EventId>(),
    deliveryId: text<Id.DeliveryId>(),
    place: integer()
  }))

const place = row({ place: integer() })

/**
 * Applies only if the stored message is as it was claimed, on which `OutcomeStep.settleDirectly` based its decision.
 * `further` are more parts of the `with`.
 */
const directText = (rows: Table, further = "") =>
  `with settled as (
    update wac.messages m set status = s.status, status_at = s.status_at, provider_message_id = s.provider_message_id,
      sent_at = s.sent_at, sequence = s.sequence, claim_token = null, lease_until = null, expires_at = s.expires_at
    from (
      select s.* from ${rows("s")}
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
    insert into wac.message_names (provider_message_id, message_id)
    select m.provider_message_id, m.order_key from settled m order by m.provider_message_id, m.place
    on conflict do nothing
  ), ${recording("settled e")}${further}
  select m.place, ${wake} from settled m`

const directPlain = statement({ accepted }, ({ accepted }) => directText(accepted))

const leaving = dequeuing("array(select m.order_key from settled m)")

/** The same if some of the messages are in the queue. */
const directQueued = statement({ accepted }, ({ accepted }) => directText(accepted, `, ${leaving}`))

/** The same if some of the messages belong to campaigns. */
const directCounted = statement(
  { accepted, counted: Tallies.change.and(place), timed: Timelines.change.and(place) },
  ({ accepted, counted, timed }) =>
    directText(
      accepted,
      `, ${leaving}, counted as (
    ${Tallies.adding(`${counted("a")} join settled m on m.place = a.place`)}
    returning 1
  ), timed as (
    -- asks for the counts, so that they are written first, in the order in which every step locks them
    ${
        Timelines.adding(`${timed("a")} join settled m on m.place = a.place
    where (select count(*) from counted) > 0`)
      }
  )`
    )
)

/** Drops repeated commands, since a claim ends only once. */
const firsts = (given: ReadonlyArray<{ readonly command: MessageStore.SettleSend; readonly place: number }>) => {
  const ids = new Set<Id.MessageId>()
  return given.filter(({ command: { message } }) => !ids.has(message.id) && ids.add(message.id))
}

/**
 * `MessageStore.settle` for sends that the provider accepted, written directly. The answer is false if nothing was
 * written: then {@link settle} must decide.
 */
export const settleDirectly: DirectOptions<MessageStore.SettleSend, boolean> = {
  write: (commands, now) => {
    const given = firsts(commands.map((command, place) => ({ command, place }))).flatMap(({ command, place }) => {
      const at = now(command.now)
      const after = at === undefined ? undefined : OutcomeStep.settleDirectly(command, at)
      return after === undefined ? [] : [{ command, place, after }]
    })
    if (given.length === 0) return []
    const accepted = given.map(({ after: { event, expiresAt, message }, command, place }) => ({
      messageId: message.id,
      workspaceId: message.workspaceId,
      token: command.claimToken,
      statusBefore: command.message.status,
      sequenceBefore: command.message.sequence,
      status: message.status,
      statusAt: message.statusAt,
      providerMessageId: message.providerMessageId,
      sentAt: message.sentAt,
      sequence: message.sequence,
      expiresAt,
      eventId: event.event.id,
      deliveryId: event.deliveryId,
      type: event.event.type,
      data: event.event.data,
      trace: event.event.trace,
      place
    }))
    const counted = given.flatMap(({ after: { message: { campaignId }, tallies }, place }) =>
      campaignId === null ? [] : tallies.map((tally) => Tallies.changeOf({ ...tally, campaignId, place }))
    )
    if (counted.length > 0) {
      const timed = given.flatMap(({ after: { timeline }, place }) => timeline.map((change) => ({ ...change, place })))
      return [directCounted({ accepted, counted, timed })]
    }
    const isOfQueue = given.some(({ after: { message } }) => Message.isOfQueue(message))
    return [isOfQueue ? directQueued({ accepted }) : directPlain({ accepted })]
  },
  read: ([settled]) => {
    const places = new Set(settled?.map((row) => place.read(row).place))
    return (_, place) => places.has(place)
  }
}

/** `MessageStore.settle` for every other outcome. */
export const settle: StepOptions<MessageStore.SettleSend, SendBatch.Loaded, boolean, SendBatch.Writes> = {
  load: (commands) => [lockSends({ ids: [...new Set(commands.map(({ message }) => message.id))] })],
  read: ([rows], now) => ({ now, send: sendsIn(rows!) }),
  decide: OutcomeStep.settle,
  write: (writes) => [...keepSends(writes), ...awaitDeadlines(writes.deadlines)]
}
