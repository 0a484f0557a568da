/**
 * Abandons sends (core's `AbandonStep`): what is loaded and written. As for *accept*, the lock of a workspace guards
 * everything that its sends spend.
 */
import {
  AbandonStep,
  Contact,
  CustomerNames,
  type Id,
  Limits,
  type MessageStore,
  type Time,
  type Workspace
} from "@wac/core"
import { Array } from "effect"
import { instantOrNull, plain } from "../Column.ts"
import { contactNamed, customerOf } from "../contacts/ContactStep.ts"
import type { StepOptions } from "../Database.ts"
import { pairs } from "../limits/Pairs.ts"
import { numberOf } from "../numbers/StoredNumber.ts"
import { doubles, instants, integers, texts } from "../Parameter.ts"
import type { Row, Statement } from "../Statement.ts"
import { awaitDeadlines, keepSends } from "./KeepSends.ts"
import { type StoredSend, triedOf } from "./StoredSend.ts"

const workspacesText = `select w.id, w.tier, w.bucket_full_at as full_at from workspaces w
  where w.id = any ($1::text[]) order by w.id for no key update`

/** The messages that are bound to keys. */
const bound = (what: string): string =>
  `unnest($1::text[], $2::text[], $3::text[], $4::text[]) k (workspace_id, route, key, customer)
  cross join lateral (
    select ${what} from messages t where t.workspace_id = k.workspace_id and t.route = k.route and t.key = k.key offset 0
  ) t`

const sendsText = `select to_json(m) as send from messages m
  where m.id = any (array(select t.id from ${bound("t.id")}))
  order by m.id for update`

const numbersText = `select distinct on (p.id) p.id, to_json(p) as number, p.bucket_full_at as full_at
  from ${bound("t.phone_number_id")}
  cross join lateral (select p.* from phone_numbers p where p.id = t.phone_number_id offset 0) p`

/** A row for each bucket of a customer, under all keys that the customer may have (`Contact.keysOf`). */
const pairsText =
  `select k.customer as name, t.phone_number_id, n.key, n.phone, n.user_id, n.aliases, b.key as bucket, b.full_at,
    b.counted_at
  from ${bound("t.phone_number_id")}
  left join lateral (${contactNamed("t.phone_number_id", "k.customer")}) n on true
  left join lateral ${pairs("t.phone_number_id", "k.customer")} on true`

/** The pairs of a customer with a number. */
const pairsOf = (
  number: Id.PhoneNumberId,
  to: string,
  rows: ReadonlyArray<Row>
): AbandonStep.Found["pairs"] => {
  const [row] = rows
  const contact = row === undefined || row["key"] === null ? undefined : {
    key: plain<string>(row, "key"),
    customer: customerOf(row)
  }
  const pairOf = (customer: string): AbandonStep.TriedPair => {
    const pair = rows.find(({ bucket }) => bucket === Limits.pairBucket(number, customer))
    return {
      customer,
      fullAt: pair && plain<Time.Instant>(pair, "full_at"),
      countedAt: pair === undefined ? null : instantOrNull(pair, "counted_at")
    }
  }
  const [first, ...others] = Contact.keysOf(to, contact)
  return [pairOf(first), ...others.map(pairOf)]
}

const keyName = (workspaceId: unknown, route: unknown, key: unknown): string => `${workspaceId}\n${route}\n${key}`

const load = (commands: ReadonlyArray<MessageStore.AbandonSend>): ReadonlyArray<Statement> => {
  const keys = [
    texts(commands.map(({ request }) => request.workspaceId)),
    texts(commands.map(({ request }) => request.route)),
    texts(commands.map(({ request }) => request.key)),
    texts(commands.map(({ message }) => CustomerNames.keyOf(message.to)))
  ]
  return [
    { text: workspacesText, params: [texts([...new Set(commands.map(({ request }) => request.workspaceId))])] },
    { text: sendsText, params: keys },
    { text: numbersText, params: keys },
    { text: pairsText, params: keys }
  ]
}

const read: StepOptions<MessageStore.AbandonSend, AbandonStep.Loaded, void, AbandonStep.Writes>["read"] = (
  [workspaceRows, sendRows, numberRows, pairRows],
  now
) => {
  const workspaces = new Map(workspaceRows!.map((row) => [plain<string>(row, "id"), row]))
  const numbers = new Map(numberRows!.map((row) => [plain<string>(row, "id"), row]))
  const pairs = Array.groupBy(
    pairRows!,
    (row) => Limits.pairBucket(plain(row, "phone_number_id"), plain<string>(row, "name"))
  )
  const sends = new Map(sendRows!.map((row) => {
    const stored = plain<StoredSend>(row, "send")
    return [keyName(stored["workspace_id"], stored["route"], stored["key"]), triedOf(stored)]
  }))
  return {
    now,
    found: ({ message, request: { key, route, workspaceId } }) => {
      const send = sends.get(keyName(workspaceId, route, key))
      const workspace = workspaces.get(workspaceId)
      if (send === undefined || workspace === undefined) return undefined
      const number = numbers.get(send.message.phoneNumberId)
      const { phoneNumberId } = send.message
      const ofCustomer = pairs[Limits.pairBucket(phoneNumberId, CustomerNames.keyOf(message.to))] ?? []
      return {
        send,
        workspace: { tier: plain<Workspace.Workspace["tier"]>(workspace, "tier") },
        workspaceFullAt: plain<Time.Instant>(workspace, "full_at"),
        number: number && numberOf(plain(number, "number")),
        numberFullAt: number && plain<Time.Instant>(number, "full_at"),
        pairs: pairsOf(phoneNumberId, message.to, ofCustomer)
      }
    }
  }
}

const giveBackText = `with of_workspaces as (
    update workspaces w set bucket_full_at = s.full_at
    from unnest($1::text[], $2::double precision[]) s (id, full_at) where w.id = s.id
  ), of_pairs as (
    update buckets b set full_at = s.full_at, counted_at = s.counted_at
    from unnest($6::text[], $7::double precision[], $8::bigint[]) s (key, full_at, counted_at) where b.key = s.key
  )
  update phone_numbers p set bucket_full_at = s.full_at, customers_counted = p.customers_counted - s.customers
  from unnest($3::text[], $4::double precision[], $5::integer[]) s (id, full_at, customers) where p.id = s.id`

const write = (writes: AbandonStep.Writes): ReadonlyArray<Statement> => {
  const { deadlines, numbers, pairs, removed, sends, workspaces } = writes
  if (sends.length === 0 && removed.length === 0) return []
  return [
    ...keepSends(writes),
    ...awaitDeadlines(deadlines),
    {
      text: giveBackText,
      params: [
        texts(workspaces.map(({ id }) => id)),
        doubles(workspaces.map(({ fullAt }) => fullAt)),
        texts(numbers.map(({ id }) => id)),
        doubles(numbers.map(({ fullAt }) => fullAt)),
        integers(numbers.map(({ customers }) => customers)),
        texts(pairs.map(({ customer, phoneNumberId }) => Limits.pairBucket(phoneNumberId, customer))),
        doubles(pairs.map(({ fullAt }) => fullAt)),
        instants(pairs.map(({ countedAt }) => countedAt))
      ]
    }
  ]
}

/** `MessageStore.abandon`. */
export const abandon: StepOptions<MessageStore.AbandonSend, AbandonStep.Loaded, void, AbandonStep.Writes> = {
  load,
  read,
  decide: AbandonStep.abandon,
  write
}
