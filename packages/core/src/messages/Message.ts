/**
 * Messages: what is asked to be sent, what is stored of it, and how upstream's reports move it (contract §3).
 */
import { Duration, Record, Schema, Struct } from "effect"
import { type DomainError, type ProviderDetail, reasonOf } from "../Errors.ts"
import { type ApiKeyId, MessageId, type PhoneNumberId, type WorkspaceId } from "../Id.ts"
import { E164 } from "../numbers/PhoneNumber.ts"
import * as PlainText from "../PlainText.ts"
import type { Instant } from "../Time.ts"
import { ContactsContent } from "./ContactsContent.ts"
import * as FileContent from "./FileContent.ts"
import { InteractiveContent } from "./InteractiveContent.ts"
import { LocationContent } from "./LocationContent.ts"
import { ReactionContent } from "./ReactionContent.ts"
import { TemplateContent } from "./TemplateContent.ts"

/** Free-form text. */
export const TextContent = Schema.Struct({
  body: PlainText.between(1, 4096),
  previewUrl: Schema.optionalKey(Schema.Boolean)
})
export type TextContent = typeof TextContent.Type

/**
 * Every kind of message but the template, with what it holds under its name: all of these are free-form, and need the
 * customer's window (specification §4, contract §9). The rest of the house follows from this list.
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

/** The message of the same conversation, ours or the customer's, that a message quotes: our name of it. */
export const Quoted = Schema.Struct({ message_id: MessageId })

const addressing = {
  to: E164,
  /** A phone number of the workspace, by id or in E.164; its default number when left out. */
  from: Schema.optionalKey(PlainText.between(1, 64)),
  /** Echoed in this message's events. */
  clientReference: Schema.optionalKey(PlainText.between(1, 255))
}

/** A reaction names the message that it is about, so it quotes none. */
const quoting = { context: Schema.optionalKey(Quoted) }

/** The fields of a request to send a kind with this content. */
export type OutboundFields<Kind extends string, Content extends Schema.Constraint> =
  & typeof addressing
  & (Kind extends "reaction" | "template" ? unknown : typeof quoting)
  & { readonly type: Schema.Literal<Kind> }
  & { readonly [Name in Kind]: Content }

/** A request to send a kind with this content. */
export const outbound = <const Kind extends string, Content extends Schema.Constraint>(
  kind: Kind,
  content: Content
): Schema.Struct<OutboundFields<Kind, Content>> =>
  Schema.Struct({
    ...addressing,
    ...(kind === "reaction" || kind === "template" ? {} : quoting),
    type: Schema.Literal(kind),
    [kind]: content
  }) as never

/** Every kind, by its name. */
export const contents = { template: TemplateContent, ...freeFormContents } as const

/** The requests to send of each kind with these contents. */
export type Outbounds<Contents extends { readonly [kind: string]: Schema.Constraint }> = {
  readonly [Kind in keyof Contents & string]: Schema.Struct<OutboundFields<Kind, Contents[Kind]>>
}

/** {@link outbound} of every kind. */
export const outbounds = <const Contents extends { readonly [kind: string]: Schema.Constraint }>(
  contents: Contents
): Outbounds<Contents> => Record.map(contents, (content, kind) => outbound(kind, content)) as never

const kinds = outbounds(contents)

/** A request to send a message, decoded and checked in form (specification §4, contract §3 and §9). */
export const OutboundMessage = Schema.Union(Object.values(kinds))
export type OutboundMessage = typeof OutboundMessage.Type

/** What kinds of message can be sent. */
export const MessageType = Schema.Literals(Struct.keys(contents))
export type MessageType = typeof MessageType.Type

/** A request to send a message of one kind. */
export type OutboundOf<Kind extends MessageType> = Extract<OutboundMessage, { readonly type: Kind }>

/** Whether a message is none that the provider approved before: such ones need the customer's window (specification §4). */
export const isFreeForm = (message: OutboundMessage): boolean => message.type !== "template"

/** Why a message failed: the error's code and reason, in words, and what the provider said. */
export interface MessageError {
  readonly code: string
  readonly reason?: string
  readonly message: string
  readonly provider?: ProviderDetail
}

/** An error as it is stored with a failed message. */
export const errorOf = (error: DomainError): MessageError => {
  const reason = reasonOf(error)
  return {
    code: error.code,
    ...(reason === undefined ? {} : { reason }),
    message: error.message,
    ...(error.provider === undefined ? {} : { provider: error.provider })
  }
}

/** What upstream said of a message's price; words are its own. */
export interface Pricing {
  readonly billable: boolean
  /** How it counts: `PMP`, by message. */
  readonly model: string
  /** `regular`, `free_customer_service`, `free_entry_point`. */
  readonly type: string
  /** `marketing`, `utility`, `authentication`, `service`, … */
  readonly category: string
}

/** `queued` is for campaigns. A status never moves to a lower rank; `failed` is outside the ranks. */
export const ranks = { queued: 0, sending: 1, unknown: 2, sent: 3, delivered: 4, read: 5 } as const

/** One of {@link ranks}, or `failed`. */
export const MessageStatus = Schema.Literals([...Struct.keys(ranks), "failed"])
export type MessageStatus = typeof MessageStatus.Type

/** A stored message. */
export interface Message {
  readonly id: MessageId
  readonly workspaceId: WorkspaceId
  /** The API key that asked for it; `null`: a person did, from the dashboard. */
  readonly apiKeyId: ApiKeyId | null
  readonly phoneNumberId: PhoneNumberId
  readonly from: E164
  readonly content: OutboundMessage
  readonly status: MessageStatus
  /** When it took its status, by our clock; of one that is `sending` without a claim, when the last try ended. */
  readonly statusAt: Instant
  readonly providerMessageId: string | null
  readonly createdAt: Instant
  readonly sentAt: Instant | null
  readonly deliveredAt: Instant | null
  readonly readAt: Instant | null
  readonly failedAt: Instant | null
  readonly error: MessageError | null
  /** As upstream last told it; `null`: it told nothing. */
  readonly pricing: Pricing | null
  /** When a recording was listened to. */
  readonly playedAt: Instant | null
  /** How many events this message has had; the next has this plus one as `data.sequence`. */
  readonly sequence: number
}

/** How long a message stays `unknown` without a report before it counts as failed (contract §3). */
export const unknownTimeout = Duration.minutes(10)

/** How long a message that was certainly not sent waits for a retry before it counts as failed (contract §3). */
export const retryTimeout = Duration.hours(24)

/** What upstream says became of a message, or what the answer to the send itself said. `at` is upstream's time. */
export interface Report {
  readonly status: "sent" | "delivered" | "read" | "failed"
  readonly at: Instant
  readonly providerMessageId: string | null
  /** Given when `status` is `failed`. */
  readonly error: MessageError | null
  /** What upstream said of the price in the same breath. */
  readonly pricing?: Pricing
  /** Whether it is a recording that was listened to. */
  readonly isPlayed?: boolean
}

/** One step of a message's life that its workspace is told of. */
export interface Transition {
  readonly to: Report["status"]
  readonly at: Instant
  /** Of the step whose report told it. */
  readonly pricing?: Pricing
}

/** A message after a report, and the steps it took; no steps when the report told nothing new. */
export interface Moved {
  readonly message: Message
  readonly transitions: ReadonlyArray<Transition>
}

/** The reasons of the failures that we conclude from silence (contract §3). */
export const notSent: MessageError = {
  code: "server_error",
  reason: "not_sent",
  message: "the message was never sent: no retry came within 24 hours"
}

/** The failure of a message of which nothing was heard in time. */
export const deliveryUnknown: MessageError = {
  code: "server_error",
  reason: "delivery_unknown",
  message: "the provider did not confirm whether it accepted the message and reported nothing about it for 10 minutes"
}

/** Whether this failure is our conclusion from silence, which alone yields to a later report. */
export const isDeliveryUnknown = (message: Pick<Message, "status" | "error">): boolean =>
  message.status === "failed" && message.error?.reason === deliveryUnknown.reason

const ladder = ["sent", "delivered", "read"] as const
const timeField = { sent: "sentAt", delivered: "deliveredAt", read: "readAt" } as const

/**
 * The time of a reported step: that of the report, but not before that of the step before it. Upstream's times are in
 * whole seconds, and by another clock than those that we note ourselves.
 */
const timeOf = ({ createdAt, deliveredAt, sentAt }: Message, { at, status }: Report): Instant =>
  Math.max(
    at,
    createdAt,
    status === "sent" ? createdAt : sentAt ?? createdAt,
    status === "read" ? deliveredAt ?? createdAt : createdAt
  )

/** The newest word on the price, and the first on listening. */
const withAsides = (message: Message, { at, isPlayed, pricing }: Report): Message =>
  pricing === undefined && isPlayed !== true ? message : {
    ...message,
    pricing: pricing ?? message.pricing,
    playedAt: isPlayed === true ? message.playedAt ?? Math.max(at, message.createdAt) : message.playedAt
  }

const step = <To extends Report["status"]>({ pricing, status }: Report, to: To, at: Instant) => ({
  to,
  at,
  ...(pricing === undefined || to !== status ? {} : { pricing })
})

/**
 * Applies a report. Laws, whatever the order and number of reports: a rank never falls, every step is taken once
 * and in order (skipped ones first, with the later time, and none with a time before that of the step before it), a late
 * lower report only fills a time, and `failed` is reached only from below `delivered` and left only when it was
 * {@link isDeliveryUnknown}. What is said of the price and of listening counts whatever becomes of the status.
 */
export const apply = (message: Message, report: Report, now: Instant): Moved => {
  const at = timeOf(message, report)
  const told = withAsides(message, report)
  const named: Message = told.providerMessageId === null && report.providerMessageId !== null
    ? { ...told, providerMessageId: report.providerMessageId }
    : told
  const reopened: Message = isDeliveryUnknown(named)
    ? { ...named, status: "unknown", failedAt: null, error: null }
    : named
  const target = report.status
  if (target === "failed") {
    if (reopened.status === "failed" || ranks[reopened.status] >= ranks.delivered) {
      return { message: named, transitions: [] }
    }
    return {
      message: { ...reopened, status: "failed", statusAt: now, failedAt: at, error: report.error },
      // its workspace was told already that it failed; only the reason is known better now
      transitions: reopened === named ? [step(report, "failed", at)] : []
    }
  }
  if (reopened.status === "failed" || ranks[target] <= ranks[reopened.status]) {
    const field = timeField[target]
    return { message: named[field] === null ? { ...named, [field]: at } : named, transitions: [] }
  }
  const from = ranks[reopened.status]
  const transitions = ladder
    .filter((step) => ranks[step] > from && ranks[step] <= ranks[target])
    .map((to) => step(report, to, reopened[timeField[to]] ?? at))
  const times = Object.fromEntries(transitions.map(({ at, to }) => [timeField[to], at]))
  return { message: { ...reopened, ...times, status: target, statusAt: now }, transitions }
}
