/**
 * Abandons sends (core's `AbandonStep`): loads and writes what a send has spent. As for *accept*, the lock of a
 * workspace guards everything that its sends spend.
 */
import {
  AbandonStep,
  Contact,
  CustomerNames,
  type Id,
  Limits,
  type MessageStore,
  type PhoneNumber,
  type Time,
  type Workspace
} from "@wac/core"
import { Array } from "effect"
import { columns, double, list, result, row, type Table, text } from "../Columns.ts"
import { contactNamed, customerOf } from "../contacts/ContactStep.ts"
import type { StepOptions } from "../Database.ts"
import { pairs } from "../limits/Pairs.ts"
import { number } from "../numbers/StoredNumber.ts"
import { type Row, type Statement, statement } from "../Statement.ts"
import { awaitDeadlines, keepSends } from "./KeepSends.ts"
import { tried } from "./StoredSend.ts"

const bucket = row({ fullAt: double() })

const ofWorkspace = columns<Pick<Workspace.Workspace, "id" | "tier">>({ id: "text", tier: "text" }).and(bucket)

const lockWorkspaces = statement(
  { ids: list<Id.WorkspaceId>("text") },
  ({ ids }) =>
    `select w.id, w.tier, w.bucket_full_at as full_at from wac.workspaces w
  where w.id = any (${ids}) order by w.id for no key update`
)

/** The idempotency keys of messages, with their customers. */
const keys = columns<Pick<MessageStore.KeyedRequest, "workspaceId" | "route" | "key"> & { readonly customer: string }>({
  workspaceId: "text",
  route: "text",
  key: "text",
  customer: "text"
})

/** Part of a `from`: the columns `what` of the messages that are bound to the keys. */
const bound = (keys: Table, what: string): string =>
  `${keys("k")}
  cross join lateral (
    select ${what} from wac.messages t where t.workspace_id = k.workspace_id and t.route = k.route and t.key = k.key offset 0
  ) t`

const lockSends = statement({ keys }, ({ keys }) =>
  `select to_json(m) as send from wac.messages m
  where m.id = any (array(select t.id from ${bound(keys, "t.id")}))
  order by m.id for update`)

const tries = result<{ readonly send: ReturnType<typeof tried.read> }>({ send: tried })

const ofNumber = result<{ readonly number: PhoneNumber.PhoneNumber; readonly fullAt: Time.Instant }>({
  number,
  fullAt: "double precision"
})

const loadNumbers = statement(
  { keys },
  ({ keys }) =>
    `select distinct on (p.id) p.id, to_json(p) as number, p.bucket_full_at as full_at
  from ${bound(keys, "t.phone_number_id")}
  cross join lateral (select p.* from wac.phone_numbers p where p.id = t.phone_number_id offset 0) p`
)

/** Loads a row for each bucket of a customer, under all keys that the customer may have (`Contact.keysOf`). */
const loadPairs = statement(
  { keys },
  ({ keys }) =>
    `select k.customer as name, t.phone_number_id, n.key, n.phone, n.user_id, n.aliases, b.key as bucket, b.full_at,
    b.counted_at
  from ${bound(keys, "t.phone_number_id")}
  left join lateral (${contactNamed("t.phone_number_id", "k.customer")}) n on true
  left join lateral ${pairs("t.phone_number_id", "k.customer")} on true`
)

interface Pair {
  readonly name: string
  readonly phoneNumberId: Id.PhoneNumberId
  /** The key of the customer's contact, if there is one. */
  readonly key: string | null
  readonly bucket: string | null
  readonly fullAt: Time.Instant | null
  readonly countedAt: Time.Instant | null
}

const pair = columns<Pair>({
  name: "text",
  phoneNumberId: "text",
  key: "text",
  bucket: "text",
  fullAt: "double precision",
  countedAt: "bigint"
})

/** Reads the pairs of a number and a customer. */
const pairsOf = (number: Id.PhoneNumberId, to: string, rows: ReadonlyArray<Row>): AbandonStep.Found["pairs"] => {
  const found = rows.map(pair.read)
  const [first] = found
  const contact = first === undefined || first.key === null ? undefined : {
    key: first.key,
    customer: customerOf(rows[0]!)
  }
  const pairOf = (customer: string): AbandonStep.TriedPair => {
    const noted = found.find(({ bucket }) => bucket === Limits.pairBucket(number, customer))
    return { customer, fullAt: noted?.fullAt ?? undefined, countedAt: noted?.countedAt ?? null }
  }
  const [present, ...others] = Contact.keysOf(to, contact)
  return [pairOf(present), ...others.map(pairOf)]
}

const keyName = (workspaceId: string, route: string, key: string): string => `${workspaceId}\n${route}\n${key}`

const load = (commands: ReadonlyArray<MessageStore.AbandonSend>): ReadonlyArray<Statement> => {
  const keys = commands.map(({ message, request }) => ({ ...request, customer: CustomerNames.keyOf(message.to) }))
  return [
    lockWorkspaces({ ids: [...new Set(commands.map(({ request }) => request.workspaceId))] }),
    lockSends({ keys }),
    loadNumbers({ keys }),
    loadPairs({ keys })
  ]
}

const read: StepOptions<MessageStore.AbandonSend, AbandonStep.Loaded, void, AbandonStep.Writes>["read"] = (
  [workspaceRows, sendRows, numberRows, pairRows],
  now
) => {
  const workspaces = new Map(workspaceRows!.map(ofWorkspace.read).map((one) => [one.id, one]))
  const numbers = new Map(numberRows!.map(ofNumber.read).map((one) => [one.number.id, one]))
  const pairs = Array.groupBy(pairRows!, (row) => {
    const { name, phoneNumberId } = pair.read(row)
    return Limits.pairBucket(phoneNumberId, name)
  })
  const sends = new Map(
    sendRows!.map(tries.read).map(({ send }) =>
      [keyName(send.message.workspaceId, send.route, send.key), send] as const
    )
  )
  return {
    now,
    found: ({ message, request: { key, route, workspaceId } }) => {
      const send = sends.get(keyName(workspaceId, route, key))
      const workspace = workspaces.get(workspaceId)
      if (send === undefined || workspace === undefined) return undefined
      const { phoneNumberId } = send.message
      const number = numbers.get(phoneNumberId)
      const ofCustomer = pairs[Limits.pairBucket(phoneNumberId, CustomerNames.keyOf(message.to))] ?? []
      return {
        send,
        workspace,
        workspaceFullAt: workspace.fullAt,
        number: number?.number,
        numberFullAt: number?.fullAt,
        pairs: pairsOf(phoneNumberId, message.to, ofCustomer)
      }
    }
  }
}

const giveBack = statement({
  workspaces: columns<AbandonStep.Writes["workspaces"][number]>({ id: "text", fullAt: "double precision" }),
  numbers: columns<AbandonStep.Writes["numbers"][number]>({
    id: "text",
    fullAt: "double precision",
    customers: "integer"
  }),
  pairs: pair.pick("countedAt").and(bucket).and(row({ key: text() }))
}, ({ numbers, pairs, workspaces }) =>
  `with of_workspaces as (
    update wac.workspaces w set bucket_full_at = s.full_at from ${workspaces("s")} where w.id = s.id
  ), of_pairs as (
    update wac.buckets b set full_at = s.full_at, counted_at = s.counted_at from ${pairs("s")} where b.key = s.key
  )
  update wac.phone_numbers p set bucket_full_at = s.full_at, customers_counted = p.customers_counted - s.customers
  from ${numbers("s")} where p.id = s.id`)

const write = (writes: AbandonStep.Writes): ReadonlyArray<Statement> => {
  const { deadlines, numbers, pairs, removed, sends, workspaces } = writes
  if (sends.length === 0 && removed.length === 0) return []
  return [
    ...keepSends(writes),
    ...awaitDeadlines(deadlines),
    giveBack({
      workspaces,
      numbers,
      pairs: pairs.map(({ customer, phoneNumberId, ...pair }) => ({
        ...pair,
        key: Limits.pairBucket(phoneNumberId, customer)
      }))
    })
  ]
}

/** `MessageStore.abandon`. */
export const abandon: StepOptions<MessageStore.AbandonSend, AbandonStep.Loaded, void, AbandonStep.Writes> = {
  load,
  read,
  decide: AbandonStep.abandon,
  write
}
