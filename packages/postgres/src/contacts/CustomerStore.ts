/**
 * `CustomerStore` in PostgreSQL: walks over the tables of a workspace along their keys, a page at a time. No index is
 * kept for this: every send would pay for it.
 */
import { CustomerRecords, CustomerStore, type Id, type Recipient } from "@wac/core"
import { Effect, Layer } from "effect"
import { bigint, columns, integer, json, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import { receivedOf } from "../messages/Conversations.ts"
import { texts } from "../Parameter.ts"
import type { Row, Rows, Statement } from "../Statement.ts"
import { lockHealth } from "../webhooks/Health.ts"
import { contact, contactOf } from "./ContactStep.ts"
import * as EraseContacts from "./EraseContacts.ts"
import * as EraseMessages from "./EraseMessages.ts"

/** Rows looked at in one step. */
const size = 1000

/** Bodies of posts, which are larger. */
const posts = 200

const contactsText = `select distinct on (n.phone_number_id, n.key) ${contact.names("n")} from wac.phone_numbers p
  cross join lateral (
    select n.* from wac.contacts n where n.phone_number_id = p.id and n.key = any ($2::text[])
    union all
    select n.* from wac.contacts n where n.phone_number_id = p.id and n.user_id = any ($2::text[])
    union all
    select n.* from wac.contact_names a join wac.contacts n on n.phone_number_id = a.phone_number_id and n.key = a.key
    where a.phone_number_id = p.id and a.name = any ($2::text[])
  ) n
  where p.workspace_id = $1 order by n.phone_number_id, n.key`

const isTheirs = (event: string, names: string) =>
  `(${CustomerRecords.parties.map((field) => `${event}.data->>'${field}' = any (${names}::text[])`).join(" or ")})`

/** A page of a table: $1 workspace, $2 names, $3 and $4 the place before. `hit` holds what is the customer's. */
interface Walk {
  /** The page's rows, with the columns of their key. */
  readonly page: string
  readonly keys: readonly [string, string?]
  readonly size: number
  /** The columns of what is found. */
  readonly hit: string
  readonly from: string
  /** Statements of a `with` that erase, and an expression for what `erased` counts. */
  readonly erase: string
  readonly first: readonly [unknown, unknown?]
  /** An expression for how many of the hits are being worked on; none if omitted. */
  readonly busy?: string
  /** Whether the names are keys of contacts. */
  readonly names?: "keys" | "quoted"
}

const deliveries: Walk = {
  page: `select d.id, d.event_id, d.webhook_id from wac.deliveries d
    where d.workspace_id = $1 and d.id > $3 order by d.id limit ${size}`,
  keys: ["id"],
  size,
  hit: "p.id, p.webhook_id",
  from: `page p cross join lateral (select e.data from wac.events e where e.id = p.event_id offset 0) e
    where ${isTheirs("e", "$2")}`,
  erase: `attempts_gone as (delete from wac.attempts a using hit h where a.delivery_id = h.id),
    claims_gone as (
      delete from wac.delivery_claims c using hit h where c.webhook_id = h.webhook_id and c.delivery_id = h.id
    ),
    erased as (
      delete from wac.deliveries d using hit h where d.workspace_id = $1 and d.id = h.id returning null::json as data
    )`,
  first: [""]
}

const events: Walk = {
  page: `select e.created_at, e.id, e.data from wac.events e
    where e.workspace_id = $1 and e.created_at >= $3 and (e.created_at, e.id) > ($3, $4)
    order by e.created_at, e.id limit ${size}`,
  keys: ["created_at", "id"],
  size,
  hit: "p.id, p.data",
  from: `page p where ${isTheirs("p", "$2")}`,
  erase: "erased as (delete from wac.events e using hit h where e.id = h.id returning e.data)",
  first: [0, ""]
}

/** What is queued keeps its key, by a digest of the message. */
const outbox: Walk = {
  page: `select o.key, o.message_id, o.message, o.enqueued_at from wac.outbox o
    where o.workspace_id = $1 and o.key > $3 order by o.key limit ${size}`,
  keys: ["key"],
  size,
  hit: `p.key, p.message_id, p.message,
    floor(extract(epoch from p.enqueued_at) * 1000)::double precision as enqueued_at`,
  from: "page p where p.message->>'to' = any ($2::text[])",
  erase: `gone as (
      delete from wac.outbox o using hit h
      where o.message_id = h.message_id and o.claim_token is null and o.moved_at is null returning null::json as data
    ), emptied as (
      update wac.outbox o set message = null, erased = sha256(convert_to(o.message::text, 'UTF8')) from hit h
      where o.message_id = h.message_id and o.moved_at is not null returning null::json as data
    ), erased as (select data from gone union all select data from emptied)`,
  // what a process has taken, or takes meanwhile
  busy: "((select count(*) from hit) - (select count(*) from erased))::integer",
  first: [""]
}

const campaignRows: Walk = {
  page: `select r.campaign_id, r.place, r.content, r.customer from wac.campaigns c
    join wac.campaign_rows r on r.campaign_id = c.id
    where c.workspace_id = $1 and (r.campaign_id, r.place) > ($3, $4)
    order by r.campaign_id, r.place limit ${size}`,
  keys: ["campaign_id", "place"],
  size,
  hit: "p.campaign_id, p.place, p.content",
  from: "page p where p.customer = any ($2::text[]) or p.content->'recipient'->>'to' = any ($2::text[])",
  erase: `erased as (
      update wac.campaign_rows r set content = '${JSON.stringify(CustomerRecords.erasedRow)}', customer = null
      from hit h where r.campaign_id = h.campaign_id and r.place = h.place returning null::json as data
    )`,
  first: ["", 0]
}

const inboundMessages: Walk = {
  page: `select i.phone_number_id, i.provider_message_id, i.customer from wac.phone_numbers n
    join wac.inbound_messages i on i.phone_number_id = n.id
    where n.workspace_id = $1 and (i.phone_number_id, i.provider_message_id) > ($3, $4)
    order by i.phone_number_id, i.provider_message_id limit ${size}`,
  keys: ["phone_number_id", "provider_message_id"],
  size,
  hit: "p.phone_number_id, p.provider_message_id",
  from: "page p where p.customer = any ($2::text[])",
  erase: `erased as (
      update wac.inbound_messages i set customer = null from hit h
      where i.phone_number_id = h.phone_number_id and i.provider_message_id = h.provider_message_id
      returning null::json as data
    )`,
  first: ["", ""],
  names: "keys"
}

/** Along the list of each name, from the beginning each time that some were erased. */
const conversations: Walk = {
  page:
    `select c.message_id, c.is_inbound, c.workspace_id, c.phone_number_id, c.received, c.said from wac.conversations c
    where c.workspace_id = $1 and c.customer = any ($2::text[]) and c.message_id > $3 order by c.message_id limit ${size}`,
  keys: ["message_id"],
  size,
  hit: "p.*",
  from: "page p",
  erase: `erased as (
      delete from wac.conversations c using hit h where c.message_id = h.message_id returning c.said as data
    )`,
  first: [""]
}

/** A post of the workspace names one of its numbers. The body of a post that waits is still needed. */
const inboundPosts: Walk = {
  page: `select p.provider, encode(p.digest, 'hex') as digest, p.digest as name, p.received_at,
      p.due_at is not null as busy
    from wac.inbound_posts p where (p.provider, p.digest) > ($3, decode($4, 'hex'))
    order by p.provider, p.digest limit ${posts}`,
  keys: ["provider", "digest"],
  size: posts,
  hit: "p.provider, p.name, p.received_at, p.busy, b.body",
  from: `page p cross join lateral (
      select b.body from wac.inbound_post_bodies b where b.provider = p.provider and b.digest = p.name offset 0
    ) b
    where exists (select from unnest($2::text[]) q (name) where position(convert_to(q.name, 'UTF8') in b.body) > 0)
      and exists (
        select from wac.phone_numbers n where n.workspace_id = $1
          and position(convert_to('"' || n.provider_number_id || '"', 'UTF8') in b.body) > 0
      )`,
  erase: `erased as (
      update wac.inbound_post_bodies b set body = '' from hit h
      where b.provider = h.provider and b.digest = h.name and not h.busy returning null::json as data
    )`,
  busy: "(select count(*) from hit h where h.busy)::integer",
  first: ["", ""],
  names: "quoted"
}

const walks = { deliveries, events, outbox, campaignRows, inboundMessages, conversations, posts: inboundPosts } as const

const pageOf = ({ from, hit, page }: Walk) =>
  `with page as materialized (${page}), hit as materialized (select ${hit} from ${from})`

/** Where the next step begins: the last key of a full page. */
const nextText = ({ keys, size }: Walk) => {
  const names = keys.map((key) => `p.${key}`)
  return `(select json_build_array(${names.join(", ")})::text from page p
    where (select count(*) from page) = ${size} order by ${names.map((name) => `${name} desc`).join(", ")} limit 1)`
}

const findText = (walk: Walk): string =>
  `${pageOf(walk)} select ${nextText(walk)} as next, (select coalesce(json_agg(h), '[]') from hit h) as found`

const eraseText = (walk: Walk): string =>
  `${pageOf(walk)}, ${walk.erase}
  select ${nextText(walk)} as next, (select count(*) from erased)::integer as erased,
    (select coalesce(json_agg(e.data) filter (where e.data is not null), '[]') from erased e) as data,
    ${walk.busy ?? "0"} as busy`

const paramsOf = (walk: Walk, { after, names, workspaceId }: CustomerStore.Step): ReadonlyArray<unknown> => {
  const given = walk.names === "keys"
    ? names.keys
    : walk.names === "quoted"
    ? CustomerRecords.quoted(names)
    : names.texts
  return [workspaceId, texts(given), ...after === null ? walk.first : JSON.parse(after) as ReadonlyArray<unknown>]
}

const message = row({ id: text<Id.MessageId>() })
const delivery = row({ id: text<Id.DeliveryId>() })
const event = row({ id: text<Id.EventId>() })
const enqueued = columns<CustomerStore.Enqueued>({
  messageId: "text",
  key: "text",
  message: "json",
  enqueuedAt: "double precision"
})
const campaignRow = columns<
  { readonly campaignId: Id.CampaignId; readonly number: number; readonly row: Recipient.Row },
  { number: "place"; row: "content" }
>({ campaignId: "text", number: "integer", row: "json" }, { number: "place", row: "content" })
const post = row({ provider: text(), receivedAt: bigint(), body: text() })

const walkedTo = row({ next: text<string | null>() })
const found = row({ found: json<ReadonlyArray<Row>>() })
const erasure = row({ erased: integer(), busy: integer() })
const data = row({ data: json<ReadonlyArray<unknown>>() })

const foundOf = (place: Exclude<CustomerRecords.Place, "messages" | "contacts" | "inboundMessages">, row: Row) => {
  switch (place) {
    case "deliveries":
      return { place, ...delivery.read(row) }
    case "events":
      return { place, ...event.read(row) }
    case "outbox":
      return { place, entry: enqueued.read(row) }
    case "campaignRows":
      return { place, ...campaignRow.read(row) }
    case "conversations":
      // what was sent is found among the messages
      return row["is_inbound"] === true ? { place, message: receivedOf(row) } : []
    case "posts": {
      const { body, ...received } = post.read(row)
      // bytes in JSON are in hexadecimal, after \x
      return { place, ...received, body: Buffer.from(body.slice(2), "hex").toString("utf8") }
    }
  }
}

const lockWebhooks = lockHealth("no key update")

export const layer = Layer.effect(
  CustomerStore.CustomerStore,
  Effect.gen(function*() {
    const { planned, query, stepped } = yield* Database
    const eraseContacts = yield* stepped("CustomerStore.erase", EraseContacts.eraseContacts)
    const eraseMessages = yield* stepped("CustomerStore.erase", EraseMessages.eraseMessages)

    const contacts: CustomerStore.CustomerStore["Service"]["contacts"] = (workspaceId, { keys }) =>
      Effect.map(
        query("CustomerStore.contacts", { text: contactsText, params: [workspaceId, texts(keys)] }),
        (rows) => rows.map(contactOf)
      )

    /** Runs one statement of a walk with the planner's settings of steps. */
    const walked = (operation: string, statements: ReadonlyArray<Statement>) =>
      Effect.map(planned(operation, statements), (results: ReadonlyArray<Rows>) => results.at(-1)![0]!)

    return CustomerStore.CustomerStore.of({
      contacts,
      find: Effect.fnUntraced(function*(step) {
        const { after, names, place, workspaceId } = step
        const operation = "CustomerStore.find"
        if (place === "inboundMessages") return { found: [], next: null }
        if (place === "contacts") {
          return { found: (yield* contacts(workspaceId, names)).map((contact) => ({ place, contact })), next: null }
        }
        if (place === "messages") {
          const params = [workspaceId, after ?? "", texts(names.texts)]
          const rows = (yield* planned(operation, [{ text: EraseMessages.pageText, params }]))[0]!
          return {
            found: rows.flatMap((row) => row["is_theirs"] === true ? [{ place, ...message.read(row) }] : []),
            next: EraseMessages.nextOf(rows.map((row) => message.read(row).id))
          }
        }
        const walk = walks[place]
        const row = yield* walked(operation, [{ text: findText(walk), params: paramsOf(walk, step) }])
        return {
          found: found.read(row).found.flatMap((row) => foundOf(place, row)),
          ...walkedTo.read(row)
        }
      }),
      erase: Effect.fnUntraced(function*(step) {
        const { place, workspaceId } = step
        const operation = "CustomerStore.erase"
        if (place === "messages") return yield* eraseMessages(step)
        if (place === "contacts") return yield* eraseContacts(step)
        const walk = walks[place]
        const row = yield* walked(operation, [
          ...place === "deliveries" ? [lockWebhooks({ workspaces: [workspaceId] })] : [],
          { text: eraseText(walk), params: paramsOf(walk, step) }
        ])
        return {
          ...CustomerStore.nothing,
          ...erasure.read(row),
          ...walkedTo.read(row),
          files: data.read(row).data.flatMap(CustomerRecords.filesOf)
        }
      })
    })
  })
)
