/**
 * Events (specification §6, contract §6): what a workspace is notified of. Each is written in the same step as the
 * change that it reports. Builds events and their bodies; pure.
 */
import { Schema } from "effect"
import type { DeliveryId, EventId, MessageId, WebhookId, WorkspaceId } from "../Id.ts"
import { type InboundMessage, isLate } from "../inbound/InboundMessage.ts"
import type { Message, Transition } from "../messages/Message.ts"
import type { E164 } from "../numbers/E164.ts"
import { type Instant, iso } from "../Time.ts"

/** The type of change that an event reports. */
export const EventType = Schema.Literals([
  "message.sent",
  "message.delivered",
  "message.read",
  "message.failed",
  "message.received",
  "message.echoed",
  "campaign.completed",
  "webhook.test"
]).annotate({ identifier: "EventType", description: "The type of an event." })
export type EventType = typeof EventType.Type

export const Envelope = Schema.Literals(["combined", "a", "b"]).annotate({
  identifier: "Envelope",
  description: "The envelope of a webhook's events: `combined` is the union of the two shapes in the specification; " +
    "`a` and `b` are each exactly one of them."
})
export type Envelope = typeof Envelope.Type

/** The `data` of an event in combined form, with the field names of the wire format. */
export type EventData = { readonly [field: string]: Schema.Json }

/** A recorded event. It is immutable. */
export interface Event {
  readonly id: EventId
  readonly workspaceId: WorkspaceId
  readonly type: EventType
  readonly createdAt: Instant
  /** Events with the same key are delivered in the order of `sequence`. `null` if the event has no order. */
  readonly orderKey: MessageId | null
  readonly sequence: number | null
  readonly data: EventData
  /**
   * The span that recorded the event, as a `traceparent`. The spans of its deliveries link to it. `null` if no
   * collector got that span. It is never sent or listed.
   */
  readonly trace: string | null
}

/** An event as a step writes it. */
export interface Recorded {
  readonly event: Event
  /** The id for its delivery, which is created if the workspace's webhook subscribes to the type. */
  readonly deliveryId: DeliveryId
}

/**
 * Builds the event of one of a message's steps. `message` is in its state after all of the steps; `sequence` is the
 * sequence of this step.
 */
export const ofTransition = (
  message: Message,
  transition: Transition,
  event: {
    readonly id: EventId
    readonly createdAt: Instant
    readonly sequence: number
    readonly trace?: string | null
  }
): Event => ({
  id: event.id,
  workspaceId: message.workspaceId,
  type: `message.${transition.to}`,
  createdAt: event.createdAt,
  orderKey: message.id,
  sequence: event.sequence,
  data: {
    message_id: message.id,
    provider_message_id: message.providerMessageId,
    to: message.content.to,
    status: transition.to,
    [`${transition.to}_at`]: iso(transition.at),
    ...(transition.to === "failed" ? { error: { ...message.error } as EventData } : {}),
    ...(transition.corrects === undefined ? {} : { corrects: transition.corrects }),
    ...(transition.pricing === undefined ? {} : { pricing: { ...transition.pricing } }),
    ...(message.content.clientReference === undefined ? {} : { client_reference: message.content.clientReference }),
    sequence: event.sequence
  },
  trace: event.trace ?? null
})

/**
 * Builds the event of a customer's message, or of a message that the business wrote on its own phone. It has no order,
 * since a message has only one event.
 */
export const ofInbound = (
  message: InboundMessage,
  to: { readonly workspaceId: WorkspaceId; readonly phoneNumber: E164 },
  event: {
    readonly id: EventId
    readonly messageId: MessageId
    readonly createdAt: Instant
    readonly trace?: string | null
  }
): Event => ({
  id: event.id,
  workspaceId: to.workspaceId,
  type: message.isEcho === true ? "message.echoed" : "message.received",
  createdAt: event.createdAt,
  orderKey: null,
  sequence: null,
  data: {
    message_id: event.messageId,
    provider_message_id: message.providerMessageId,
    ...partiesOf(message, to.phoneNumber),
    type: message.type,
    [message.type]: message.content,
    ...(message.context === null ? {} : { context: message.context }),
    [message.isEcho === true ? "sent_at" : "received_at"]: iso(message.at),
    late: isLate(message, event.createdAt)
  },
  trace: event.trace ?? null
})

/**
 * The sender and the recipient in an event's data. The customer is the phone number, or the user id if the number is
 * not known.
 */
const partiesOf = ({ customer: { phone, userId }, isEcho, profile }: InboundMessage, number: E164): EventData =>
  isEcho === true
    ? { from: number, to: phone ?? userId, ...(userId === null ? {} : { to_user_id: userId }) }
    : {
      from: phone ?? userId,
      ...(userId === null ? {} : { from_user_id: userId }),
      to: number,
      ...(profile === undefined ? {} : { profile: { ...profile } })
    }

/** The customer that an event is about, by phone number or user id; `null` if it is not about one. */
export const customerOf = (
  { data, type }: { readonly type: EventType; readonly data: { readonly from?: unknown; readonly to?: unknown } }
): string | null => {
  const customer = type === "message.received" ? data.from : type.startsWith("message.") ? data.to : null
  return typeof customer === "string" ? customer : null
}

/** Builds the event of a webhook test. It has no order. */
export const ofTest = (
  webhook: { readonly id: WebhookId; readonly workspaceId: WorkspaceId },
  event: { readonly id: EventId; readonly createdAt: Instant; readonly trace?: string | null }
): Event => ({
  id: event.id,
  workspaceId: webhook.workspaceId,
  type: "webhook.test",
  createdAt: event.createdAt,
  orderKey: null,
  sequence: null,
  data: { webhook_id: webhook.id, tested_at: iso(event.createdAt) },
  trace: event.trace ?? null
})

/**
 * The maximum number of events that one report causes: `read` for a message that is still `sending` also causes events
 * for the two skipped steps.
 */
export const maxPerReport = 3

/**
 * Builds the events of a message's steps and advances the message's sequence. `ids.events` holds at least one fresh
 * identifier for each step.
 */
export const ofTransitions = (
  message: Message,
  transitions: ReadonlyArray<Transition>,
  ids: { readonly events: ReadonlyArray<EventId>; readonly trace?: string | null },
  createdAt: Instant
): { readonly message: Message; readonly events: ReadonlyArray<Event> } => ({
  message: { ...message, sequence: message.sequence + transitions.length },
  events: transitions.map((transition, i) =>
    ofTransition(message, transition, {
      id: ids.events[i]!,
      createdAt,
      sequence: message.sequence + i + 1,
      trace: ids.trace ?? null
    })
  )
})

/** Fields of `data` that variant A omits, besides every `…_at`. */
const notInA = new Set([
  "provider_message_id",
  "sequence",
  "client_reference",
  "late",
  "pricing",
  "profile",
  "corrects"
])
/** Fields of `data` that variant B omits. */
const notInB = new Set(["status", "sequence", "client_reference", "late", "pricing", "profile", "corrects"])

/** An event in combined form, with the fields in the order in which they are sent. */
export const combined = ({ createdAt, data, id, type, workspaceId }: Event) => ({
  id,
  object: "event" as const,
  type,
  created_at: iso(createdAt),
  tenant_id: workspaceId,
  data
})

/**
 * The body that is signed and sent. A pure function of the event and the variant, so it is identical at every attempt,
 * replay and resume.
 */
export const body = (event: Event, envelope: Envelope): string => {
  const whole = combined(event)
  const { created_at, data, id, tenant_id, type } = whole
  switch (envelope) {
    case "combined":
      return JSON.stringify(whole)
    case "a":
      return JSON.stringify({ id, type, created_at, data: pick(data, (f) => !notInA.has(f) && !f.endsWith("_at")) })
    case "b":
      return JSON.stringify({ type, tenant_id, data: pick(data, (field) => !notInB.has(field)) })
  }
}

const pick = (data: EventData, keep: (field: string) => boolean): EventData =>
  Object.fromEntries(Object.entries(data).filter(([field]) => keep(field)))
