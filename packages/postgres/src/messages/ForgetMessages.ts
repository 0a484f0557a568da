/**
 * Deletes old messages, customers' old messages and old campaigns' rows; and removes the bodies of old messages.
 */
import { Campaign, Id, Message, Retention, type Time } from "@wac/core"
import { boolean, list, row, text, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { type Rows, type Statement, statement, value } from "../Statement.ts"
import { forgetText } from "./Conversations.ts"
import { message } from "./StoredSend.ts"

/** The maximum number of rows deleted or emptied in one statement. */
const atOnce = 500

/** The upper bound of identifiers. */
const below = value<string>()

const words = list<string>("text")

/** A condition: whether a message's status is final (`Message.over`). */
const isOver = (over: string): string => `m.status = any (${over})`

/** Deletes old messages with a final status whose idempotency key is gone, or which belong to an ended campaign. */
export const forgetSent = statement(
  { below, over: words, endings: words },
  ({ below, endings, over }) =>
    `with gone as (
    delete from wac.messages m where m.ctid = any (array(
      select m.ctid from wac.messages m
      where m.id < ${below} and ${isOver(over)} and (
        m.key is null or m.campaign_id is not null and not exists (
          select from wac.campaigns c where c.id = m.campaign_id and c.state->>'status' <> all (${endings})
        )
      )
      order by m.id limit ${atOnce} for update skip locked
    ))
    returning m.id, m.provider_message_id
  ), names as (
    delete from wac.message_names n using gone g
    where n.provider_message_id = g.provider_message_id and n.message_id = g.id
  ), said as (${forgetText("select g.id from gone g")})
  select ${Forgotten.columns(atOnce)} from gone`
)

const forgetRows = statement({ below, endings: words }, ({ below, endings }) =>
  `with gone as (
    delete from wac.campaign_rows r where r.ctid = any (array(
      select r.ctid from wac.campaigns c cross join lateral (
        select r.ctid from wac.campaign_rows r where r.campaign_id = c.id limit ${atOnce}
      ) r
      where c.id < ${below} and c.state->>'status' = any (${endings}) limit ${atOnce}
    ))
    returning 1
  )
  select ${Forgotten.columns(atOnce)} from gone`)

/**
 * Deletes customers' old messages from conversations, in the order of ids. Few older rows must be skipped: only sent
 * messages that have not ended.
 */
export const forgetReceived = statement({ below }, ({ below }) =>
  `with gone as (
    delete from wac.conversations c where c.ctid = any (array(
      select c.ctid from wac.conversations c
      where c.message_id < ${below} and c.is_inbound order by c.message_id limit ${atOnce} for update skip locked
    ))
    returning 1
  )
  select ${Forgotten.columns(atOnce)} from gone`)

/** The statements that delete. */
export const forgetMessages = (before: Time.Instant): ReadonlyArray<Statement> => [
  forgetSent({ below: Id.lowestAt("msg", before), over: Message.over, endings: Campaign.endings }),
  forgetReceived({ below: Id.lowestAt("msg", before) }),
  forgetRows({ below: Id.lowestAt("cmp", before), endings: Campaign.endings })
]

/** Reads the results of the statements. Campaigns' rows do not count as removed messages. */
export const forgotten = ([messages, received, rows]: ReadonlyArray<Rows>): Retention.Forgotten =>
  Retention.together([Forgotten.read(messages), Forgotten.read(received), { ...Forgotten.read(rows), removed: 0 }])

const content = message.pick("id", "content")

const body = content.and(row({ isOver: boolean() }))

const inbound = row({ messageId: text<Id.MessageId>() })

interface Loaded {
  readonly now: (asked: Time.Instant) => Time.Instant
  readonly bodies: ReadonlyArray<ReturnType<typeof body.read>>
  /** The ids of customers' messages. */
  readonly received: ReadonlyArray<Id.MessageId>
}

interface Writes {
  readonly emptied: ReadonlyArray<Pick<Message.Message, "id" | "content">>
  readonly reached: string | undefined
  readonly received: ReadonlyArray<Id.MessageId>
}

const takeBodies = statement(
  { below, over: words },
  ({ below, over }) =>
    `with reached as materialized (select f.reached from wac.forgotten_bodies f for update skip locked)
  select m.id, m.content, ${isOver(over)} as is_over from reached r cross join lateral (
    select m.* from wac.messages m where m.id > r.reached and m.id < ${below} order by m.id limit ${atOnce}
  ) m`
)

/** Takes the next customers' messages to empty, by the index `conversations_received`. */
export const takeReceived = statement(
  { below },
  ({ below }) =>
    `with reached as materialized (select f.received from wac.forgotten_bodies f for update skip locked)
  select c.message_id from reached r cross join lateral (
    select c.message_id from wac.conversations c
    where c.message_id > r.received and c.message_id < ${below} and c.is_inbound order by c.message_id limit ${atOnce}
  ) c`
)

const reachReceived = statement(
  { received: value<Id.MessageId>() },
  ({ received }) => `update wac.forgotten_bodies set received = ${received}`
)

const reach = statement(
  { reached: value<string>() },
  ({ reached }) => `update wac.forgotten_bodies set reached = ${reached}`
)

/** Removes what customers' messages said, like `ReceivedMessage.withoutBody`. */
const emptyReceived = unlessEmpty(
  list<Id.MessageId>("text"),
  (ids) => `update wac.conversations c set said = null where c.message_id = any (${ids})`
)

const empty = unlessEmpty(content, (rows) =>
  `update wac.messages m set content = e.content from ${rows("e")}
  where m.id = e.id`)

/** `MessageStore.forgetBodies`. Finds nothing while another process runs it. */
export const forgetBodies: StepOptions<
  { readonly before: Time.Instant },
  Loaded,
  Retention.Forgotten,
  Writes
> = {
  size: 1,
  load: ([command]) => {
    const below = Id.lowestAt("msg", command!.before)
    return [
      { text: "insert into wac.forgotten_bodies (reached) values ('') on conflict do nothing" },
      takeBodies({ below, over: Message.over }),
      takeReceived({ below })
    ]
  },
  read: ([, rows, received], now) => ({
    now,
    received: received!.map((row) => inbound.read(row).messageId),
    bodies: rows!.map(body.read)
  }),
  decide: ({ bodies, received }) => {
    const emptied = bodies.filter(({ isOver }) => isOver).map(({ content, id }) => ({
      id,
      content: Message.withoutBody(content)
    }))
    return {
      answers: [{
        removed: emptied.length + received.length,
        isMore: bodies.length === atOnce || received.length === atOnce
      }],
      writes: { emptied, reached: bodies.at(-1)?.id, received }
    }
  },
  write: ({ emptied, reached, received }) => [
    ...received.length === 0 ? [] : [
      ...emptyReceived(received),
      reachReceived({ received: received.at(-1)! })
    ],
    ...reached === undefined ? [] : [
      ...empty(emptied),
      reach({ reached })
    ]
  ]
}
