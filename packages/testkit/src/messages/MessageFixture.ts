/**
 * Messages for the suites: what a workspace sends, what happens to it, and what its customers write.
 */
import { assert } from "@effect/vitest"
import {
  Capabilities,
  type Contact,
  ContactStore,
  CustomerNames,
  type E164,
  Errors,
  EventStore,
  type Id,
  type Idempotency,
  type Limits,
  type Message,
  MessageStore,
  type PhoneNumber,
  type RateLimit,
  type Suppression,
  type Time
} from "@wac/core"
import { Effect, Option, type Schema } from "effect"
import type { SecureRandom } from "effect/crypto"
import * as Fixture from "../Fixture.ts"

/** The `n`th customer. Each is a possible number. */
export const customer = (n: number): E164.E164 => `+1202555${String(n).padStart(4, "0")}`

/** A send of a template, by default `plain` to the first customer. */
export const template = (
  given: {
    readonly to?: E164.E164
    readonly name?: string
    readonly language?: string
    readonly bodyParams?: ReadonlyArray<string>
    readonly from?: string
    readonly clientReference?: string
  } = {}
): Message.OutboundMessage => ({
  type: "template",
  to: given.to ?? customer(1),
  template: {
    name: given.name ?? "plain",
    language: given.language ?? "en_US",
    ...(given.bodyParams === undefined ? {} : { bodyParams: given.bodyParams })
  },
  ...(given.from === undefined ? {} : { from: given.from }),
  ...(given.clientReference === undefined ? {} : { clientReference: given.clientReference })
})

/** A send of free-form text. */
export const text = (to: E164.E164 = customer(1), body = "How are you?"): Message.OutboundMessage => ({
  type: "text",
  to,
  text: { body }
})

/** How a send differs from the default. */
export interface SendOptions {
  readonly now?: Time.Instant
  readonly key?: string
  readonly fingerprint?: string
  readonly route?: string
  /** `null` if a person sends it. */
  readonly apiKeyId?: Id.ApiKeyId | null
  /** The queue whose message it is; none by default. */
  readonly queue?: MessageStore.Queue
  /** How the message is to be queued; by default it is sent. */
  readonly later?: Partial<MessageStore.Later>
  readonly message?: Message.OutboundMessage
  readonly leaseUntil?: Time.Instant
  readonly limits?: Limits.Limits
  /** The provider that runs. Defaults to the number's. */
  readonly provider?: string
  readonly capabilities?: Capabilities.Capabilities
}

/**
 * A command to accept a send: by default at the start, with {@link template}, under a fresh key, with a lease of 30 s.
 */
export const sendCommand = (
  world: Fixture.World,
  options: SendOptions = {}
): Effect.Effect<MessageStore.AcceptSend, never, SecureRandom.SecureRandom> =>
  Effect.gen(function*() {
    const now = options.now ?? world.start
    return {
      now,
      request: {
        workspaceId: world.workspace.id,
        route: options.route ?? "POST /v1/messages",
        key: (options.key ?? (yield* Fixture.word)) as Idempotency.IdempotencyKey,
        fingerprint: options.fingerprint ?? "one"
      },
      apiKeyId: options.apiKeyId === undefined ? world.key.id : options.apiKeyId,
      queue: options.queue ?? null,
      later: options.later === undefined ? null : { isInBatch: false, ...options.later },
      message: options.message ?? template(),
      hash: hashOf(CustomerNames.keyOf((options.message ?? template()).to)),
      messageId: yield* Fixture.id("msg"),
      claimToken: yield* Fixture.word,
      leaseUntil: options.leaseUntil ?? now + 30 * Fixture.second,
      limits: options.limits ?? Fixture.roomy,
      provider: options.provider ?? world.number.provider,
      capabilities: options.capabilities ?? Capabilities.all
    }
  })

/** Builds a send's command and accepts it. */
export const accept = (world: Fixture.World, options: SendOptions = {}) =>
  Effect.gen(function*() {
    const command = yield* sendCommand(world, options)
    const accepted = yield* MessageStore.MessageStore.use((store) => store.accept(command))
    return { command, accepted }
  })

/**
 * The command of an accepted send, with its message as claimed; `messageId` is that message's id, even for a later try.
 */
export interface ClaimedCommand extends MessageStore.AcceptSend {
  readonly claimed: Message.Message
}

/** An accepted and claimed send, with its command. */
export interface Claim {
  readonly command: ClaimedCommand
  readonly accepted: MessageStore.ClaimedSend & { readonly readings: MessageStore.Accepted["readings"] }
}

/** Accepts a send, and fails the test unless it was claimed. */
export const claimed = (
  world: Fixture.World,
  options: SendOptions = {}
): Fixture.Step<Claim> =>
  Effect.map(accept(world, options), ({ accepted, command }) => {
    if (accepted._tag !== "Claimed") return assert.fail(`expected a claim, got ${describe(accepted)}`)
    const { message: claimed } = accepted
    return { command: { ...command, messageId: claimed.id, claimed }, accepted }
  })

/** The readings of a workspace's first send under the usual limits. */
export const firstReadings: ReadonlyArray<RateLimit.Reading> = [
  {
    policy: { name: "workspace", interval: 10, capacity: 200 },
    remaining: 199,
    resetAfter: 10,
    allowed: true
  },
  {
    policy: { name: "phone_number", interval: 12.5, capacity: 160 },
    remaining: 159,
    resetAfter: 12.5,
    allowed: true
  },
  {
    policy: { name: "pair", interval: 6000, capacity: 45 },
    remaining: 44,
    resetAfter: 6000,
    allowed: true
  }
]

/** The answer of *accept* in one line. */
export const describe = (accepted: MessageStore.Accepted): string =>
  accepted._tag === "Refused" ? `${accepted.error.code}/${Errors.reasonOf(accepted.error)}` : accepted._tag

/** Settles a claim, by default at the time of its accept. */
export const settle = (
  command: MessageStore.AcceptSend & Partial<ClaimedCommand>,
  end: MessageStore.SendEnd,
  now: Time.Instant = command.now
) =>
  Effect.gen(function*() {
    const ids = yield* Fixture.eventIds
    const { claimToken, messageId: id, request: { workspaceId } } = command
    const message = { ...command.claimed ?? asClaimed(command), id, workspaceId }
    return yield* MessageStore.MessageStore.use((store) => store.settle({ now, message, claimToken, end, ids }))
  })

/** The message that a first try would claim, with a placeholder for the phone number. */
export const asClaimed = (command: MessageStore.AcceptSend): Message.Message =>
  MessageStore.claimedMessage(
    command,
    { id: "pn_0", phoneNumber: "+12025550000" } as PhoneNumber.PhoneNumber,
    undefined
  )

/** The outcome of a send that the provider accepted under a fresh id. */
export const acceptedOutcome = Effect.map(
  Fixture.word,
  (name) => ({ _tag: "Accepted", providerMessageId: `wamid.${name}` } as const)
)

const undeliverable = {
  reason: "undeliverable",
  message: "the recipient cannot be reached",
  provider: { code: "131026", message: "Message undeliverable" }
} as const

/** The stored error of a message whose outcome is {@link refusedOutcome}. */
export const refusedError: Message.MessageError = { code: "invalid_body", ...undeliverable }

/** The outcome of a send that the provider refused for good. */
export const refusedOutcome = (
  at: Time.Instant
): Effect.Effect<MessageStore.SendEnd & { readonly _tag: "Refused" }, never, SecureRandom.SecureRandom> =>
  Effect.map(Fixture.id("req"), (requestId) => ({
    _tag: "Refused",
    report: { status: "failed", at, providerMessageId: null, error: refusedError },
    answer: { _tag: "Failed", error: new Errors.InvalidBody({ param: "to", ...undeliverable }), requestId }
  }))

/** The outcome of a send that certainly sent nothing. */
export const notSentOutcome: Effect.Effect<
  MessageStore.SendEnd & { readonly _tag: "NotSent" },
  never,
  SecureRandom.SecureRandom
> = Effect.map(Fixture.id("req"), (requestId) => ({
  _tag: "NotSent",
  answer: {
    _tag: "Failed",
    error: new Errors.ServerError({ reason: "provider_unavailable", message: "the provider is not reachable" }),
    requestId
  }
}))

/** One of each outcome that a send may have. */
export const everyOutcome = Effect.fnUntraced(function*(at: Time.Instant) {
  const outcomes: ReadonlyArray<MessageStore.SendEnd> = [
    yield* acceptedOutcome,
    yield* refusedOutcome(at),
    yield* notSentOutcome,
    { _tag: "Unknown" }
  ]
  return outcomes
})

/** The stored message of a send. */
export const messageOf = ({ messageId, request }: MessageStore.AcceptSend) =>
  Effect.map(
    MessageStore.MessageStore.use((store) => store.get(request.workspaceId, messageId)),
    Option.getOrThrow
  )

/** Looks up the verdict on a send's idempotency key, by default at the send's own time. */
export const lookUp = ({ now, request }: MessageStore.AcceptSend, at: Time.Instant = now) =>
  MessageStore.MessageStore.use((store) => store.lookUp(request, at))

/** The workspace's events, oldest first. */
export const eventsOf = ({ workspace }: Fixture.World) =>
  Effect.map(
    EventStore.EventStore.use((store) => store.list(workspace.id, {}, { limit: 100, after: null })),
    ({ items }) => items
  )

/** Accepts a send and settles it as accepted by the provider. */
export const sent = (world: Fixture.World, options: SendOptions = {}) =>
  Effect.gen(function*() {
    const { command } = yield* claimed(world, options)
    const end = yield* acceptedOutcome
    assert.isTrue(yield* settle(command, end))
    return { command, messageId: command.messageId, providerMessageId: end.providerMessageId }
  })

/** A provider report about a message, by default by our reference and at its own time. */
export const report = (
  given: {
    readonly status: Message.Report["status"]
    readonly at: Time.Instant
    readonly reference: Id.MessageId | null
    readonly providerMessageId?: string | null
    readonly providerNumberId?: string
    readonly now?: Time.Instant
    /** Why it failed. */
    readonly error?: Message.MessageError
  }
) =>
  Effect.gen(function*() {
    const ids = yield* Fixture.eventIds
    const reported = yield* MessageStore.MessageStore.use((store) =>
      store.applyReport({
        now: given.now ?? given.at,
        providerNumberId: given.providerNumberId ?? null,
        reference: given.reference,
        report: {
          status: given.status,
          at: given.at,
          providerMessageId: given.providerMessageId ?? null,
          error: given.status === "failed" ? given.error ?? refusedError : null
        },
        ids
      })
    )
    return reported !== undefined
  })

/** How a customer's message differs from the default. */
export interface InboundOptions {
  readonly at?: Time.Instant
  readonly now?: Time.Instant
  readonly customer?: E164.E164 | Contact.Customer
  readonly providerMessageId?: string
  readonly providerNumberId?: string
  readonly preference?: "opt_out" | "opt_in"
  /** Defaults to a text. */
  readonly content?: { readonly type: string; readonly content: Schema.Json }
  readonly isEcho?: boolean
  readonly ids?: MessageStore.EventIds
}

/** The given customer; a phone number becomes a customer with no other name. */
export const customerOf = (customer: E164.E164 | Contact.Customer): Contact.Customer =>
  typeof customer === "string" ? { phone: customer, userId: null } : customer

/** A fake hash of a name: storages compare hashes and never compute them. */
const hashOf = (name: string): string => `hash of ${JSON.stringify(name)}`

/** The hashes of names. */
export const hashesFor = (names: ReadonlyArray<string>): Suppression.Hashes =>
  Object.fromEntries(names.map((name) => [name, hashOf(name)]))

/** The hashes of customers' names. */
export const hashesOf = (...customers: ReadonlyArray<Contact.Customer>): Suppression.Hashes =>
  hashesFor(customers.flatMap(CustomerNames.keysIn))

/** Records a customer's text, by default of the first customer, at the start. */
export const inbound = (world: Fixture.World, options: InboundOptions = {}) =>
  Effect.gen(function*() {
    const at = options.at ?? world.start
    const command = {
      now: options.now ?? at,
      hashes: hashesOf(customerOf(options.customer ?? customer(1))),
      message: {
        providerNumberId: options.providerNumberId ?? world.number.providerNumberId,
        providerMessageId: options.providerMessageId ?? `wamid.${yield* Fixture.word}`,
        customer: customerOf(options.customer ?? customer(1)),
        at,
        type: "text",
        content: { body: "Hello, who is this?" },
        ...options.content,
        context: null,
        preference: options.preference,
        ...(options.isEcho === undefined ? {} : { isEcho: options.isEcho })
      },
      messageId: yield* Fixture.id("msg"),
      ids: options.ids ?? (yield* Fixture.eventIds)
    } satisfies Parameters<ContactStore.ContactStore["Service"]["recordInbound"]>[0]
    const recorded = yield* ContactStore.ContactStore.use((store) => store.recordInbound(command))
    return { command, recorded }
  })

/** What a cancel needs for a message that may be in the outbox; its message names its sender. */
export const enqueued: MessageStore.CancelSend["enqueued"] = {
  fingerprint: "one",
  provider: "sandbox",
  read: (message) => message as never
}
