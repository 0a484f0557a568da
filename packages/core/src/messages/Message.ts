/**
 * Messages: the requests to send them, what is stored, and how the provider's reports change their status (contract
 * §3). Defines schemas and pure functions.
 */
import { Duration, Equal, Record, Schema, Struct } from "effect"
import type { Variant } from "../campaigns/Variant.ts"
import { Addressee } from "../contacts/Addressee.ts"
import { type DomainError, type ProviderDetail, reasonOf } from "../Errors.ts"
import { type ApiKeyId, type CampaignId, MessageId, type PhoneNumberId, type WorkspaceId } from "../Id.ts"
import type { E164 } from "../numbers/E164.ts"
import * as PlainText from "../PlainText.ts"
import type { Instant } from "../Time.ts"
import { ContactsContent } from "./ContactsContent.ts"
import * as FileContent from "./FileContent.ts"
import { InteractiveContent } from "./InteractiveContent.ts"
import { LocationContent } from "./LocationContent.ts"
import { ReactionContent } from "./ReactionContent.ts"
import { TemplateContent } from "./TemplateContent.ts"

/** The content of a text message. */
export const TextContent = Schema.Struct({
  body: PlainText.between(1, 4096).annotateKey({ description: "1 to 4,096 characters" }),
  previewUrl: Schema.optionalKey(Schema.Boolean)
}).annotate({ identifier: "TextContent", description: "A free-form text." })
export type TextContent = typeof TextContent.Type

/**
 * Every kind of message except the template, with the schema of its content. These are free-form and require an open
 * service window (specification §4, contract §9). Types, parsing and documentation derive from this list.
 */
export const freeFormContents = {
  text: TextContent,
  image: FileContent.Captioned,
  audio: FileContent.Recording,
  video: FileContent.Captioned,
  document: FileContent.Document,
  sticker: FileContent.Plain,
  location: LocationContent,
  contacts: ContactsContent,
  interactive: InteractiveContent,
  reaction: ReactionContent
} as const

/** The quoted message of the same conversation, sent by either side, by our id. */
export const Quoted = Schema.Struct({ message_id: MessageId }).annotate({ asOnWire: true })

const addressing = {
  to: Addressee.annotateKey({
    description: "A phone number in E.164 (`+` and digits only), or a customer's user id (`US.13491208655302741918`)"
  }),
  from: Schema.optionalKey(PlainText.between(1, 64)).annotateKey({
    description: "A phone number of the workspace, by id or in E.164; defaults to the workspace's default number"
  }),
  clientReference: Schema.optionalKey(PlainText.between(1, 255)).annotateKey({
    description: "Echoed in this message's events; at most 255 characters"
  })
}

/** A reaction already names the message that it reacts to, so it cannot quote one. */
const quoting = {
  context: Schema.optionalKey(Quoted).annotateKey({
    description: "Quotes a message of the same conversation, sent or received, by its `msg_…` id"
  })
}

/** The fields of a request to send this kind of message. */
export type OutboundFields<Kind extends string, Content extends Schema.Constraint> =
  & typeof addressing
  & (Kind extends "reaction" | "template" ? unknown : typeof quoting)
  & { readonly type: Schema.Literal<Kind> }
  & { readonly [Name in Kind]: Content }

/** The schema of a request to send this kind of message. */
export const outbound = <const Kind extends string, Content extends Schema.Constraint>(
  kind: Kind,
  content: Content
): Schema.Struct<OutboundFields<Kind, Content>> =>
  Schema.Struct({
    ...addressing,
    ...(kind === "reaction" || kind === "template" ? {} : quoting),
    type: Schema.Literal(kind),
    [kind]: content
  }).annotate({
    identifier: `Send${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
    description: kind === "template"
      ? "Sends an approved template."
      : `Sends ${
        kind === "text" ? "a text" : `a message of kind \`${kind}\``
      }, within 24 hours after the recipient last wrote.`
  }) as never

/** The content of every kind, by name. */
export const contents = { template: TemplateContent, ...freeFormContents } as const

/** The schemas of the requests to send these kinds, by name. */
export type Outbounds<Contents extends { readonly [kind: string]: Schema.Constraint }> = {
  readonly [Kind in keyof Contents & string]: Schema.Struct<OutboundFields<Kind, Contents[Kind]>>
}

/** Applies {@link outbound} to every kind. */
export const outbounds = <const Contents extends { readonly [kind: string]: Schema.Constraint }>(
  contents: Contents
): Outbounds<Contents> => Record.map(contents, (content, kind) => outbound(kind, content)) as never

const kinds = outbounds(contents)

/** A request to send a message, decoded and checked for form (specification §4, contract §3 and §9). */
export const OutboundMessage = Schema.Union(Object.values(kinds)).annotate({
  identifier: "SendMessage",
  description: "A message to be sent. A comparison of `type` narrows it."
})
export type OutboundMessage = typeof OutboundMessage.Type

/** The kinds of message that can be sent. */
export const MessageType = Schema.Literals(Struct.keys(contents)).annotate({
  identifier: "MessageType",
  description: "The kinds of message."
})
export type MessageType = typeof MessageType.Type

/** A request to send a message of one kind. */
export type OutboundOf<Kind extends MessageType> = Extract<OutboundMessage, { readonly type: Kind }>

/** Whether the queue sends a message: its caller, or a campaign, queued it. */
export const isOfQueue = ({ campaignId, sendAt }: Pick<Message, "campaignId" | "sendAt">): boolean =>
  campaignId !== null || sendAt !== null

/** Whether a message is not an approved template, and so requires an open service window (specification §4). */
export const isFreeForm = (message: OutboundMessage): boolean => message.type !== "template"

/**
 * A request without the message's content. Recipient, kind, sender and reference stay, and a template's name and
 * language. The result is only listed, never sent.
 */
export const withoutBody = ({ clientReference, from, to, type, ...content }: OutboundMessage): OutboundMessage => ({
  to,
  type,
  ...(from === undefined ? {} : { from }),
  ...(clientReference === undefined ? {} : { clientReference }),
  [type]: "template" in content ? Struct.pick(content.template, ["name", "language"]) : {}
} as never)

/**
 * Whether a free-form message's content was deleted ({@link withoutBody}). False for a template; its values show it.
 */
export const isWithoutBody = (content: OutboundMessage): boolean =>
  isFreeForm(content) && Equal.equals(withoutBody(content), content)

/** Why a message failed: the error's code and reason, a description, and the provider's own error. */
export interface MessageError {
  readonly code: string
  readonly reason?: string
  readonly message: string
  readonly provider?: ProviderDetail
}

/** Converts an error to its form in a failed message. */
export const errorOf = (error: DomainError): MessageError => {
  const reason = reasonOf(error)
  return {
    code: error.code,
    ...(reason === undefined ? {} : { reason }),
    message: error.message,
    ...(error.provider === undefined ? {} : { provider: error.provider })
  }
}

/** The provider's price of a message, with the provider's own values. */
export interface Pricing {
  /** Whether the message is charged; `null` if the provider reports neither this nor a type from which it follows. */
  readonly billable: boolean | null
  /** The pricing model; `PMP` is per message. */
  readonly model: string
  /** Such as `regular`, `free_customer_service` or `free_entry_point`. */
  readonly type: string
  /** Such as `marketing`, `utility`, `authentication` or `service`. */
  readonly category: string
}

/**
 * The ranks of the statuses. The best report wins: what reached a device was delivered, whatever else was reported
 * about it. `queued` is for messages of the queue: of campaigns, or to be sent later.
 */
export const ranks = { queued: 0, sending: 1, unknown: 2, sent: 3, failed: 4, delivered: 5, read: 6 } as const

/**
 * Final statuses of messages that were never sent, reachable from `queued` only: `skipped` by a campaign (contract
 * §11), or `cancelled` by its caller (contract §15).
 */
const neverSent = ["skipped", "cancelled"] as const

/** Whether a message has a final status of those that were never sent. */
export const isNeverSent = ({ status }: { readonly status: string }): boolean =>
  neverSent.includes(status as (typeof neverSent)[number])

/** One of {@link ranks}, or a final status of a message that was never sent: `skipped` or `cancelled`. */
export const MessageStatus = Schema.Literals([...Struct.keys(ranks), ...neverSent]).annotate({
  identifier: "MessageStatus",
  description: "What has become of a message: `read` implies `delivered`, which implies `sent`."
})
export type MessageStatus = typeof MessageStatus.Type

/** The rank of a status. `skipped` and `cancelled` are above all others. */
export const rankOf = (status: MessageStatus): number =>
  status === "skipped" || status === "cancelled" ? Infinity : ranks[status]

/** The statuses in which nothing more is to be sent. Reports may still change one to another. */
export const over = ["sent", "delivered", "read", "failed", ...neverSent] as const satisfies ReadonlyArray<
  MessageStatus
>

/** Whether a message has one of the statuses {@link over}. */
export const isOver = ({ status }: Pick<Message, "status">): boolean => over.includes(status as (typeof over)[number])

/**
 * When a message was sent, or was to be: its age counts from then if that is later than its id. One that was accepted
 * long before would otherwise be deleted before the provider's last reports of it.
 */
export const lastDue = ({ sendAt, sentAt }: Pick<Message, "sendAt" | "sentAt">): Instant =>
  Math.max(sendAt ?? 0, sentAt ?? 0)

/** A stored message. */
export interface Message {
  readonly id: MessageId
  readonly workspaceId: WorkspaceId
  /** The API key of the request; `null` if a person sent the message from the dashboard, or a campaign. */
  readonly apiKeyId: ApiKeyId | null
  /** The campaign whose recipient this message is (contract §11). */
  readonly campaignId: CampaignId | null
  /** Which variant of the campaign's template the message has; `null` if the campaign has no variants. */
  readonly variant: Variant | null
  readonly phoneNumberId: PhoneNumberId
  readonly from: E164
  readonly content: OutboundMessage
  readonly status: MessageStatus
  /** When the message took its status, by our clock. For an unclaimed `sending` message, when its last try ended. */
  readonly statusAt: Instant
  readonly providerMessageId: string | null
  readonly createdAt: Instant
  /** The time before which the message is not sent; `null` unless its caller queued it (contract §15). */
  readonly sendAt: Instant | null
  readonly sentAt: Instant | null
  readonly deliveredAt: Instant | null
  readonly readAt: Instant | null
  readonly failedAt: Instant | null
  readonly error: MessageError | null
  /** The provider's latest pricing; `null` if it reported none. */
  readonly pricing: Pricing | null
  /** When the customer played the voice message. */
  readonly playedAt: Instant | null
  /** Whether the provider holds the message to assess its quality: it reports later whether it sends the message. */
  readonly isHeld: boolean
  /** The number of events of this message. The next event has `data.sequence` one higher. */
  readonly sequence: number
}

/** The fields that a new message is given. */
export interface Unsent extends
  Pick<
    Message,
    "id" | "workspaceId" | "apiKeyId" | "campaignId" | "variant" | "phoneNumberId" | "from" | "content" | "createdAt"
  >
{
  readonly status: "queued" | "sending"
  /** `createdAt` by default. */
  readonly statusAt?: Instant
  readonly sendAt?: Instant
}

/** A new message without any report. */
export const unsent = (created: Unsent): Message => ({
  ...created,
  statusAt: created.statusAt ?? created.createdAt,
  sendAt: created.sendAt ?? null,
  providerMessageId: null,
  sentAt: null,
  deliveredAt: null,
  readAt: null,
  failedAt: null,
  error: null,
  pricing: null,
  playedAt: null,
  isHeld: false,
  sequence: 0
})

/** How long a message stays `unknown` without a report before it fails (contract §3). */
export const unknownTimeout = Duration.minutes(10)

/**
 * How long a message that was not sent waits for a retry before it fails (contract §3). A message of the queue is tried
 * again until its own end instead.
 */
export const retryTimeout = Duration.hours(24)

/** The provider's report on a message, or its answer to the send. `at` is the provider's time. */
export interface Report {
  readonly status: "sent" | "delivered" | "read" | "failed"
  readonly at: Instant
  readonly providerMessageId: string | null
  /** Set when `status` is `failed`. */
  readonly error: MessageError | null
  /** The pricing in the same report. */
  readonly pricing?: Pricing
  /** Whether the report says that the customer played a voice message. */
  readonly isPlayed?: boolean
  /** Whether the provider accepted the message but holds it to assess its quality. */
  readonly isHeld?: boolean
}

/** A change of a message's status that becomes an event. */
export interface Transition {
  readonly to: Report["status"]
  readonly at: Instant
  /** The pricing in the report that caused the change. */
  readonly pricing?: Pricing
  /** The status that the workspace was notified of and that was not true, if this change corrects one. */
  readonly corrects?: "failed"
}

/** A message after a report, with its transitions; there are none if the report brought nothing new. */
export interface Update {
  readonly message: Message
  readonly transitions: ReadonlyArray<Transition>
}

/** The error of a message that was not sent and that no retry came for in time (contract §3). */
export const notSent: MessageError = {
  code: "server_error",
  reason: "not_sent",
  message: "the message was never sent: no retry came within 24 hours"
}

/** The error of a queued message that could not be sent in time (contract §15). */
export const notSentInTime: MessageError = { ...notSent, message: "the message could not be sent before send_until" }

/** The error of a message without any report in time, so that it is not known whether it was sent (contract §3). */
export const deliveryUnknown: MessageError = {
  code: "server_error",
  reason: "delivery_unknown",
  message: "the provider did not confirm whether it accepted the message and reported nothing about it for 10 minutes"
}

/** Whether the message's customer was erased (contract §7). Then its recipient and content are gone. */
export const isErased = ({ content }: Pick<Message, "content">): boolean => content.to === ""

/** Whether the message failed because no report confirmed within {@link unknownTimeout} that it was sent. */
export const isDeliveryUnknown = (message: Pick<Message, "status" | "error">): boolean =>
  message.status === "failed" && message.error?.reason === deliveryUnknown.reason

const isConclusion = ({ reason }: MessageError): boolean =>
  reason === deliveryUnknown.reason || reason === notSent.reason

/** Whether we concluded this failure from silence. Any report of the provider is better than such a conclusion. */
export const isConcluded = ({ error, status }: Pick<Message, "status" | "error">): boolean =>
  status === "failed" && error !== null && isConclusion(error)

const ladder = ["sent", "delivered", "read"] as const
const timeField = { sent: "sentAt", delivered: "deliveredAt", read: "readAt" } as const

/**
 * The time of a reported status: the report's, but no earlier than the previous status's. The provider's times are in
 * whole seconds and come from another clock than ours.
 */
const timeOf = ({ createdAt, deliveredAt, sentAt }: Message, { at, status }: Report): Instant =>
  Math.max(
    at,
    createdAt,
    status === "sent" ? createdAt : sentAt ?? createdAt,
    status === "read" ? deliveredAt ?? createdAt : createdAt
  )

/** Sets `isHeld`: a message is held from the provider's response until the next report. */
const withHold = (message: Message, { isHeld: holds = false }: Report): Message => {
  const isHeld = holds && rankOf(message.status) < ranks.sent
  return message.isHeld === isHeld ? message : { ...message, isHeld }
}

/** Stores the latest pricing and the first time of playing. */
const withAsides = (message: Message, { at, isPlayed, pricing }: Report): Message =>
  pricing === undefined && isPlayed !== true ? message : {
    ...message,
    pricing: pricing ?? message.pricing,
    playedAt: isPlayed === true ? message.playedAt ?? Math.max(at, message.createdAt) : message.playedAt
  }

const step = ({ pricing, status }: Report, to: Transition["to"], at: Instant): Transition => ({
  to,
  at,
  ...(pricing === undefined || to !== status ? {} : { pricing })
})

/** The error of a reported failure. A report concludes nothing, so it has none of the reasons of our conclusions. */
const reportedError = ({ error }: Report): MessageError | null => {
  if (error === null || !isConclusion(error)) return error
  const { reason: _, ...rest } = error
  return rest
}

/** The rank that a report has to exceed to change the status. */
const leastRank = (message: Message): number => isConcluded(message) ? ranks.unknown : rankOf(message.status)

/**
 * The highest rank of the ladder that events have reported. A failed message may have a time of sending that a late
 * report filled in without an event, but its failure is always an event.
 */
const rankInEvents = ({ sequence, status }: Message): number =>
  status !== "failed" ? rankOf(status) : sequence > 1 ? ranks.sent : ranks.unknown

/**
 * Applies a report. These laws hold for any order and number of reports: the status becomes the best one that was
 * reported, so its rank never falls, except from a failure that {@link isConcluded}; each of `sent`, `delivered` and
 * `read` is taken once and in order (skipped statuses come first, with the later time, and no time is before that of
 * the previous status); a change after a failure corrects it; any other report only fills in a time. Pricing and
 * playing are stored regardless of the status.
 */
export const apply = (message: Message, report: Report, now: Instant): Update => {
  const at = timeOf(message, report)
  const told = withAsides(withHold(message, report), report)
  const named: Message = told.providerMessageId === null && report.providerMessageId !== null
    ? { ...told, providerMessageId: report.providerMessageId }
    : told
  const target = report.status
  const hasFailed = named.status === "failed"
  if (target === "failed") {
    if (ranks.failed <= leastRank(named)) return { message: named, transitions: [] }
    return {
      message: { ...named, status: "failed", statusAt: now, failedAt: at, error: reportedError(report) },
      // the workspace already has the event of a failure that we concluded; only the reason is more precise now
      transitions: hasFailed ? [] : [step(report, "failed", at)]
    }
  }
  if (ranks[target] <= leastRank(named)) {
    const field = timeField[target]
    return { message: named[field] === null ? { ...named, [field]: at } : named, transitions: [] }
  }
  const from = rankInEvents(named)
  const transitions = ladder
    .filter((step) => ranks[step] > from && ranks[step] <= ranks[target])
    .map((to): Transition => ({
      ...step(report, to, named[timeField[to]] ?? at),
      ...(hasFailed ? { corrects: "failed" } : {})
    }))
  const times = Object.fromEntries(transitions.map(({ at, to }) => [`${to}At`, at]))
  return {
    message: { ...named, ...times, status: target, statusAt: now, failedAt: null, error: null },
    transitions
  }
}
