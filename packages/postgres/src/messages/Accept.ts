/**
 * Accepts sends (core's `AcceptStep`): loads what the decisions need, and writes the results. The lock of a workspace
 * serializes its sends: it guards everything that they spend of the workspace, its numbers and their customers. Sends
 * of one *kind* share the workspace, API key, route, provider, sender and template, so what belongs to these is loaded
 * once.
 */
import {
  AcceptStep,
  Contact,
  CustomerNames,
  type Id,
  Limits,
  type Message,
  type MessageStore,
  Quota,
  type Step,
  type Suppression,
  type Template,
  type Time
} from "@wac/core"
import { Array } from "effect"
import {
  bigint,
  columns,
  double,
  integer,
  json,
  list,
  result,
  row,
  type Table,
  text,
  texts,
  unlessEmpty
} from "../Columns.ts"
import { aliasesOf, contact, contactNamed, contactOf, isKnownName } from "../contacts/ContactStep.ts"
import * as StoredSuppression from "../contacts/StoredSuppression.ts"
import type { StepOptions } from "../Database.ts"
import { pairs } from "../limits/Pairs.ts"
import { sender } from "../numbers/Sender.ts"
import { number } from "../numbers/StoredNumber.ts"
import { enqueue } from "../queue/Enqueue.ts"
import * as Sizes from "../queue/Sizes.ts"
import { type Row, type Rows, type Statement, statement, value } from "../Statement.ts"
import { template } from "../templates/StoredTemplate.ts"
import { workspace } from "../workspaces/StoredWorkspace.ts"
import { boundSend, claim, lastTry, message, quota, request } from "./StoredSend.ts"

/**
 * Locks the workspaces of sends, and the workspaces of other numbers of the same portfolio, since its numbers share a
 * messaging limit.
 */
const lock = statement(
  { ids: list<Id.WorkspaceId>("text") },
  ({ ids }) =>
    `select ${workspace.names("w")}, w.bucket_full_at
  from wac.workspaces w
  where w.id = any (${ids} || array(
    select o.workspace_id from wac.phone_numbers p
    join wac.phone_numbers o on o.limit_pool = p.limit_pool and o.workspace_id <> p.workspace_id
    where p.workspace_id = any (${ids}) and p.portfolio_id is not null
  ))
  order by w.id for no key update`
)

/** The workspace, provider and sender that the sends of a kind share. */
const origin = row({ workspaceId: text<Id.WorkspaceId>(), provider: text(), sender: text<string | null>() })

const senderOfKind = { workspaceId: "k.workspace_id", provider: "k.provider", named: "k.sender" } as const

const apiKey = columns<NonNullable<AcceptStep.Found["apiKey"]>>({
  revokedAt: "bigint",
  expiresAt: "bigint",
  phoneNumberIds: "text[]"
})

/**
 * Loads what all sends of a kind share. Quotas are loaded for the newest two months, which include the current month
 * whatever the caller's clock shows, and for the callers' months, which count in tests that control time.
 */
const loadKinds = statement({
  kinds: origin.and(row({
    apiKeyId: text<Id.ApiKeyId | null>(),
    template: text<string | null>(),
    language: text<string | null>()
  })),
  months: list<string>("text")
}, ({ kinds, months }) =>
  `select a.id is not null as is_known, ${apiKey.names("a")},
    to_json(p.p) as sender,
    (
      select json_object_agg(o.id, o.customers_counted) from wac.phone_numbers o
      where o.limit_pool = (p.p).limit_pool and o.id <> (p.p).id
    ) as others,
    to_json(t.t) as template,
    (
      select json_object_agg(q.month, q.used) from (
        (
          select q.month, q.used from wac.quota_usage q
          where q.workspace_id = k.workspace_id order by q.month desc limit 2
        )
        union all
        select q.month, q.used from unnest(${months}) n (month)
        cross join lateral (
          select q.month, q.used from wac.quota_usage q
          where q.workspace_id = k.workspace_id and q.month = n.month offset 0
        ) q
      ) q
    ) as used
  from ${kinds("k", "place")}
  left join lateral (
    select a.id, ${apiKey.names("a")} from wac.api_keys a
    where a.id = k.api_key_id and a.workspace_id = k.workspace_id offset 0
  ) a on true
  ${sender("p", senderOfKind)}
  left join lateral (
    select t from wac.templates t
    where t.workspace_id = k.workspace_id and t.provider_account_id = (p.p).provider_account_id
      and t.name = k.template and t.language = k.language offset 0
  ) t on true
  order by k.place`)

/**
 * Which rare sends a batch contains. The statement for a batch omits the joins that only missing kinds of sends need.
 */
interface Rare {
  /** A send to a user id, whose contact may have another key. */
  readonly isToUser: boolean
  /** A send to a name that is valid only if the workspace knows it. */
  readonly isToKnown: boolean
  /** A send of a campaign, which may have other messages to the customer. */
  readonly isOfCampaign: boolean
}

/** The inputs for each send. */
const sendInput = row({
  kind: integer(),
  key: text<MessageStore.KeyedRequest["key"]>(),
  customer: text(),
  hash: text(),
  forms: json<ReadonlyArray<string>>()
})

/**
 * Loads what belongs to a single send; most sends have no row. A send has a row for each bucket of its customer. An
 * unclaimed message is locked unless another transaction holds it, since this step may claim it again or delete its
 * key.
 */
const loadSends = ({ isOfCampaign, isToKnown, isToUser }: Rare) =>
  statement({
    kinds: origin.and(columns<Pick<MessageStore.KeyedRequest, "route">>({ route: "text" })),
    sends: isOfCampaign ? sendInput : sendInput.omit("forms")
  }, ({ kinds, sends }) =>
    `with k as materialized (
    select k.place, k.workspace_id, k.route, p.id as number_id, (
      select array_agg(o.id) from wac.phone_numbers o where o.limit_pool = p.limit_pool and o.id <> p.id
    ) as others
    from ${kinds("k", "place")}
    ${sender("p.id, p.limit_pool", senderOfKind)}
  )
  select s.place, o.suppressions, k.number_id, b.key as bucket, b.full_at, b.counted_at, b.marketing_at, ${
      contact.names("n")
    },
    case when k.others is not null then (
      select json_agg(json_build_array(o.id, b.key, b.counted_at)) from unnest(k.others) o (id)
      cross join lateral ${pairs("o.id", "s.customer")} where b.counted_at is not null
    ) end as elsewhere,
    ${isOfCampaign ? "t.t" : "null::json"} as twins,
    ${isToKnown ? isKnownName("k.workspace_id", "s.customer") : "false"} as is_known_name,
    to_json(coalesce(l.l, m.m)) as bound, l.l is null as is_busy
  from ${sends("s", "place")}
  join k on k.place = s.kind
  left join lateral (
    select m from wac.messages m where m.workspace_id = k.workspace_id and m.route = k.route and m.key = s.key offset 0
  ) m on true
  left join lateral (
    select l from wac.messages l where l.id = (m.m).id and l.claim_token is null for update skip locked
  ) l on true
  left join lateral (
    ${contactNamed("k.number_id", "s.customer", { ids: isToUser })}
  ) n on true
  left join lateral (
    select json_agg(o) as suppressions from ${StoredSuppression.byHash("k.workspace_id", "s.hash")} o
  ) o on true
  left join lateral ${pairs("k.number_id", "s.customer")} on true${
      isOfCampaign
        ? `
  left join lateral (
    select json_agg(t) as t from wac.messages t
    where t.workspace_id = k.workspace_id and t.route = k.route
      and t.key = any (array[n.key, n.user_id] || ${aliasesOf("n")} || array(select json_array_elements_text(s.forms)))
      and t.key <> s.key
  ) t on true`
        : ""
    }
  where (m.m).id is not null or n.key is not null or b.full_at is not null or k.others is not null
    or o.suppressions is not null${isToKnown ? " or true" : ""}`)

/** {@link loadSends} for each combination of rare sends, at the index of {@link placeOf}. */
const loadSendsOf = Array.makeBy(
  8,
  (bits) => loadSends({ isToUser: (bits & 1) > 0, isToKnown: (bits & 2) > 0, isOfCampaign: (bits & 4) > 0 })
)

const placeOf = ({ isOfCampaign, isToKnown, isToUser }: Rare): number =>
  Number(isToUser) + 2 * Number(isToKnown) + 4 * Number(isOfCampaign)

const isOfCampaign = ({ queue }: MessageStore.AcceptSend): boolean => queue !== null && queue.campaignId !== null

/** A kind of sends: its number, and the first send of that kind. */
interface Kind {
  readonly place: number
  readonly first: MessageStore.AcceptSend
}

interface Kinds {
  readonly kinds: ReadonlyArray<MessageStore.AcceptSend>
  /** The index of each send's kind. */
  readonly places: ReadonlyArray<number>
}

/** The groups of batches in progress, so that {@link load} and {@link read} group a batch only once. */
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
  const given = kinds.map(({ apiKeyId, message, provider, request: { route, workspaceId } }) => ({
    workspaceId,
    provider,
    sender: message.from ?? null,
    route,
    apiKeyId,
    template: message.type === "template" ? message.template.name : null,
    language: message.type === "template" ? message.template.language : null
  }))
  const place = placeOf({
    isToUser: commands.some(({ message }) => CustomerNames.isUserId(message.to)),
    isToKnown: commands.some(({ message }) => CustomerNames.judge(message.to)._tag === "IfKnown"),
    isOfCampaign: commands.some(isOfCampaign)
  })
  const workspaceIds = [...new Set(kinds.map(({ request }) => request.workspaceId))]
  return [
    lock({ ids: workspaceIds }),
    loadKinds({
      kinds: given,
      months: [...new Set([...new Set(commands.map(({ now }) => now))].map(Quota.monthOf))]
    }),
    loadSendsOf[place]!({
      kinds: given,
      sends: commands.map((command, i) => {
        const { hash, message, request: { key } } = command
        return {
          kind: places[i]! + 1,
          key,
          customer: CustomerNames.keyOf(message.to),
          hash,
          forms: isOfCampaign(command) ? Contact.campaignKeysOf(message.to, undefined) : []
        }
      })
    }),
    ...commands.some(({ later }) => later !== null) ? [Sizes.load({ workspaceIds })] : []
  ]
}

/** When the bucket in a row of `workspaces` or `phone_numbers` is full. */
const bucket = row({ bucketFullAt: double() })

/** How many customers count against a number's messaging limit. */
const counted = row({ customersCounted: integer() })

/** Values by phone number, as JSON. */
type ByNumber<A> = Readonly<Record<string, A>> | null

const byNumber = <A>(values: ByNumber<A>): ReadonlyArray<readonly [Id.PhoneNumberId, A]> =>
  Object.entries(values ?? {}).map(([id, value]) => [id as Id.PhoneNumberId, value])

type OfKind = Pick<AcceptStep.Found, "apiKey" | "sender" | "template" | "quotaUsed">

const kind = result<{
  readonly isKnown: boolean
  readonly sender: AcceptStep.OfNumber | null
  readonly others: ByNumber<number>
  readonly template: Template.Template | null
  readonly used: Readonly<Record<string, number>> | null
}>({
  isKnown: "boolean",
  sender: {
    read: (row) => {
      const one = number.read(row)
      return {
        number: one,
        fullAt: bucket.read(row).bucketFullAt,
        customers: new Map([[one.id, counted.read(row).customersCounted]]),
        isExact: false
      }
    }
  },
  others: "json",
  template,
  used: "json"
})

const ofKind = (row: Row): OfKind => {
  const { isKnown, others, sender, template, used } = kind.read(row)
  return {
    apiKey: isKnown ? apiKey.read(row) : undefined,
    sender: sender === null ? undefined : {
      ...sender,
      customers: others === null ? sender.customers : new Map([...sender.customers, ...byNumber(others)])
    },
    template: template ?? undefined,
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

/**
 * When other numbers of the same messaging limit messaged the customer: the number, the pair's bucket, and the time.
 */
type Elsewhere = ReadonlyArray<readonly [Id.PhoneNumberId, string, Time.Instant]>

/** A row of {@link loadSends}, except the columns of the contact. */
const found = result<{
  readonly key: Contact.Contact["key"] | null
  readonly suppressions: ReadonlyArray<Suppression.Suppression> | null
  readonly numberId: Id.PhoneNumberId
  readonly bucket: string | null
  readonly fullAt: Time.Instant | null
  readonly countedAt: Time.Instant | null
  readonly marketingAt: ReadonlyArray<Time.Instant> | null
  readonly elsewhere: Elsewhere | null
  readonly twins: ReadonlyArray<Message.Message> | null
  readonly isKnownName: boolean
  readonly bound: Omit<AcceptStep.Bound, "isBusy"> | null
  readonly isBusy: boolean
}>({
  key: "text",
  suppressions: [StoredSuppression.reader],
  numberId: "text",
  bucket: "text",
  fullAt: "double precision",
  countedAt: "bigint",
  marketingAt: "json",
  elsewhere: "json",
  twins: [message],
  isKnownName: "boolean",
  bound: boundSend,
  isBusy: "boolean"
})

const ofSend = ({ message: { to } }: MessageStore.AcceptSend, rows: ReadonlyArray<Row>): OfSend => {
  const all = rows.map(found.read)
  const [first] = all
  if (first === undefined) return nothing
  const contact = first.key === null ? undefined : contactOf(rows[0]!)
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
  const { bound, elsewhere, isBusy, isKnownName, suppressions, twins } = first
  return {
    contact,
    suppressions: suppressions ?? [],
    isKnownName,
    pairs: [
      ...all.flatMap(({ bucket, countedAt, fullAt, marketingAt, numberId }) =>
        bucket === null
          ? []
          : [pairOf(numberId, bucket, { fullAt: fullAt!, countedAt, marketingAt: marketingAt ?? [] })]
      ),
      ...(elsewhere ?? []).map(([id, bucket, countedAt]) => pairOf(id, bucket, { countedAt }))
    ],
    bound: bound === null ? undefined : { ...bound, isBusy },
    twins: twins ?? []
  }
}

/** What is loaded. `uncounted` are the bucket keys of customers who no longer count against the messaging limit. */
interface Loaded extends AcceptStep.Loaded {
  readonly uncounted: ReadonlyArray<string>
}

const read = (
  [workspaceRows, kindRows, sendRows, sizeRows = []]: ReadonlyArray<Rows>,
  now: Step.Known["now"],
  commands: ReadonlyArray<MessageStore.AcceptSend>
): Loaded => {
  const { places } = kindsOf(commands)
  const workspaces = new Map(workspaceRows!.map((row): [string, AcceptStep.OfWorkspace] => {
    const one = workspace.read(row)
    return [one.id, { workspace: one, fullAt: bucket.read(row).bucketFullAt }]
  }))
  const kinds = kindRows!.map(ofKind)
  const queued = Sizes.sizesOf(sizeRows)
  const sends = Array.groupBy(sendRows!, (row) => `${row["place"]}`)
  const found = new Map(commands.map((command, i) => [
    command,
    {
      workspace: workspaces.get(command.request.workspaceId),
      ...kinds[places[i]!]!,
      ...ofSend(command, sends[`${i + 1}`] ?? []),
      queued: queued(command.request.workspaceId)
    }
  ]))
  return { now, found: (command) => found.get(command)!, uncounted: [] }
}

/** The maximum number of a phone number's customers that are removed in one step, to keep the step short. */
const uncountedAtOnce = 1000

/**
 * Locks the customers who no longer count, to remove them. If there are as many as the maximum, also counts the
 * customers who still count.
 */
const loadLapsed = statement({
  numbers: row({ phoneNumberId: text<Id.PhoneNumberId>(), lapsed: bigint() }),
  atOnce: value<number>()
}, ({ atOnce, numbers }) =>
  `select n.phone_number_id, g.keys, case when cardinality(g.keys) = ${atOnce} then (
      select count(*)::integer from wac.buckets b
      where b.phone_number_id = n.phone_number_id and b.counted_at > n.lapsed
    ) end as counted
  from ${numbers("n")}
  cross join lateral (
    select coalesce(array_agg(o.key), '{}') as keys from (
      select b.key from wac.buckets b
      where b.phone_number_id = n.phone_number_id and b.counted_at <= n.lapsed
      order by b.counted_at limit ${atOnce}
      for update skip locked
    ) o
  ) g`)

const lapsed = row({
  phoneNumberId: text<Id.PhoneNumberId>(),
  keys: texts(),
  counted: integer<number | null>()
})

const more: NonNullable<StepOptions<never, Loaded, never, never, AcceptStep.Need>["more"]> = {
  load: (needs) => [
    loadLapsed({
      numbers: needs.flatMap(({ lapsed, phoneNumberIds }) =>
        phoneNumberIds.map((phoneNumberId) => ({ phoneNumberId, lapsed }))
      ),
      atOnce: uncountedAtOnce
    })
  ],
  read: ({ found, uncounted, now }, _, [rows]) => {
    const counted = new Map(rows!.map(lapsed.read).map((number) => [number.phoneNumberId, number]))
    const gone = new Set([...uncounted, ...[...counted.values()].flatMap(({ keys }) => keys)])
    return {
      now,
      uncounted: [...gone],
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

const uncount = unlessEmpty(list<string>("text"), (keys) =>
  `with gone as (
    update wac.buckets b set counted_at = null where b.key = any (${keys})
    returning b.phone_number_id
  )
  update wac.phone_numbers p set customers_counted = p.customers_counted - g.customers
  from (select g.phone_number_id, count(*) as customers from gone g group by g.phone_number_id) g
  where p.id = g.phone_number_id`)

const unbind = unlessEmpty(
  list<Id.MessageId>("text"),
  (ids) =>
    `update wac.messages m set route = null, key = null, fingerprint = null, claim_token = null,
    lease_until = null, answer = null, last_failure = null, expires_at = null
  where m.id = any (${ids})`
)

const limits = columns<AcceptStep.Writes["workspaces"][number]>({ id: "text", fullAt: "double precision" })

const limitText = (limits: Table): string =>
  `update wac.workspaces w set bucket_full_at = s.full_at from ${limits("s")} where w.id = s.id`

const limit = unlessEmpty(limits, limitText)

const spentPair = row({
  key: text(),
  fullAt: double(),
  phoneNumberId: text<Id.PhoneNumberId>(),
  countedAt: bigint<number | null>(),
  marketingAt: json<ReadonlyArray<Time.Instant> | null>(),
  marketingUntil: bigint<number | null>()
})

const customer = columns<Pick<AcceptStep.Claim, "customer">>({ customer: "text" })

/** The columns of a message that its first try writes. */
const first = message
  .pick("id", "workspaceId", "apiKeyId", "phoneNumberId", "from", "content", "status", "createdAt")
  .and(quota.pick("quotaMonth"))
  .and(request)
  .and(claim)
  .and(lastTry.omit("triedBefore"))

/**
 * Writes everything that new sends spend and create. It is one statement, since starting six statements takes longer
 * than running one for a batch. PostgreSQL does not define the order of its parts, but the locks on the workspaces make
 * any order safe. Transactions that return quotas do not lock workspaces, so quotas are written in the order of their
 * keys.
 */
const spendAll = statement({
  workspaces: limits,
  quotas: columns<AcceptStep.Writes["quotas"][number]>({ workspaceId: "text", month: "text", messages: "integer" }),
  pairs: spentPair,
  numbers: columns<AcceptStep.Writes["numbers"][number]>({
    id: "text",
    fullAt: "double precision",
    customers: "integer"
  }),
  claims: first.and(customer)
}, ({ claims, numbers, pairs, quotas, workspaces }) =>
  `with of_workspaces as (
    ${limitText(workspaces)}
  ), of_pairs as (
    insert into wac.buckets as b (${spentPair.names()})
    select ${spentPair.names("s")} from ${pairs("s")}
    on conflict (key) do update set full_at = excluded.full_at, phone_number_id = excluded.phone_number_id,
      counted_at = coalesce(excluded.counted_at, b.counted_at),
      marketing_at = coalesce(excluded.marketing_at, b.marketing_at),
      marketing_until = coalesce(excluded.marketing_until, b.marketing_until)
  ), of_numbers as (
    update wac.phone_numbers p set bucket_full_at = s.full_at, customers_counted = p.customers_counted + s.customers
    from ${numbers("s")} where p.id = s.id
  ), of_months as (
    insert into wac.quota_usage as q (workspace_id, month, used)
    select s.workspace_id, s.month, s.messages from ${quotas("s")} order by 1, 2
    on conflict (workspace_id, month) do update set used = q.used + excluded.used
  ), claims as materialized (
    select c.* from ${claims("c")}
  ), conversations as (
    insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound)
    select c.id, c.workspace_id, c.phone_number_id, c.customer, false from claims c
  ), deadlines as (
    insert into wac.message_deadlines (workspace_id, due_at, message_ids)
    select c.workspace_id, min(c.lease_until), array_agg(c.id) from claims c group by c.workspace_id
  )
  insert into wac.messages (${first.names()}, status_at) select ${first.names("c")}, c.created_at from claims c`)

const retried = message
  .pick("id", "status", "statusAt", "apiKeyId", "phoneNumberId", "from")
  .and(quota.pick("quotaMonth"))
  .and(claim)
  .and(lastTry)

/**
 * The content that a retry writes, if it goes to a different name of its customer than the queued message; otherwise
 * null.
 */
const corrected = row({ correctedContent: json<Message.OutboundMessage | null>() })

const retryAll = unlessEmpty(retried.and(customer).and(corrected), (rows) =>
  `with retried as (
    update wac.messages m set ${retried.set("s", "id")}, content = coalesce(s.corrected_content, m.content)
    from ${rows("s")}
    where m.id = s.id
    returning m.workspace_id, m.lease_until, m.id, m.phone_number_id
  ), conversations as (
    insert into wac.conversations (message_id, workspace_id, phone_number_id, customer, is_inbound)
    select r.id, r.workspace_id, r.phone_number_id, u.customer, false
    from ${rows("u")} join retried r on r.id = u.id
    on conflict (message_id) do update set phone_number_id = excluded.phone_number_id
      where conversations.phone_number_id <> excluded.phone_number_id
  )
  insert into wac.message_deadlines (workspace_id, due_at, message_ids)
  select r.workspace_id, r.lease_until, array[r.id] from retried r`)

/** The rows that tries write for their claims. */
const triesOf = (claims: ReadonlyArray<AcceptStep.Claim>) =>
  claims.map(({ before, claim, counted, customer, message, quotaMonth, request: { fingerprint, key, route } }) => ({
    ...message,
    quotaMonth,
    route,
    key,
    fingerprint,
    claimToken: claim.token,
    leaseUntil: claim.leaseUntil,
    triedBefore: before?.statusAt ?? null,
    countedAt: counted && message.statusAt,
    countedBefore: counted && counted.before,
    customer,
    correctedContent: before === undefined || before.content.to === message.content.to ? null : message.content
  }))

const spend = (
  { numbers, pairs, quotas, workspaces }: AcceptStep.Writes,
  claims: ReadonlyArray<AcceptStep.Claim>
): ReadonlyArray<Statement> =>
  numbers.length === 0 && pairs.length === 0 && claims.length === 0 ? limit(workspaces) : [spendAll({
    workspaces,
    quotas,
    pairs: pairs.map(({ countedAt, customer, fullAt, marketing, phoneNumberId }) => ({
      key: Limits.pairBucket(phoneNumberId, customer),
      fullAt,
      phoneNumberId,
      countedAt,
      marketingAt: marketing && marketing.at,
      marketingUntil: marketing && marketing.until
    })),
    numbers,
    claims: triesOf(claims)
  })]

const write = (writes: AcceptStep.Writes, { uncounted }: Loaded): ReadonlyArray<Statement> => {
  const isRetry = ({ before }: AcceptStep.Claim) => before !== undefined
  const moved = writes.moved.map(({ customer, phoneNumberId }) => Limits.pairBucket(phoneNumberId, customer))
  return [
    ...uncount([...uncounted, ...moved]),
    ...unbind(writes.unbound),
    ...retryAll(triesOf(writes.claims.filter(isRetry))),
    ...spend(writes, writes.claims.filter((claim) => !isRetry(claim))),
    ...enqueue(writes.queued)
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
