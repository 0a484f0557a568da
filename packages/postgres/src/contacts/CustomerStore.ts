/**
 * `CustomerStore` in PostgreSQL: walks over the tables of a workspace along their keys, a page at a time. No index is
 * kept for this: every send would pay for it.
 */
import { CustomerRecords, CustomerStore, type Id, type Recipient } from "@wac/core"
import { Effect, Layer } from "effect"
import { bigint, type Columns, columns, integer, json, list, row, text } from "../Columns.ts"
import { Database } from "../Database.ts"
import { conversationOf, receivedOf } from "../messages/Conversations.ts"
import { type Row, type Rows, type Statement, statement, value } from "../Statement.ts"
import { contact, contactOf } from "./ContactStep.ts"
import { optOut } from "./ContactStore.ts"
import * as EraseContacts from "./EraseContacts.ts"
import * as EraseDeliveries from "./EraseDeliveries.ts"
import * as EraseMessages from "./EraseMessages.ts"

/** The number of rows that one step looks at. */
const rowsAtOnce = 1000

/** The same for posts, whose bodies are larger. */
const postsAtOnce = 200

const workspaceId = value<Id.WorkspaceId>()

const names = list<string>("text")

const listContacts = statement(
  { workspaceId, keys: names },
  ({ keys, workspaceId }) =>
    `select distinct on (n.phone_number_id, n.key) ${contact.names("n")} from wac.phone_numbers p
  cross join lateral (
    select n.* from wac.contacts n where n.phone_number_id = p.id and n.key = any (${keys})
    union all
    select n.* from wac.contacts n where n.phone_number_id = p.id and n.user_id = any (${keys})
    union all
    select n.* from wac.contact_names a join wac.contacts n on n.phone_number_id = a.phone_number_id and n.key = a.key
    where a.phone_number_id = p.id and a.name = any (${keys})
  ) n
  where p.workspace_id = ${workspaceId} order by n.phone_number_id, n.key`
)

const listOptOuts = statement({ workspaceId, keys: names }, ({ keys, workspaceId }) => `
  select s.name, nullif(s.phone_number_id, '') as phone_number_id, s.at, s.source from wac.suppressions s
  where s.workspace_id = ${workspaceId} and s.name = any (${keys}) and s.opted_out`)

/** The condition of `CustomerRecords.isOf` on a row, given an expression for each of its parameters. */
const isOf = (names: string, messageId: string, named: ReadonlyArray<string>) =>
  `coalesce(${conversationOf(messageId)} = any (${names}), ${
    named.map((name) => `${name} = any (${names})`).join(" or ")
  })`

const isTheirs = (event: string, names: string) =>
  isOf(names, `${event}.data->>'message_id'`, CustomerRecords.parties.map((field) => `${event}.data->>'${field}'`))

/**
 * The parts from which the statements of a walk over a table are built. The statements call the records of the customer
 * `hit`.
 */
interface Parts {
  /** The page's rows, with the columns of their place. */
  readonly page: string
  /** The columns of the customer's records. */
  readonly hit: string
  readonly from: string
}

interface ErasingParts extends Parts {
  /**
   * Parts of a `with` that erase the records. The last one must be named `erased` and return a row for each, with the
   * column `data`.
   */
  readonly erase: string
  /** An expression for how many of the records cannot be erased now, since a process works on them; 0 if omitted. */
  readonly busy?: string
}

/**
 * How the parts refer to the workspace, the customer's names, and each field of the position after which the page
 * begins.
 */
type Given<Place> =
  & { readonly workspaceId: string; readonly names: string }
  & {
    readonly [Field in keyof Place]: string
  }

interface Walk<Place, P extends Parts> {
  /** The columns that give a row's position in the walk, and the position before the first row. */
  readonly place: Columns<Place>
  readonly first: Place
  /** The number of rows that one step looks at; {@link rowsAtOnce} if omitted. */
  readonly size?: number
  /** The customer's names by which the records are found; all texts if omitted. */
  readonly namesOf?: (names: CustomerRecords.Names) => ReadonlyArray<string>
  readonly parts: (given: Given<Place>) => P
}

/** Builds the statements of a walk that ends with what `write` returns. */
const walking = <Place, P extends Parts>(
  { first, namesOf = ({ texts }) => texts, parts, place, size = rowsAtOnce }: Walk<Place, P>,
  write: (parts: P, next: string) => string
) => {
  const columns = place.names("p").split(", ")
  // the last place of a full page
  const next = `(select ${place.array.text("p")}::text from page p
    where (select count(*) from page) = ${size} order by ${columns.map((name) => `${name} desc`).join(", ")} limit 1)`
  const prepared = statement({ workspaceId, names, place: place.one }, ({ place, ...given }) => {
    const written = parts({ ...given, ...place })
    const { from, hit, page } = written
    return `with page as materialized (${page}), hit as materialized (select ${hit} from ${from})${
      write(written, next)
    }`
  })
  return ({ after, names, workspaceId }: CustomerStore.Step): Statement =>
    prepared({
      workspaceId,
      names: namesOf(names),
      place: after === null ? first : place.array.read(JSON.parse(after) as ReadonlyArray<unknown>)
    })
}

/** Builds the statement of a walk that returns a page's records of the customer. */
const finding = <Place>(walk: Walk<Place, Parts>) =>
  walking(walk, (_, next) => ` select ${next} as next, (select coalesce(json_agg(h), '[]') from hit h) as found`)

/** Builds the statements of a walk: `find` returns a page's records of the customer, and `erase` erases them. */
const walk = <Place>(walk: Walk<Place, ErasingParts>) => ({
  find: finding(walk),
  erase: walking(walk, ({ busy, erase }, next) =>
    `, ${erase}
  select ${next} as next, (select count(*) from erased)::integer as erased,
    (select coalesce(json_agg(e.data) filter (where e.data is not null), '[]') from erased e) as data,
    ${busy ?? "0"} as busy`)
})

/** The walk over the deliveries, with the condition of those that it finds on their event `e`. */
const deliveries = (isFound: (names: string) => string) =>
  finding({
    place: row({ id: text() }),
    first: { id: "" },
    parts: ({ id, names, workspaceId }) => ({
      page: `select d.id, d.event_id, d.webhook_id, d.order_key from wac.deliveries d
    where d.workspace_id = ${workspaceId} and d.id > ${id} order by d.id limit ${rowsAtOnce}`,
      hit: "p.id, p.webhook_id, p.order_key",
      from: `page p left join lateral (select e.data from wac.events e where e.id = p.event_id offset 0) e on true
    where ${isFound(names)}`
    })
  })

const findDeliveries = deliveries((names) => isTheirs("e", names))

/** Also finds what earlier versions left: deliveries of erased events, each of which may be this customer's. */
const findErasedDeliveries = deliveries((names) => `e.data is null or ${isTheirs("e", names)}`)

const findEvents = finding({
  place: row({ createdAt: bigint(), id: text() }),
  first: { createdAt: 0, id: "" },
  parts: ({ createdAt, id, names, workspaceId }) => ({
    page: `select e.created_at, e.id, e.data, e.order_key from wac.events e
    where e.workspace_id = ${workspaceId} and e.created_at >= ${createdAt}
      and (e.created_at, e.id) > (${createdAt}, ${id})
    order by e.created_at, e.id limit ${rowsAtOnce}`,
    hit: "p.created_at, p.id, p.data, p.order_key",
    from: `page p where ${isTheirs("p", names)}`
  })
})

/**
 * The outbox. An entry that was moved into the queue stays, with a digest in place of its message, so that its
 * idempotency key still applies.
 */
const outbox = walk({
  place: row({ key: text() }),
  first: { key: "" },
  parts: ({ key, names, workspaceId }) => ({
    page: `select o.key, o.message_id, o.message, o.enqueued_at from wac.outbox o
    where o.workspace_id = ${workspaceId} and o.key > ${key} order by o.key limit ${rowsAtOnce}`,
    hit: `p.key, p.message_id, p.message,
    floor(extract(epoch from p.enqueued_at) * 1000)::double precision as enqueued_at`,
    from: `page p where p.message->>'to' = any (${names})`,
    erase: `gone as (
      delete from wac.outbox o using hit h
      where o.message_id = h.message_id and o.claim_token is null and o.moved_at is null returning null::json as data
    ), emptied as (
      update wac.outbox o set message = null, erased = sha256(convert_to(o.message::text, 'UTF8')) from hit h
      where o.message_id = h.message_id and o.moved_at is not null returning null::json as data
    ), erased as (select data from gone union all select data from emptied)`,
    // entries that a process has claimed, or claims meanwhile
    busy: "((select count(*) from hit) - (select count(*) from erased))::integer"
  })
})

const campaignRows = walk({
  place: row({ campaignId: text(), place: integer() }),
  first: { campaignId: "", place: 0 },
  parts: ({ campaignId, names, place, workspaceId }) => ({
    page: `select r.campaign_id, r.place, r.content, r.customer, r.message_id from wac.campaigns c
    join wac.campaign_rows r on r.campaign_id = c.id
    where c.workspace_id = ${workspaceId} and (r.campaign_id, r.place) > (${campaignId}, ${place})
    order by r.campaign_id, r.place limit ${rowsAtOnce}`,
    hit: "p.campaign_id, p.place, p.content",
    from: `page p where ${isOf(names, "p.message_id", ["p.customer", "p.content->'recipient'->>'to'"])}`,
    erase: `erased as (
      update wac.campaign_rows r set content = '${JSON.stringify(CustomerRecords.erasedRow)}', customer = null
      from hit h where r.campaign_id = h.campaign_id and r.place = h.place returning null::json as data
    )`
  })
})

const inboundMessages = walk({
  place: row({ phoneNumberId: text(), providerMessageId: text() }),
  first: { phoneNumberId: "", providerMessageId: "" },
  namesOf: ({ keys }) => keys,
  parts: ({ names, phoneNumberId, providerMessageId, workspaceId }) => ({
    page: `select i.phone_number_id, i.provider_message_id, i.customer from wac.phone_numbers n
    join wac.inbound_messages i on i.phone_number_id = n.id
    where n.workspace_id = ${workspaceId}
      and (i.phone_number_id, i.provider_message_id) > (${phoneNumberId}, ${providerMessageId})
    order by i.phone_number_id, i.provider_message_id limit ${rowsAtOnce}`,
    hit: "p.phone_number_id, p.provider_message_id",
    from: `page p where p.customer = any (${names})`,
    erase: `erased as (
      update wac.inbound_messages i set customer = null from hit h
      where i.phone_number_id = h.phone_number_id and i.provider_message_id = h.provider_message_id
      returning null::json as data
    )`
  })
})

/**
 * Conversations: reads the messages under the customer's names, those of each name and direction by a range of the index
 * `conversations_list`. With one range of message ids, the planner may read all conversations.
 */
const conversations = walk({
  place: row({ messageId: text() }),
  first: { messageId: "" },
  parts: ({ messageId, names, workspaceId }) => ({
    page: `select c.* from unnest(${names}) n (name) cross join unnest(array[false, true]) d (is_inbound)
    cross join lateral (
      select c.message_id, c.is_inbound, c.workspace_id, c.phone_number_id, c.received, c.said
      from wac.conversations c
      where (c.workspace_id, c.customer, c.is_inbound, c.message_id)
          > (${workspaceId}, n.name, d.is_inbound, ${messageId})
        and (c.workspace_id, c.customer, c.is_inbound) <= (${workspaceId}, n.name, d.is_inbound)
      order by c.workspace_id, c.customer, c.is_inbound, c.message_id limit ${rowsAtOnce}
    ) c
    order by c.message_id limit ${rowsAtOnce}`,
    hit: "p.*",
    from: "page p",
    erase: `erased as (
      delete from wac.conversations c using hit h where c.message_id = h.message_id returning c.said as data
    )`
  })
})

/**
 * Inbound posts. A post belongs to the workspace if it names one of the workspace's numbers. A waiting post keeps its
 * body, which is still needed.
 */
const posts = walk({
  place: row({ provider: text(), digest: text() }),
  first: { provider: "", digest: "" },
  size: postsAtOnce,
  namesOf: CustomerRecords.quoted,
  parts: ({ digest, names, provider, workspaceId }) => ({
    page: `select p.provider, encode(p.digest, 'hex') as digest, p.digest as name, p.received_at,
      p.due_at is not null as busy
    from wac.inbound_posts p where (p.provider, p.digest) > (${provider}, decode(${digest}, 'hex'))
    order by p.provider, p.digest limit ${postsAtOnce}`,
    hit: "p.provider, p.name, p.received_at, p.busy, b.body",
    from: `page p cross join lateral (
      select b.body from wac.inbound_post_bodies b where b.provider = p.provider and b.digest = p.name offset 0
    ) b
    where exists (select from unnest(${names}) q (name) where position(convert_to(q.name, 'UTF8') in b.body) > 0)
      and exists (
        select from wac.phone_numbers n where n.workspace_id = ${workspaceId}
          and position(convert_to('"' || n.provider_number_id || '"', 'UTF8') in b.body) > 0
      )`,
    erase: `erased as (
      update wac.inbound_post_bodies b set body = '' from hit h
      where b.provider = h.provider and b.digest = h.name and not h.busy returning null::json as data
    )`,
    busy: "(select count(*) from hit h where h.busy)::integer"
  })
})

/** Exported for the test of its cost. */
export const walks = {
  deliveries: { find: findDeliveries },
  events: { find: findEvents },
  outbox,
  campaignRows,
  inboundMessages,
  conversations,
  posts
} as const

const message = row({ id: text<Id.MessageId>() })
const delivery = row({ id: text<Id.DeliveryId>() })
const event = row({ id: text<Id.EventId>(), data: json() })
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
    case "events": {
      const { data, id } = event.read(row)
      return { place, id, files: CustomerRecords.filesOf(data) }
    }
    case "outbox":
      return { place, entry: enqueued.read(row) }
    case "campaignRows":
      return { place, ...campaignRow.read(row) }
    case "conversations":
      // sent messages are found in the table of messages
      return row["is_inbound"] === true ? { place, message: receivedOf(row) } : []
    case "posts": {
      const { body, ...received } = post.read(row)
      // bytes in JSON are in hexadecimal, after \x
      return { place, ...received, body: Buffer.from(body.slice(2), "hex").toString("utf8") }
    }
  }
}

/** The result of a walk's step that erases. */
const erasedOf = (row: Row): CustomerStore.Erased => ({
  ...CustomerStore.nothing,
  ...erasure.read(row),
  ...walkedTo.read(row),
  files: data.read(row).data.flatMap(CustomerRecords.filesOf)
})

export const layer = Layer.effect(
  CustomerStore.CustomerStore,
  Effect.gen(function*() {
    const { planned, query, stepped } = yield* Database
    const eraseContacts = yield* stepped("CustomerStore.erase", EraseContacts.eraseContacts)
    const eraseMessages = yield* stepped("CustomerStore.erase", EraseMessages.eraseMessages)
    const eraseWithDeliveries = {
      deliveries: yield* stepped("CustomerStore.erase", EraseDeliveries.eraseDeliveries(findErasedDeliveries)),
      events: yield* stepped("CustomerStore.erase", EraseDeliveries.eraseEvents(findEvents))
    }

    const contacts: CustomerStore.CustomerStore["Service"]["contacts"] = (workspaceId, { keys }) =>
      Effect.map(
        query("CustomerStore.contacts", listContacts({ workspaceId, keys })),
        (rows) => rows.map(contactOf)
      )

    /** Runs a statement of a walk with the planner settings of steps. */
    const walked = (operation: string, statements: ReadonlyArray<Statement>) =>
      Effect.map(planned(operation, statements), (results: ReadonlyArray<Rows>) => results.at(-1)![0]!)

    return CustomerStore.CustomerStore.of({
      contacts,
      optOuts: (workspaceId, { keys }) =>
        Effect.map(
          query("CustomerStore.optOuts", listOptOuts({ workspaceId, keys })),
          (rows) => rows.map(optOut.read)
        ),
      find: Effect.fnUntraced(function*(step) {
        const { after, names, place, workspaceId } = step
        const operation = "CustomerStore.find"
        if (place === "inboundMessages") return { found: [], next: null }
        if (place === "contacts") {
          return { found: (yield* contacts(workspaceId, names)).map((contact) => ({ place, contact })), next: null }
        }
        if (place === "messages") {
          const look = EraseMessages.look({ workspaceId, after: after ?? "", names: names.texts })
          const rows = (yield* planned(operation, [look]))[0]!
          return {
            found: rows.flatMap((row) => row["is_theirs"] === true ? [{ place, ...message.read(row) }] : []),
            next: EraseMessages.nextOf(rows.map((row) => message.read(row).id))
          }
        }
        const row = yield* walked(operation, [walks[place].find(step)])
        return {
          found: found.read(row).found.flatMap((row) => foundOf(place, row)),
          ...walkedTo.read(row)
        }
      }),
      erase: Effect.fnUntraced(function*(step) {
        const { place } = step
        if (place === "messages") return yield* eraseMessages(step)
        if (place === "contacts") return yield* eraseContacts(step)
        if (place === "deliveries" || place === "events") return yield* eraseWithDeliveries[place](step)
        return erasedOf(yield* walked("CustomerStore.erase", [walks[place].erase(step)]))
      })
    })
  })
)
