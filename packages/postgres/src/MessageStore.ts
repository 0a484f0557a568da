import {
  ApiKey,
  Contact,
  Id,
  Idempotency,
  Limits,
  Message,
  MessageStore,
  Page,
  PhoneNumber,
  Policy,
  Quota,
  RateLimit,
  type Template,
  type Time,
  Workspace
} from "@wac/core"
import { Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { plain } from "./Column.ts"
import { Database, type Row } from "./Database.ts"

/** How many messages one step of a sweep looks at. */
const sweepBatch = 256

const encodeAnswer = Schema.encodeSync(Idempotency.Answer)
const decodeAnswer = Schema.decodeUnknownSync(Idempotency.Answer)

/** As text in the command: it may hold what PostgreSQL can keep in JSON, and cannot read. */
const storedAnswer = (answer: Idempotency.Answer): string => JSON.stringify(encodeAnswer(answer))

/** A verdict as it is stored: with answers in their encoded form. */
type StoredVerdict = Idempotency.Verdict & { readonly answer?: unknown; readonly lastFailure?: unknown }

const verdictOf = (stored: StoredVerdict): Idempotency.Verdict => {
  switch (stored._tag) {
    case "Answered":
      return { _tag: "Answered", answer: decodeAnswer(stored.answer) }
    case "Released":
      return { _tag: "Released", lastFailure: stored.lastFailure === null ? null : decodeAnswer(stored.lastFailure) }
    default:
      return stored
  }
}

// accept

/** What the SQL functions take of a bucket's policy. */
const refillOf = ({ capacity, interval }: RateLimit.Policy): readonly [number, number] => [interval, capacity]

/** Limits as the SQL functions take them: every tier worked out. */
const written = (limits: Limits.Limits) => ({
  workspaceTiers: Object.fromEntries(
    Object.keys(limits.workspaceTiers).map((tier) => [tier, refillOf(Limits.workspace(limits, tier))])
  ),
  workspace: refillOf(Limits.workspace(limits, null)),
  numberTiers: Object.fromEntries(
    Object.keys(limits.phoneNumberTiers).map((tier) => [tier, refillOf(Limits.phoneNumber(limits, tier))])
  ),
  number: refillOf(Limits.phoneNumber(limits, null)),
  pair: refillOf(Limits.pair(limits)),
  monthlyQuota: limits.defaults.monthlyQuota,
  messagingLimit: limits.defaults.messagingLimit
})

/** A process has one set of limits, so that they are worked out once. */
const remembered = new WeakMap<Limits.Limits, ReturnType<typeof written>>()

const limitsOf = (limits: Limits.Limits): ReturnType<typeof written> => {
  const known = remembered.get(limits) ?? written(limits)
  remembered.set(limits, known)
  return known
}

/** A command for `wac_accept`; `limits` is where its limits are among those of the batch. */
const sendOf = (
  { apiKeyId, claimToken, leaseUntil, message, messageId, now, request }: MessageStore.AcceptSend,
  limits: number
) => ({
  now,
  workspace_id: request.workspaceId,
  route: request.route,
  key: request.key,
  fingerprint: request.fingerprint,
  api_key_id: apiKeyId,
  message_id: messageId,
  claim_token: claimToken,
  lease_until: leaseUntil,
  month: Quota.monthOf(now),
  content: message,
  customer: Contact.keyOf(message.to),
  sender: message.from,
  ...(message.type === "template"
    ? {
      template: message.template.name,
      language: message.template.language,
      given_values: message.template.bodyParams?.length ?? 0
    }
    : {}),
  limits
})

/** What `wac_accept` is given: the sends, and the limits that they are accepted under. */
const sendsOf = (commands: ReadonlyArray<MessageStore.AcceptSend>) => {
  const limits = [...new Set(commands.map((command) => limitsOf(command.limits)))]
  return [commands.map((command) => sendOf(command, limits.indexOf(limitsOf(command.limits)))), limits] as const
}

/** The state of each bucket that was consulted, before a token was asked for. */
interface Consulted {
  readonly tier: Workspace.Workspace["tier"]
  readonly workspaceFullAt: Time.Instant
}

interface CallConsulted extends Consulted {
  readonly sender: PhoneNumber.PhoneNumber
  readonly numberFullAt: Time.Instant
  readonly pairFullAt: Time.Instant
}

/** What `wac_accept` answers. */
type AcceptAnswer =
  | { readonly _tag: "Stranger" }
  | {
    readonly _tag: "Barred"
    readonly revokedAt: Time.Instant | null
    readonly expiresAt: Time.Instant | null
    readonly suspended: boolean
  }
  | { readonly _tag: "Limited" } & (Consulted & { readonly sender?: never } | CallConsulted)
  | { readonly _tag: "Judged"; readonly verdict: StoredVerdict } & Consulted
  | {
    readonly _tag: "Refused"
    readonly sender: PhoneNumber.PhoneNumber | null
    readonly template: Template.Template | null
    readonly contact: Contact.Contact | null
    readonly quota: number | null
    readonly quotaUsed: number
    readonly messagingLimit: number | null
    readonly customersCounted: number
    readonly customerCounted: boolean
  } & Consulted
  | {
    readonly _tag: "Claimed"
    readonly template: Template.Template | null
    readonly contact: Contact.Contact | null
    /** The message of the try before. */
    readonly before: Message.Message | null
  } & CallConsulted

type Refusal = Extract<MessageStore.Accepted, { readonly _tag: "Refused" }>["error"]

/** The answer in the domain's words: the database says what it found, core what that means. */
const acceptedOf = (command: MessageStore.AcceptSend, answer: AcceptAnswer): MessageStore.Accepted => {
  const { limits, message: content, now } = command
  const reading = (policy: RateLimit.Policy, fullAt: Time.Instant) => RateLimit.take(policy, fullAt, now).reading
  const ofWorkspace = ({ tier, workspaceFullAt }: Consulted) => reading(Limits.workspace(limits, tier), workspaceFullAt)
  const ofCall = (consulted: CallConsulted) => [
    ofWorkspace(consulted),
    reading(Limits.phoneNumber(limits, PhoneNumber.tierOf(consulted.sender)), consulted.numberFullAt),
    reading(Limits.pair(limits), consulted.pairFullAt)
  ]
  const refused = (readings: ReadonlyArray<RateLimit.Reading>, error: Refusal | undefined): MessageStore.Accepted => {
    if (error === undefined) throw new Error("the database refused what core's rules allow")
    return { _tag: "Refused", readings, error }
  }
  switch (answer._tag) {
    case "Stranger":
      return refused([], ApiKey.invalid())
    case "Barred":
      return refused([], ApiKey.refusal(answer, now) ?? Workspace.suspension(answer))
    case "Limited": {
      const readings = answer.sender === undefined ? [ofWorkspace(answer)] : ofCall(answer)
      return refused(readings, RateLimit.refusal(readings))
    }
    case "Judged": {
      const verdict = verdictOf(answer.verdict)
      if (verdict._tag === "Unbound" || verdict._tag === "Released") {
        throw new Error("the database did not claim a key that is free")
      }
      return { ...verdict, readings: [ofWorkspace(answer)] }
    }
    case "Refused":
      return refused(
        [ofWorkspace(answer)],
        Policy.refusal({
          ...answer,
          now,
          message: content,
          sender: answer.sender ?? undefined,
          template: answer.template ?? undefined,
          contact: answer.contact ?? undefined
        })
      )
    case "Claimed": {
      const { apiKeyId } = command
      const { before, sender } = answer
      const message: Message.Message = before === null
        ? firstTry(command, sender)
        : { ...before, apiKeyId, status: "sending", statusAt: now }
      return {
        _tag: "Claimed",
        readings: ofCall(answer),
        message,
        sender,
        template: answer.template ?? undefined,
        contact: answer.contact ?? undefined
      }
    }
  }
}

const firstTry = (
  { apiKeyId, message, messageId, now, request }: MessageStore.AcceptSend,
  sender: PhoneNumber.PhoneNumber
): Message.Message => ({
  id: messageId,
  workspaceId: request.workspaceId,
  apiKeyId,
  phoneNumberId: sender.id,
  from: sender.phoneNumber,
  content: message,
  status: "sending",
  statusAt: now,
  providerMessageId: null,
  createdAt: now,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  error: null,
  sequence: 0
})

// settle and reports

/** What a `wac_step` has of a report. */
const reportOf = (
  { at, error, providerMessageId, status }: Message.Report,
  { deliveries, events }: MessageStore.EventIds
) => ({
  status,
  at,
  provider_message_id: providerMessageId,
  ...(error === null ? {} : { error: JSON.stringify(error) }),
  concludes: Message.isDeliveryUnknown({ status, error }),
  events,
  deliveries
})

/** A command for `wac_apply_reports`. */
const reportedOf = ({ ids, now, providerNumberId, reference, report }: MessageStore.ApplyReport) => ({
  now,
  provider_number_id: providerNumberId,
  reference,
  ...reportOf(report, ids)
})

/** An end makes one event at most. */
const firstOf = ({ deliveries, events }: MessageStore.EventIds): MessageStore.EventIds => ({
  events: events.slice(0, 1),
  deliveries: deliveries.slice(0, 1)
})

/** A command for `wac_settle`. */
const settlementOf = ({ claimToken, end, ids, messageId, now, workspaceId }: MessageStore.SettleSend) => {
  const claim = { now, workspace_id: workspaceId, message_id: messageId, claim_token: claimToken, end: end._tag }
  switch (end._tag) {
    case "Accepted": {
      const { providerMessageId } = end
      return { ...claim, ...reportOf({ status: "sent", at: now, providerMessageId, error: null }, firstOf(ids)) }
    }
    case "Refused":
      return { ...claim, ...reportOf(end.report, firstOf(ids)), answer: storedAnswer(end.answer) }
    case "NotSent":
      return { ...claim, answer: storedAnswer(end.answer) }
    case "Unknown":
      return claim
  }
}

interface SweepAnswer extends MessageStore.Swept {
  /** Whether there may be more to do. */
  readonly more: boolean
}

const getText = "select wac_message(m) as message from messages m where m.id = $2 and m.workspace_id = $1"

/**
 * Newest first, through `messages_list`, which only a query that asks for its part can use. The last row tells where a filter stopped looking, if it found too few before
 * that; it is read in the same statement, because a message that came between two would have others given twice.
 */
export const listText = (isAfter: boolean): string => {
  // with "=" the planner may go by the primary key, past whatever others have sent since the workspace last did
  const newest = `from messages m
    where m.workspace_id >= $1 and ${
    isAfter ? "(m.workspace_id, m.id) < ($1, $5)" : "m.workspace_id <= $1"
  } and m.id > ''
    order by m.workspace_id desc, m.id desc`
  return `with found as materialized (
    select m.* from (select m.* ${newest} limit ${MessageStore.lookedAt}) m
    where coalesce(m.status = $3, true) and coalesce(m.content->>'to' = $4, true)
    order by m.workspace_id desc, m.id desc limit $2
  )
  (select wac_message(m) as message, null as reached from found m order by m.id desc)
  union all
  select null, (select m.id ${newest} offset ${MessageStore.lookedAt - 1} limit 1)
  where coalesce($3, $4) is not null and (select count(*) from found) < $2`
}

const pageOf = (rows: ReadonlyArray<Row>, request: Page.PageRequest): Page.Page<Message.Message> => {
  const found = rows.flatMap((row) => plain<Message.Message | null>(row, "message") ?? [])
  const { items, next } = Page.fromOverread(found, request, ({ id }) => id)
  return { items, next: next ?? rows.map((row) => plain<string | null>(row, "reached")).at(-1) ?? null }
}

export const layer = Layer.effect(
  MessageStore.MessageStore,
  Effect.gen(function*() {
    const { batched, query } = yield* Database
    const random = yield* SecureRandom.SecureRandom
    const accept = yield* batched<MessageStore.AcceptSend, AcceptAnswer>("MessageStore.accept", "wac_accept", {
      given: sendsOf
    })
    const settle = yield* batched<ReturnType<typeof settlementOf>, boolean>("MessageStore.settle", "wac_settle")
    const settleAny = yield* batched<ReturnType<typeof settlementOf>, boolean>("MessageStore.settle", "wac_settle_any")
    const abandon = yield* batched<unknown, true>("MessageStore.abandon", "wac_abandon")
    const lookUp = yield* batched<unknown, StoredVerdict>("MessageStore.lookUp", "wac_look_up")
    const applyReport = yield* batched<ReturnType<typeof reportedOf>, boolean>(
      "MessageStore.applyReport",
      "wac_apply_reports"
    )

    const ids: Effect.Effect<MessageStore.EventIds> = Effect.all({
      events: Effect.replicateEffect(Id.generate(random, "evt"), sweepBatch),
      deliveries: Effect.replicateEffect(Id.generate(random, "dlv"), sweepBatch)
    })

    const sweepStep = Effect.fnUntraced(function*(now: Time.Instant) {
      const { deliveries, events } = yield* ids
      const [row] = yield* query("MessageStore.sweep", "select wac_sweep($1::text::json) as swept", [
        JSON.stringify({
          now,
          events,
          deliveries,
          deliveryUnknown: Message.deliveryUnknown,
          notSent: Message.notSent
        })
      ])
      return plain<SweepAnswer>(row!, "swept")
    })

    return MessageStore.MessageStore.of({
      accept: (command) => Effect.map(accept(command), (answer) => acceptedOf(command, answer)),
      settle: (command) => {
        const settlement = settlementOf(command)
        if (command.end._tag !== "Accepted") return settleAny(settlement)
        // in a statement of its own, since one that locked more messages after these might wait in a circle
        return Effect.flatMap(settle(settlement), (isCommon) => isCommon ? Effect.succeed(true) : settleAny(settlement))
      },
      abandon: ({ claimToken, limits, message, now, request: { key, route, workspaceId } }) =>
        Effect.asVoid(abandon({
          now,
          workspace_id: workspaceId,
          route,
          key,
          customer: Contact.keyOf(message.to),
          claim_token: claimToken,
          limits: limitsOf(limits)
        })),
      lookUp: ({ fingerprint, key, route, workspaceId }, now) =>
        Effect.map(lookUp({ now, workspace_id: workspaceId, route, key, fingerprint }), verdictOf),
      applyReport: (command) => applyReport(reportedOf(command)),
      get: (workspaceId, id) =>
        Effect.map(
          query("MessageStore.get", getText, [workspaceId, id]),
          ([row]) => Option.map(Option.fromUndefinedOr(row), (row) => plain<Message.Message>(row, "message"))
        ),
      list: (workspaceId, { status, to }, page) =>
        Effect.map(
          query("MessageStore.list", listText(page.after !== null), [
            workspaceId,
            page.limit + 1,
            status ?? null,
            to ?? null,
            ...page.after === null ? [] : [page.after]
          ]),
          (rows) => pageOf(rows, page)
        ),
      sweep: Effect.fnUntraced(function*(now) {
        let swept: SweepAnswer = { unknown: 0, failed: 0, forgotten: 0, more: true }
        while (swept.more) {
          const { failed, forgotten, more, unknown } = yield* sweepStep(now)
          swept = {
            unknown: swept.unknown + unknown,
            failed: swept.failed + failed,
            forgotten: swept.forgotten + forgotten,
            more
          }
        }
        const { more: _, ...counts } = swept
        return counts
      })
    })
  })
)
