/**
 * Deletes old messages, customers' old messages and old campaigns' rows; and removes the bodies of old messages.
 */
import { Campaign, Id, Message, Retention, type Time } from "@wac/core"
import { Duration } from "effect"
import { bigint, boolean, columns, list, result, row, text, unlessEmpty } from "../Columns.ts"
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

/** `Message.lastDue`. */
const lastDue = "coalesce(greatest(m.send_at, m.sent_at), 0)"

/** The last id of the messages that a step looked at; `null` if there are no more. */
const reached = row({ reached: text<string | null>() })

/**
 * Deletes old messages with a final status whose idempotency key is gone, or which belong to an ended campaign. A step
 * looks at the next ones after `after`, since those that stay, such as the messages of a paused campaign, may be many.
 */
export const forgetSent = statement(
  { after: value<string>(), below, before: value<Time.Instant>(), over: words, endings: words },
  ({ after, before, below, endings, over }) => {
    const isGone = `${isOver(over)} and ${lastDue} < ${before} and (
        m.key is null or m.campaign_id is not null and m.campaign_id <> all (array(select c.id from going_on c))
      )`
    return `with page as materialized (
    select m.id, m.status, m.key, m.campaign_id, m.send_at, m.sent_at from wac.messages m
    where m.id > ${after} and m.id < ${below} order by m.id limit ${atOnce}
  ), going_on as materialized (
    select c.id from wac.campaigns c
    where c.id = any (array(select distinct m.campaign_id from page m where m.campaign_id is not null))
      and c.state->>'status' <> all (${endings})
  ), gone as (
    delete from wac.messages m where m.ctid = any (array(
      select m.ctid from wac.messages m where m.id = any (array(select m.id from page m where ${isGone})) and ${isGone}
      order by m.id for update skip locked
    ))
    returning m.id, m.provider_message_id
  ), names as (
    delete from wac.message_names n using gone g
    where n.provider_message_id = g.provider_message_id and n.message_id = g.id
  ), said as (${forgetText("select g.id from gone g")}), looked_at as (
    select case when count(*) = ${atOnce} then max(m.id) end as reached from page m
  )
  select (select count(*)::integer from gone) as removed, l.reached is not null as is_more, l.reached from looked_at l`
  }
)

const forgetRows = statement({ before: value<Time.Instant>(), below }, ({ before, below }) =>
  `with gone as (
    delete from wac.campaign_rows r where r.ctid = any (array(
      select r.ctid from wac.campaigns c cross join lateral (
        select r.ctid from wac.campaign_rows r where r.campaign_id = c.id limit ${atOnce}
      ) r
      where c.id < ${below} and (c.state->>'completedAt')::bigint < ${before} limit ${atOnce}
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

/** The statements that delete, and look at sent messages after `after`. */
export const forgetMessages = (before: Time.Instant, after: string): ReadonlyArray<Statement> => [
  forgetSent({ after, below: Id.lowestAt("msg", before), before, over: Message.over, endings: Campaign.endings }),
  forgetReceived({ below: Id.lowestAt("msg", before) }),
  forgetRows({ before, below: Id.lowestAt("cmp", before) })
]

/** Reads the results of the statements. Campaigns' rows do not count as removed messages. */
export const forgotten = ([messages, received, rows]: ReadonlyArray<Rows>): Retention.Forgotten =>
  Retention.together([Forgotten.read(messages), Forgotten.read(received), { ...Forgotten.read(rows), removed: 0 }])

/** The sent message after which the next step continues; `null` if none is left to look at. */
export const reachedIn = ([messages]: ReadonlyArray<Rows>): string | null => reached.read(messages![0]!).reached

const content = message.pick("id", "content")

const body = content.and(row({ isOver: boolean(), lastDue: bigint<Time.Instant>() }))

const inbound = row({ messageId: text<Id.MessageId>() })

/** A message that was passed before its time: it had not ended, or was sent later. */
interface Waiting {
  readonly id: Id.MessageId
  /** `null` if the message is deleted. */
  readonly content: Message.Message["content"] | null
  readonly isOver: boolean
  /** `Message.lastDue`. */
  readonly lastDue: Time.Instant
}

interface Loaded {
  readonly now: (asked: Time.Instant) => Time.Instant
  readonly waiting: ReadonlyArray<Waiting>
  readonly bodies: ReadonlyArray<ReturnType<typeof body.read>>
  /** The ids of customers' messages. */
  readonly received: ReadonlyArray<Id.MessageId>
}

interface Writes {
  readonly emptied: ReadonlyArray<Pick<Message.Message, "id" | "content">>
  readonly reached: string | undefined
  readonly received: ReadonlyArray<Id.MessageId>
  /** Messages whose time has not come, and when they are looked at again. */
  readonly waiting: ReadonlyArray<{ readonly messageId: Id.MessageId; readonly dueAt: Time.Instant }>
  /** Messages that wait no more. */
  readonly ended: ReadonlyArray<Id.MessageId>
}

const takeBodies = statement(
  { below, over: words },
  ({ below, over }) =>
    `with reached as materialized (select f.reached from wac.forgotten_bodies f for update skip locked)
  select m.id, m.content, ${isOver(over)} as is_over, ${lastDue} as last_due from reached r cross join lateral (
    select m.* from wac.messages m where m.id > r.reached and m.id < ${below} order by m.id limit ${atOnce}
  ) m`
)

/** How much later a message that had not ended is looked at again. */
const later = Duration.toMillis(Duration.days(1))

/** Takes messages that were passed before. */
const takeWaiting = statement(
  { before: value<Time.Instant>(), over: words },
  ({ before, over }) =>
    `with reached as materialized (select from wac.forgotten_bodies f for update skip locked)
  select w.message_id as id, m.content, coalesce(${isOver(over)}, true) as is_over, ${lastDue} as last_due
  from reached cross join lateral (
    select w.message_id from wac.waiting_bodies w
    where w.due_at <= ${before} order by w.due_at, w.message_id limit ${atOnce}
  ) w left join wac.messages m on m.id = w.message_id`
)

const waiting = result<Waiting>({ id: "text", content: "json", isOver: "boolean", lastDue: "bigint" })

const wait = unlessEmpty(
  columns<Writes["waiting"][number]>({ messageId: "text", dueAt: "bigint" }),
  (rows) =>
    `insert into wac.waiting_bodies (message_id, due_at) select w.message_id, w.due_at from ${rows("w")}
  on conflict (message_id) do update set due_at = excluded.due_at`
)

const waitNoMore = unlessEmpty(
  list<Id.MessageId>("text"),
  (ids) => `delete from wac.waiting_bodies w where w.message_id = any (${ids})`
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
      takeReceived({ below }),
      takeWaiting({ before: command!.before, over: Message.over })
    ]
  },
  read: ([, rows, received, waited], now) => ({
    now,
    waiting: waited!.map(waiting.read),
    received: received!.map((row) => inbound.read(row).messageId),
    bodies: rows!.map(body.read)
  }),
  decide: ({ bodies, received, waiting }, [command]) => {
    const { before } = command!
    const isDue = ({ isOver, lastDue }: Pick<Waiting, "isOver" | "lastDue">) => isOver && lastDue < before
    const emptied = [...bodies, ...waiting].flatMap((one) =>
      isDue(one) && one.content !== null ? [{ id: one.id, content: Message.withoutBody(one.content) }] : []
    )
    return {
      answers: [{
        removed: emptied.length + received.length,
        isMore: [bodies, received, waiting].some(({ length }) => length === atOnce)
      }],
      writes: {
        emptied,
        reached: bodies.at(-1)?.id,
        received,
        waiting: [...bodies, ...waiting].filter((one) => !isDue(one))
          .map(({ id, isOver, lastDue }) => ({ messageId: id, dueAt: isOver ? lastDue + 1 : before + later })),
        ended: waiting.filter(isDue).map(({ id }) => id)
      }
    }
  },
  write: ({ emptied, ended, reached, received, waiting }) => [
    ...received.length === 0 ? [] : [
      ...emptyReceived(received),
      reachReceived({ received: received.at(-1)! })
    ],
    ...empty(emptied),
    ...wait(waiting),
    ...waitNoMore(ended),
    ...reached === undefined ? [] : [reach({ reached })]
  ]
}
