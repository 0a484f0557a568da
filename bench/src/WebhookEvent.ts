/**
 * The events that `deliveries` and `neighbours` deliver: a customer's message, with exactly the body that our server
 * builds, so that every contestant posts the same bytes.
 */
import { Event, Id, type InboundMessage } from "@wac/core"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomBytes } from "node:crypto"
import * as Time from "./Time.ts"
import * as Workload from "./Workload.ts"

/** A webhook in a workspace of its own. The path of its URL ends with its index. */
export interface Webhook {
  readonly workspaceId: Id.WorkspaceId
  readonly phoneNumber: string
  readonly providerNumberId: string
  readonly url: string
  readonly secret: string
}

/** An event to record, with its identifiers. */
export interface NewEvent {
  readonly webhook: number
  readonly at: number
  readonly id: Id.EventId
  readonly messageId: Id.MessageId
  readonly message: InboundMessage.InboundMessage
}

/** The job of a queue for an event. */
export interface Job {
  readonly eventId: string
  readonly webhook: number
  readonly body: string
}

/** Records events durably: one event alone, several in bulk. */
export type RecordEvents = (events: ReadonlyArray<NewEvent>) => Promise<void>

const random = Effect.runSync(Effect.provide(SecureRandom.SecureRandom, SecureRandom.layerWebCrypto))

/** Generates an identifier. */
export const id = <Prefix extends keyof Id.ByPrefix>(prefix: Prefix): Id.ByPrefix[Prefix] =>
  Effect.runSync(Id.generate(random, prefix))

/** The number of the n-th workspace, and the provider's identifier of it. */
export const numberOf = (n: number) => ({
  phoneNumber: `+1201555${String(n).padStart(4, "0")}`,
  providerNumberId: `bench-${n}`
})

/** Webhooks that are not stored anywhere. */
export const webhooksAt = (urls: ReadonlyArray<string>): ReadonlyArray<Webhook> =>
  urls.map((url, n) => ({
    workspaceId: id("ws"),
    ...numberOf(n),
    url,
    secret: `whsec_${randomBytes(30).toString("base64")}`
  }))

export const make = ({ providerNumberId }: Webhook, webhook: number): NewEvent => {
  const at = Time.now()
  const messageId = id("msg")
  return {
    webhook,
    at,
    id: id("evt"),
    messageId,
    message: {
      providerNumberId,
      providerMessageId: `wamid.${messageId}`,
      customer: { phone: Workload.someCustomer(), userId: null },
      at,
      type: "text",
      content: { body: "Hello, when will my order arrive?" },
      context: null,
      preference: undefined
    }
  }
}

export const jobOf = (to: Webhook, { at, id, message, messageId, webhook }: NewEvent): Job => ({
  eventId: id,
  webhook,
  body: Event.body(Event.ofInbound(message, to, { id, messageId, createdAt: at }), "combined")
})
