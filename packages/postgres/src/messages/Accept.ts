/**
 * Accepts sends (core's `AcceptStep`): what is loaded and written. The lock of a workspace serializes its sends: it
 * guards everything that they spend of the workspace, its numbers and their customers.
 */
import {
  AcceptStep,
  Contact,
  CustomerNames,
  type Id,
  Limits,
  type MessageStore,
  Quota,
  type Step,
  type Time,
  type Workspace
} from "@wac/core"
import { Array } from "effect"
import { instant, instantOrNull, plain } from "../Column.ts"
import { aliasesOf, contact, contactNamed, contactOf, isKnownName } from "../contacts/ContactStep.ts"
import * as StoredSuppression from "../contacts/StoredSuppression.ts"
import type { StepOptions } from "../Database.ts"
import { pairs } from "../limits/Pairs.ts"
import { sender } from "../numbers/Sender.ts"
import { numberOf } from "../numbers/StoredNumber.ts"
import { doubles, instants, integers, jsons, texts } from "../Parameter.ts"
import type { Row, Rows, Statement } from "../Statement.ts"
import { templateOf } from "../templates/StoredTemplate.ts"
import { boundOf, messageOf, type StoredSend } from "./StoredSend.ts"

/** With the workspaces of a portfolio's other numbers, since its numbers share a messaging limit. */
const lockText = `select w.id, w.name, w.created_at, w.suspended, w.tier, w.bucket_full_at, w.monthly_quota
  from workspaces w
  where w.id = any ($1::text[] || array(
    select o.workspace_id from phone_numbers p
    join phone_numbers o on o.limit_pool = p.limit_pool and o.workspace_id <> p.workspace_id
    where p.workspace_id = any ($1::text[]) and p.portfolio_id is not null
  ))
  order by w.id for no key update`

const senderOfKind = { workspaceId: "k.workspace_id", provider: "k.provider", named: "k.sender" } as const

/**
 * What is loaded once for all sends of a kind. Quotas are loaded for the newest two months, which include the current
 * one whatever the caller's clock says, and for the months that callers name, which count in tests that control time.
 */
const kindsText = `select a.id is not null as is_known, a.revoked_at, a.expires_at, a.phone_number_ids,
    to_json(p.p) as sender,
    (
      select json_object_agg(o.id, o.customers_counted) from phone_numbers o
      where o.limit_pool = (p.p).limit_pool and o.id <> (p.p).id
    ) as others,
    to_json(t.t) as template,
    (
      select json_object_agg(q.month, q.used) from (
        (
          select q.month, q.used from quota_usage q
          where q.workspace_id = k.workspace_id order by q.month desc limit 2
        )
        union all
        select q.month, q.used from unnest($7::text[]) n (month)
        cross join lateral (
          select q.month, q.used from quota_usage q
          where q.workspace_id = k.workspace_id and q.month = n.month offset 0
        ) q
      ) q
    ) as used
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
    with ordinality k (workspace_id, api_key_id, provider, sender, template, language, place)
  left join lateral (
    select a.id, a.revoked_at, a.expires_at, a.phone_number_ids from api_keys a
    where a.id = k.api_key_id and a.workspace_id = k.workspace_id offset 0
  ) a on true
  ${sender("p", senderOfKind)}
  left join lateral (
    select t from templates t
    where t.workspace_id = k.workspace_id and t.provider_account_id = (p.p).provider_account_id
      and t.name = k.template and t.language = k.language offset 0
  ) t on true
  order by k.place`

/** Which rare sends are in a batch: the statement for all others does without what these need. */
interface Rare {
  /** A send to a user id, whose contact may have another key. */
  readonly isToUser: boolean
  /** A send to a name that is valid only if the workspace knows it. */
  readonly isToKnown: boolean
  /** A send of a campaign, which may have other messages to the customer. */
  readonly isOfCampaign: boolean
}

/**
 * What is loaded for each send; for most there is nothing. A send has a row for each bucket of the customer. An
 * unclaimed message is locked unless another transaction holds it: it may be claimed again, or lose its key.
 */
const sendsText = ({ isOfCampaign, isToKnown, isToUser }: Rare): string =>
  `with k as materialized (
    select k.place, k.workspace_id, k.route, p.id as number_id, (
      select array_agg(o.id) from phone_numbers o where o.limit_pool = p.limit_pool and o.id <> p.id
    ) as others
    from unnest($1::text[], $2::text[], $3::text[], $4::text[])
      with ordinality k (workspace_id, provider, sender, route, place)
    ${sender("p.id, p.limit_pool", senderOfKind)}
  )
  select s.place, o.suppressions, k.number_id, b.key as bucket, b.full_at, b.counted_at, b.marketing_at, ${
    contact.names("n")
  },
    case when k.others is not null then (
      select json_agg(json_build_array(o.id, b.key, b.counted_at)) from unnest(k.others) o (id)
      cross join lateral ${pairs("o.id", "s.customer")} where b.counted_at is not null
    ) end as elsewhere,
    ${isOfCampaign ? "t.t as twins, " : ""}${
    isToKnown ? `${isKnownName("k.workspace_id", "s.customer")} as is_known_name, ` : ""
  }to_json(coalesce(l.l, m.m)) as bound, l.l is null as is_busy
  from unnest($5::integer[], $6::text[], $7::text[], $8::text[]${isOfCampaign ? ", $9::json[]" : ""})
    with ordinality s (kind, key, customer, hash, ${isOfCampaign ? "forms, " : ""}place)
  join k on k.place = s.kind
  left join lateral (
    select m from messages m where m.workspace_id = k.workspace_id and m.route = k.route and m.key = s.key offset 0
  ) m on true
  left join lateral (
    select l from messages l where l.id = (m.m).id and l.claim_token is null for update skip locked
  ) l on true
  left join lateral (
    ${contactNamed("k.number_id", "s.customer", { ids: isToUser })}
  ) n on true
  left join lateral (
    select json_agg(o) as suppressions from ${StoredSuppression.under("k.workspace_id", "s.hash")} o
  ) o on true
  left join lateral ${pairs("k.number_id", "s.customer")} on true${
    isOfCampaign
      ? `
  left join lateral (
    select json_agg(t) as t from messages t
    where t.workspace_id = k.workspace_id and t.route = k.route
      and t.key = any (array[n.key, n.user_id] || ${aliasesOf("n")} || array(select json_array_elements_text(s.forms)))
      and t.key <> s.key
  ) t on true`
      : ""
  }
  where (m.m).id is not null or n.key is not null or b.full_at is not null or k.others is not null
    or o.suppressions is not null${isToKnown ? " or true" : ""}`

/** The properties that sends of a kind share. */
interface Kind {
  readonly place: number
  readonly first: MessageStore.AcceptSend
}

interface Kinds {
  readonly kinds: ReadonlyArray<MessageStore.AcceptSend>
  /** The index of each send's kind. */
  readonly places: ReadonlyArray<number>
}

/** Of batches under way, which are grouped to load and read again. */
const grouped = new WeakMap<ReadonlyArray<MessageStore.AcceptSend>, Kinds>()

/** Groups a batch's sends into kinds. */
const kindsOf = (commands: ReadonlyArray<MessageStore.AcceptSend>): Kinds => {
  const before = grouped.get(commands)
  if (before !== undefined) return before
  const kinds = new Map<string, Kind>()
  const places = commands.map((command) => {
    const { apiKeyId, message, provider, request: { route, workspaceId } } = command
    const ofTemplate = message.type === "template" ? `${message.template.name}\n${message.template.language}` : ""
    const name = `${workspaceId}\n${apiKeyId}\n${route}\n${provider}\n${message.from ?? ""}\n${ofTemplate}`
    const known = kinds.get(name)
    if (known !== undefined) return known.place
    const kind = { place: kinds.size, first: command }
    kinds.set(name, kind)
    return kind.place
  })
  const groups = { kinds: [...kinds.values()].map(({ first }) => first), places }
  grouped.set(commands, groups)
  return groups
}

const load = (commands: ReadonlyArray<MessageStore.AcceptSend>): ReadonlyArray<Statement> => {
  const { kinds, places } = kindsOf(commands)
  const templates = kinds.map(({ message }) => message.type === "template" ? message.template : null)
  const workspaces = texts(kinds.map(({ request }) => request.workspaceId))
  const providers = texts(kinds.map(({ provider }) => provider))
  const senders = texts(kinds.map(({ message }) => message.from ?? null))
  const isOfCampaign = commands.some(({ campaignId }) => campaignId !== null)
  return [
    { text: lockText, params: [texts([...new Set(kinds.map(({ request }) => request.workspaceId))])] },
    {
      text: kindsText,
      params: [
        workspaces,
        texts(kinds.map(({ apiKeyId }) => apiKeyId)),
        providers,
        senders,
        texts(templates.map((template) => template && template.name)),
        texts(templates.map((template) => template && template.language)),
        texts([...new Set([...new Set(commands.map(({ now }) => now))].map(Quota.monthOf))])
      ]
    },
    {
      text: sendsText({
        isToUser: commands.some(({ message }) => CustomerNames.isUserId(message.to)),
        isToKnown: commands.some(({ message }) => CustomerNames.judge(message.to)._tag === "IfKnown"),
        isOfCampaign
      }),
      params: [
        workspaces,
        providers,
        senders,
        texts(kinds.map(({ request }) => request.route)),
        integers(places.map((place) => place + 1)),
        texts(commands.map(({ request }) => request.key)),
        texts(commands.map(({ message }) => CustomerNames.keyOf(message.to))),
        texts(commands.map(({ hash }) => hash)),
        ...isOfCampaign ? [jsons(commands.map(({ message }) => Contact.campaignKeysOf(message.to, undefined)))] : []
      ]
    }
  ]
}

const workspaceOf = (row: Row): AcceptStep.OfWorkspace => ({
  workspace: {
    id: plain(row, "id"),
    name: plain(row, "name"),
    createdAt: instant(row, "created_at"),
    suspended: plain(row, "suspended"),
    tier: plain(row, "tier"),
    monthlyQuota: plain(row, "monthly_quota")
  } satisfies Workspace.Workspace,
  fullAt: plain(row, "bucket_full_at")
})

/** A value for each number. */
type ByNumber<A> = Readonly<Record<string, A>> | null

const byNumber = <A>(values: ByNumber<A>): ReadonlyArray<readonly [Id.PhoneNumberId, A]> =>
  Object.entries(values ?? {}).map(([id, value]) => [id as Id.PhoneNumberId, value])

type OfKind = Pick<AcceptStep.Found, "apiKey" | "sender" | "template" | "quotaUsed">

const ofKind = (row: Row): OfKind => {
  const number = plain<Row | null>(row, "sender")
  const template = plain<Row | null>(row, "template")
  const others = plain<ByNumber<number>>(row, "others")
  const used = plain<Readonly<Record<string, number>> | null>(row, "used")
  return {
    apiKey: plain<boolean>(row, "is_known")
      ? {
        revokedAt: instantOrNull(row, "revoked_at"),
        expiresAt: instantOrNull(row, "expires_at"),
        phoneNumberIds: plain(row, "phone_number_ids")
      }
      : undefined,
    sender: number === null ? undefined : {
      number: numberOf(number),
      fullAt: plain(number, "bucket_full_at"),
      customers: new Map([[plain(number, "id"), plain<number>(number, "customers_counted")], ...byNumber(others)]),
      isExact: false
    },
    template: template === null ? undefined : templateOf(template),
    quotaUsed: (month) => used?.[month] ?? 0
  }
}

type OfSend = Pick<AcceptStep.Found, "contact" | "suppressions" | "isKnownName" | "pairs" | "bound" | "twins">

const nothing: OfSend = {
  contact: undefined,
  suppressions: [],
  isKnownName: false,
  pairs: [],
  bound: undefined,
  twins: []
}

/** A customer's count against the messaging limit by another number: the number, the pair's bucket, and the time. */
type Elsewhere = ReadonlyArray<readonly [Id.PhoneNumberId, string, Time.Instant]>

const ofSend = ({ message: { to } }: MessageStore.AcceptSend, rows: ReadonlyArray<Row>): OfSend => {
  const [row] = rows
  if (row === undefined) return nothing
  const contact = row["key"] === null ? undefined : contactOf(row)
  const keys = Contact.keysOf(to, contact)
  const pairOf = (
    phoneNumberId: Id.PhoneNumberId,
    bucket: string,
    noted: Partial<AcceptStep.OfPair>
  ): AcceptStep.OfPair => ({
    phoneNumberId,
    customer: keys.find((key) => Limits.pairBucket(phoneNumberId, key) === bucket)!,
    fullAt: undefined,
    countedAt: null,
    marketingAt: [],
    ...noted
  })
  const bound = plain<StoredSend | null>(row, "bound")
  const twins = plain<ReadonlyArray<StoredSend> | null | undefined>(row, "twins") ?? []
  return {
    contact,
    suppressions: (plain<ReadonlyArray<Row> | null>(row, "suppressions") ?? []).map(StoredSuppression.suppressionOf),
    isKnownName: plain<boolean | undefined>(row, "is_known_name") === true,
    pairs: [
      ...rows.flatMap((row) =>
        row["bucket"] === null ? [] : [pairOf(plain(row, "number_id"), plain(row, "bucket"), {
          fullAt: plain(row, "full_at"),
          countedAt: instantOrNull(row, "counted_at"),
          marketingAt: plain<ReadonlyArray<Time.Instant> | null>(row, "marketing_at") ?? []
        })]
      ),
      ...(plain<Elsewhere | null>(row, "elsewhere") ?? []).map(([id, bucket, countedAt]) =>
        pairOf(id, bucket, { countedAt })
      )
    ],
    bound: bound === null ? undefined : boundOf(bound, plain(row, "is_busy")),
    twins: twins.map(messageOf)
  }
}

/** What is loaded, and the customers that were removed because they no longer count, by their pairs' bucket keys. */
interface Loaded extends AcceptStep.Loaded {
  readonly letGo: ReadonlyArray<string>
}

const read = (
  [workspaceRows, kindRows, sendRows]: ReadonlyArray<Rows>,
  now: Step.Known["now"],
  commands: ReadonlyArray<MessageStore.AcceptSend>
): Loaded => {
  const { places } = kindsOf(commands)
  const workspaces = new Map(workspaceRows!.map((row) => [plain<string>(row, "id"), workspaceOf(row)]))
  const kinds = kindRows!.map(ofKind)
  const sends = Array.groupBy(sendRows!, (row) => `${row["place"]}`)
  const found = new Map(commands.map((command, i) => [
    command,
    {
      workspace: workspaces.get(command.request.workspaceId),
      ...kinds[places[i]!]!,
      ...ofSend(command, sends[`${i + 1}`] ?? [])
    }
  ]))
  return { now, found: (command) => found.get(command)!, letGo: [] }
}

/** The maximum number of a phone number's customers that are removed at once, to keep that short. */
const letGoAtOnce = 1000

/** Removes customers who no longer count. If there are more than the maximum, also counts those who still do. */
const lapsedText = `select n.phone_number_id, g.keys, case when cardinality(g.keys) = $3 then (
      select count(*)::integer from buckets b
      where b.phone_number_id = n.phone_number_id and b.counted_at > n.lapsed
    ) end as counted
  from unnest($1::text[], $2::bigint[]) n (phone_number_id, lapsed)
  cross join lateral (
    select coalesce(array_agg(o.key), '{}') as keys from (
      select b.key from buckets b
      where b.phone_number_id = n.phone_number_id and b.counted_at <= n.lapsed
      order by b.counted_at limit $3
      for update skip locked
    ) o
  ) g`

const more: NonNullable<StepOptions<never, Loaded, never, never, AcceptStep.Need>["more"]> = {
  load: (needs) => [{
    text: lapsedText,
    params: [
      texts(needs.flatMap(({ phoneNumberIds }) => phoneNumberIds)),
      instants(needs.flatMap(({ lapsed, phoneNumberIds }) => phoneNumberIds.map(() => lapsed))),
      letGoAtOnce
    ]
  }],
  read: ({ found, letGo, now }, _, [rows]) => {
    const counted = new Map(rows!.map((row) => [
      plain<Id.PhoneNumberId>(row, "phone_number_id"),
      { keys: plain<ReadonlyArray<string>>(row, "keys"), counted: plain<number | null>(row, "counted") }
    ]))
    const gone = new Set([...letGo, ...[...counted.values()].flatMap(({ keys }) => keys)])
    return {
      now,
      letGo: [...gone],
      found: (command) => {
        const { pairs, sender, ...others } = found(command)
        if (sender === undefined || !counted.has(sender.number.id)) return { pairs, sender, ...others }
        return {
          ...others,
          sender: {
            ...sender,
            customers: new Map([...sender.customers].map(([id, before]) => {
              const exact = counted.get(id)
              return [id, exact === undefined ? before : exact.counted ?? before - exact.keys.length]
            })),
            isExact: true
          },
          pairs: pairs.map((pair) =>
            gone.has(Limits.pairBucket(pair.phoneNumberId, pair.customer)) ? { ...pair, countedAt: null } : pair
          )
        }
      }
    }
  }
}

const letGoText = `with gone as (
    update buckets b set counted_at = null where b.key = any ($1::text[])
    returning b.phone_number_id
  )
  update phone_numbers p set customers_counted = p.customers_counted - g.customers
  from (select g.phone_number_id, count(*) as customers from gone g group by g.phone_number_id) g
  where p.id = g.phone_number_id`

const unbindText = `update messages m set route = null, key = null, fingerprint = null, claim_token = null,
    lease_until = null, answer = null, last_failure = null, expires_at = null
  where m.id = any ($1::text[])`

const limitText = `update workspaces w set bucket_full_at = s.full_at
  from unnest($1::text[], $2::double precision[]) s (id, full_at) where w.id = s.id`

/**
 * One statement, since starting six takes longer than running one for a batch. PostgreSQL does not define the order of
 * its parts, which does not matter, because the workspaces are locked. Transactions that return quotas do not lock
 * workspaces, so several quotas are written in the order of their keys.
 */
const spendText = `with of_workspaces as (
    ${limitText}
  ), of_pairs as (
    insert into buckets as b (key, full_at, phone_number_id, counted_at, marketing_at, marketing_until)
    select s.key, s.full_at, s.phone_number_id, s.counted_at, s.marketing_at, s.marketing_until
    from unnest($6::text[], $7::double precision[], $8::text[], $9::bigint[], $29::json[], $30::bigint[])
      s (key, full_at, phone_number_id, counted_at, marketing_at, marketing_until)
    on conflict (key) do update set full_at = excluded.full_at, phone_number_id = excluded.phone_number_id,
      counted_at = coalesce(excluded.counted_at, b.counted_at),
      marketing_at = coalesce(excluded.marketing_at, b.marketing_at),
      marketing_until = coalesce(excluded.marketing_until, b.marketing_until)
  ), of_numbers as (
    update phone_numbers p set bucket_full_at = s.full_at, customers_counted = p.customers_counted + s.customers
    from unnest($10::text[], $11::double precision[], $12::integer[]) s (id, full_at, customers)
    where p.id = s.id
  ), of_months as (
    insert into quota_usage as q (workspace_id, month, used)
    select s.workspace_id, s.month, s.messages
    from unnest($3::text[], $4::text[], $5::integer[]) s (workspace_id, month, messages) order by 1, 2
    on conflict (workspace_id, month) do update set used = q.used + excluded.used
  ), claims as materialized (
    select c.*
    from unnest($13::text[], $14::text[], $15::text[], $16::text[], $17::text[], $18::json[], $19::text[], $20::bigint[],
      $21::text[], $22::text[], $23::text[], $24::text[], $25::text[], $26::bigint[], $27::bigint[], $28::bigint[],
      $31::text[])
      c (id, workspace_id, api_key_id, phone_number_id, from_number, content, status, now, month, route, key,
        fingerprint, claim_token, lease_until, counted_at, counted_before, customer)
  ), conversations as (
    insert into conversations (message_id, workspace_id, phone_number_id, customer, is_inbound)
    select c.id, c.workspace_id, c.phone_number_id, c.customer, false from claims c
  ), deadlines as (
    insert into message_deadlines (workspace_id, due_at, message_ids)
    select c.workspace_id, min(c.lease_until), array_agg(c.id) from claims c group by c.workspace_id
  )
  insert into messages (id, workspace_id, api_key_id, phone_number_id, from_number, content, status, status_at,
    created_at, quota_month, route, key, fingerprint, claim_token, lease_until, counted_at, counted_before)
  select c.id, c.workspace_id, c.api_key_id, c.phone_number_id, c.from_number, c.content, c.status, c.now, c.now,
    c.month, c.route, c.key, c.fingerprint, c.claim_token, c.lease_until, c.counted_at, c.counted_before
  from claims c`

const retryText = `with retried as (
    update messages m set status = s.status, status_at = s.now, api_key_id = s.api_key_id, quota_month = s.month,
      claim_token = s.claim_token, lease_until = s.lease_until, tried_before = s.tried_before,
      counted_at = s.counted_at, counted_before = s.counted_before, content = coalesce(s.content, m.content)
    from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
      $9::bigint[], $10::bigint[], $12::json[])
      s (id, status, now, api_key_id, month, claim_token, lease_until, tried_before, counted_at, counted_before, content)
    where m.id = s.id
    returning m.workspace_id, m.lease_until, m.id, m.phone_number_id
  ), conversations as (
    insert into conversations (message_id, workspace_id, phone_number_id, customer, is_inbound)
    select r.id, r.workspace_id, r.phone_number_id, u.customer, false
    from unnest($1::text[], $11::text[]) u (id, customer) join retried r on r.id = u.id
    on conflict (message_id) do nothing
  )
  insert into message_deadlines (workspace_id, due_at, message_ids)
  select r.workspace_id, r.lease_until, array[r.id] from retried r`

const countedAt = ({ counted, message }: AcceptStep.Claim) => counted && message.statusAt
const countedBefore = ({ counted }: AcceptStep.Claim) => counted && counted.before

const retry = (claims: ReadonlyArray<AcceptStep.Claim>): ReadonlyArray<Statement> =>
  claims.length === 0 ? [] : [{
    text: retryText,
    params: [
      texts(claims.map(({ message }) => message.id)),
      texts(claims.map(({ message }) => message.status)),
      instants(claims.map(({ message }) => message.statusAt)),
      texts(claims.map(({ message }) => message.apiKeyId)),
      texts(claims.map(({ quotaMonth }) => quotaMonth)),
      texts(claims.map(({ claim }) => claim.token)),
      instants(claims.map(({ claim }) => claim.leaseUntil)),
      instants(claims.map(({ before }) => before!.statusAt)),
      instants(claims.map(countedAt)),
      instants(claims.map(countedBefore)),
      texts(claims.map(({ customer }) => customer)),
      jsons(claims.map(({ before, message: { content } }) => before!.content.to === content.to ? null : content))
    ]
  }]

const spend = (
  { numbers, pairs, quotas, workspaces }: AcceptStep.Writes,
  claims: ReadonlyArray<AcceptStep.Claim>
): ReadonlyArray<Statement> => {
  const limits = [texts(workspaces.map(({ id }) => id)), doubles(workspaces.map(({ fullAt }) => fullAt))]
  if (numbers.length === 0 && pairs.length === 0 && claims.length === 0) {
    return workspaces.length === 0 ? [] : [{ text: limitText, params: limits }]
  }
  const messages = claims.map(({ message }) => message)
  return [{
    text: spendText,
    params: [
      ...limits,
      texts(quotas.map(({ workspaceId }) => workspaceId)),
      texts(quotas.map(({ month }) => month)),
      integers(quotas.map(({ messages }) => messages)),
      texts(pairs.map(({ customer, phoneNumberId }) => Limits.pairBucket(phoneNumberId, customer))),
      doubles(pairs.map(({ fullAt }) => fullAt)),
      texts(pairs.map(({ phoneNumberId }) => phoneNumberId)),
      instants(pairs.map(({ countedAt }) => countedAt)),
      texts(numbers.map(({ id }) => id)),
      doubles(numbers.map(({ fullAt }) => fullAt)),
      integers(numbers.map(({ customers }) => customers)),
      texts(messages.map(({ id }) => id)),
      texts(messages.map(({ workspaceId }) => workspaceId)),
      texts(messages.map(({ apiKeyId }) => apiKeyId)),
      texts(messages.map(({ phoneNumberId }) => phoneNumberId)),
      texts(messages.map(({ from }) => from)),
      jsons(messages.map(({ content }) => content)),
      texts(messages.map(({ status }) => status)),
      instants(messages.map(({ createdAt }) => createdAt)),
      texts(claims.map(({ quotaMonth }) => quotaMonth)),
      texts(claims.map(({ request }) => request.route)),
      texts(claims.map(({ request }) => request.key)),
      texts(claims.map(({ request }) => request.fingerprint)),
      texts(claims.map(({ claim }) => claim.token)),
      instants(claims.map(({ claim }) => claim.leaseUntil)),
      instants(claims.map(countedAt)),
      instants(claims.map(countedBefore)),
      jsons(pairs.map(({ marketing }) => marketing && marketing.at)),
      instants(pairs.map(({ marketing }) => marketing && marketing.until)),
      texts(claims.map(({ customer }) => customer))
    ]
  }]
}

const write = (writes: AcceptStep.Writes, { letGo }: Loaded): ReadonlyArray<Statement> => {
  const isRetry = ({ before }: AcceptStep.Claim) => before !== undefined
  const uncounted = [
    ...letGo,
    ...writes.moved.map(({ customer, phoneNumberId }) => Limits.pairBucket(phoneNumberId, customer))
  ]
  return [
    ...uncounted.length === 0 ? [] : [{ text: letGoText, params: [texts(uncounted)] }],
    ...writes.unbound.length === 0 ? [] : [{ text: unbindText, params: [texts(writes.unbound)] }],
    ...retry(writes.claims.filter(isRetry)),
    ...spend(writes, writes.claims.filter((claim) => !isRetry(claim)))
  ]
}

/** `MessageStore.accept`. */
export const accept: StepOptions<
  MessageStore.AcceptSend,
  Loaded,
  MessageStore.Accepted,
  AcceptStep.Writes,
  AcceptStep.Need
> = { load, read, decide: AcceptStep.accept, more, write }
