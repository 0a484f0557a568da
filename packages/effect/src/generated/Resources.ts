/**
 * The inputs and outputs of the methods of a workspace, in camelCase. Times are ISO 8601 in UTC. Written from the API
 * definition; do not edit.
 */
import type { EventType, ProviderDetail } from "./Event.ts"
import type { CampaignCounts, CampaignDifference, UsageLine } from "./Messaging.ts"
import type { Json } from "../Json.ts"
import type { TimeInput } from "../TimeInput.ts"

/** A template of any status. */
export interface Template {
  readonly id: string
  readonly name: string
  readonly language: string
  /** `marketing`, `utility` or `authentication`. */
  readonly category: string
  /** `approved`, `pending`, `rejected`, `paused`, `disabled`, or another word of the provider. */
  readonly status: string
  readonly parameterFormat: "positional" | "named"
  /** As the provider has them. */
  readonly components: ReadonlyArray<Json>
  /** Placeholders of the body, in the order in which `bodyParams` fills them. */
  readonly variables: ReadonlyArray<string>
  /** Why `bodyParams` alone cannot fill the template, for people; `null` if they can. */
  readonly unfillable: string | null
  readonly quality: string | null
  readonly rejectionReason: string | null
  /** The account that owns it: only its numbers can send it. */
  readonly providerAccountId: string
  readonly providerTemplateId: string
  readonly syncedAt: string
}

/** A template to create. */
export interface NewTemplate {
  /** Lower-case letters, digits and underscores. */
  readonly name: string
  readonly language: string
  readonly category: TemplateCategory
  /** `positional` if omitted. */
  readonly parameterFormat?: "positional" | "named"
  readonly components: ReadonlyArray<TemplateComponent>
  /** How long the provider tries to deliver a message, in seconds. -1 is the provider's own 30 days. */
  readonly messageSendTtlSeconds?: number
  /** The number in whose account it is created: the default number, if omitted. */
  readonly phoneNumberId?: string
}

/** The purpose of a template. The provider judges and prices templates by it, and may change it. */
export type TemplateCategory = "marketing" | "utility" | "authentication"

/** A part of a template, as the provider has it. Each type occurs once at most, and a body is required. */
export type TemplateComponent =
  | HeaderComponent
  | BodyComponent
  | FooterComponent
  | ButtonsComponent
  | OfferComponent
  | CarouselComponent

/** Text with one placeholder at most, a file or a location. */
export interface HeaderComponent {
  readonly type: "HEADER"
  readonly format: "TEXT" | "IMAGE" | "VIDEO" | "DOCUMENT" | "LOCATION"
  readonly text?: string
  readonly example?: {
    readonly header_text?: ReadonlyArray<string>
    readonly header_text_named_params?: ReadonlyArray<NamedSample>
    /** The handle of one uploaded file. */
    readonly header_handle?: ReadonlyArray<string>
    /** In place of a handle: the id of a file of the workspace, which the provider gets a copy of. */
    readonly media?: string
  }
}

/** A sample value of a named placeholder. */
export interface NamedSample {
  readonly param_name: string
  readonly example: string
}

/** The text, which an authentication template leaves to the provider. */
export interface BodyComponent {
  readonly type: "BODY"
  readonly text?: string
  readonly example?: {
    /** One list, with a value for each placeholder. */
    readonly body_text?: ReadonlyArray<ReadonlyArray<string>>
    readonly body_text_named_params?: ReadonlyArray<NamedSample>
  }
  readonly add_security_recommendation?: boolean
}

/** A line below the text, without placeholders. */
export interface FooterComponent {
  readonly type: "FOOTER"
  readonly text?: string
  readonly code_expiration_minutes?: number
}

/** One to ten buttons. */
export interface ButtonsComponent {
  readonly type: "BUTTONS"
  readonly buttons: ReadonlyArray<ButtonComponent>
}

/** A button. */
export type ButtonComponent =
  | {
    readonly type: "QUICK_REPLY"
    readonly text: string
  }
  | {
    readonly type: "URL"
    readonly text: string
    readonly url: string
    readonly example?: ReadonlyArray<string>
  }
  | {
    readonly type: "PHONE_NUMBER"
    readonly text: string
    readonly phone_number: string
  }
  | {
    readonly type: "COPY_CODE"
    readonly text?: string
    readonly example: string | ReadonlyArray<string>
  }
  | {
    readonly type: "FLOW"
    readonly text: string
    readonly flow_id?: string
    readonly flow_name?: string
    readonly flow_json?: string
    readonly flow_action?: "navigate" | "data_exchange"
    readonly navigate_screen?: string
    readonly icon?: string
  }
  | {
    readonly type: "CATALOG"
    readonly text: string
  }
  | {
    readonly type: "MPM"
    readonly text: string
  }
  | {
    readonly type: "SPM"
    readonly text: string
  }
  | {
    readonly type: "VOICE_CALL"
    readonly text: string
  }
  | {
    readonly type: "OTP"
    readonly otp_type: "COPY_CODE" | "ONE_TAP" | "ZERO_TAP"
    readonly text?: string
    readonly autofill_text?: string
    readonly zero_tap_terms_accepted?: boolean
    readonly supported_apps?: ReadonlyArray<{
      readonly package_name: string
      readonly signature_hash: string
    }>
  }

/** An offer that ends, in a marketing template. */
export interface OfferComponent {
  readonly type: "LIMITED_TIME_OFFER"
  readonly limited_time_offer: {
    readonly text: string
    readonly has_expiration?: boolean
  }
}

/** Two to ten cards with the same components. */
export interface CarouselComponent {
  readonly type: "CAROUSEL"
  readonly cards: ReadonlyArray<{
    readonly components: ReadonlyArray<HeaderComponent | BodyComponent | ButtonsComponent>
  }>
}

/** A change of a template: at least one field. */
export interface TemplateEdit {
  readonly category?: TemplateCategory
  /** Replace the old ones as a whole. */
  readonly components?: ReadonlyArray<TemplateComponent>
  /** How long the provider tries to deliver a message, in seconds. -1 is the provider's own 30 days. */
  readonly messageSendTtlSeconds?: number
}

/** A key in the list. */
export interface ListedApiKey {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<ApiScope>
  /** At most 60 s behind; `null` before the first use. */
  readonly lastUsedAt: string | null
}

/**
 * The permissions of a key. `messages:send` also lists templates; `messages:read` reads messages, events and media.
 */
export type ApiScope = "messages:send" | "messages:read" | "media:write" | "contacts:write" | "campaigns:write"

/** One key with all fields, but without its secrets. */
export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<ApiScope>
  /** At most 60 s behind; `null` before the first use. */
  readonly lastUsedAt: string | null
  readonly prefix: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly requireSignature: boolean
  /** The only phone numbers that the key may send from; `null`: all of the workspace. */
  readonly phoneNumberIds: ReadonlyArray<string> | null
  /** The only networks that the key may be used from, as CIDRs; `null`: anywhere. */
  readonly allowedCidrs: ReadonlyArray<string> | null
}

/** The request to create a key. */
export interface NewApiKey {
  /** 1 to 100 characters, not counting white space around them. */
  readonly name: string
  /** A time in the future; if omitted, the key never expires. */
  readonly expiresAt?: TimeInput
  /** Whether requests that change something must be signed. */
  readonly requireSignature?: boolean
  /**
   * The key's scopes, in any order; `messages:send` is always added. If omitted: `messages:send`, `messages:read`,
   * `media:write`.
   */
  readonly scopes?: ReadonlyArray<ApiScope>
  /** The ids of the only phone numbers of the workspace that the key may send from, 1 to 100; if omitted, all. */
  readonly phoneNumberIds?: ReadonlyArray<string>
  /**
   * The only networks that the key may be used from, 1 to 100 CIDRs like `203.0.113.0/24` or single addresses; if
   * omitted, anywhere. From elsewhere, the key is answered as if it did not exist.
   */
  readonly allowedCidrs?: ReadonlyArray<string>
}

/**
 * A new key. Only this response contains `apiKey` and `signingSecret`; a repetition of the request returns it without
 * them.
 */
export interface CreatedApiKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  /** The key itself, `wac_live_…`. */
  readonly apiKey?: string
  /** The secret that signs requests, `whsec_…`. */
  readonly signingSecret?: string
  readonly scopes: ReadonlyArray<ApiScope>
  readonly createdAt: string
}

/**
 * The roles, from the fewest to the most permissions: `member` reads, `developer` also changes keys and the webhook,
 * `admin` also members, `owner` everything.
 */
export type Role = "member" | "developer" | "admin" | "owner"

/** A number of the workspace, with the limits in force. */
export interface PhoneNumber {
  readonly id: string
  /** In E.164 format. */
  readonly phoneNumber: string
  /** Whether sends without `from` use this number. */
  readonly isDefault: boolean
  /**
   * The number's provider: `sandbox`, `whatsapp`, or the host's own. While a different provider runs, sends from the
   * number are refused.
   */
  readonly provider: string
  /** The provider's id of the number. */
  readonly providerNumberId: string
  readonly providerAccountId: string
  /** The business portfolio, whose numbers share the messaging limit; `null` until the operator has told it. */
  readonly portfolioId: string | null
  /** `disabled` by the operator, or `blocked` by the provider, with the cause in `block`. */
  readonly status: "available" | "blocked" | "disabled"
  readonly block: SenderBlock | null
  /** The tier in force. */
  readonly tier: string
  /** The rate of the tier. */
  readonly messagesPerSecond: number
  /**
   * The limit of customers outside a service window within 24 hours, from all numbers of the portfolio together (of the
   * workspace, without a portfolio); `null` for no limit.
   */
  readonly messagingLimit: number | null
  /** The provider's rating in its own words; `null` if it has not reported one. */
  readonly quality: string | null
}

/** Why the provider blocks a number. */
export interface SenderBlock {
  readonly reason: "quality" | "restricted" | "credentials" | "registration" | "payment" | "display_name"
  /** `outside_window`: messages within a customer's service window are still allowed. */
  readonly scope: "all" | "outside_window"
  /** For people. */
  readonly message: string
  readonly since: string
  /** When sends are tried again; `null` if only the provider or the operator can lift the block. */
  readonly until: string | null
  /** The provider's error. */
  readonly provider: ProviderDetail | null
}

/** The result by variant of the template. The shares are those of the messages that were tried. */
export interface CampaignComparison {
  readonly counts: {
    readonly a: CampaignCounts
    readonly b: CampaignCounts
  }
  /** The shares that were delivered; `null` until both variants were sent to a customer. */
  readonly delivered: CampaignDifference | null
  /** The shares that were read. */
  readonly read: CampaignDifference | null
}

/** A customer's state for one of the workspace's numbers. */
export interface Contact {
  /** The id of the phone number, `:`, and the customer's number or user id, whichever was known first. */
  readonly id: string
  readonly phoneNumberId: string
  /** In the provider's form; `null` if unknown. */
  readonly phone: string | null
  /** The provider's own identifier of the customer. */
  readonly userId: string | null
  /** When the customer last wrote; `null` if never. */
  readonly lastInboundAt: string | null
  /** When the service window closes: until then, free-form text may be sent. `null` if it is closed. */
  readonly windowOpenUntil: string | null
  /** Whether the customer opted out, which forbids free-form text and marketing. */
  readonly optedOut: boolean
  /** When the customer last opted in or out; `null` if never. */
  readonly preferenceAt: string | null
}

/** A webhook, its health and the counts of its backlog, without its secrets. */
export interface WebhookState {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: Envelope
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
  /** `null` while it is not failing. */
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: {
    readonly at: string
    readonly message: string
  } | null
  /** When it will be paused unless an attempt succeeds; `null` if it is not failing. */
  readonly pausesAt: string | null
  /** Deliveries that wait for a resume. */
  readonly heldCount: number
  readonly oldestHeldAt: string | null
}

/**
 * The envelope of a webhook's events: `combined` is the union of the two shapes in the specification; `a` and `b` are
 * each exactly one of them.
 */
export type Envelope = "combined" | "a" | "b"

/** The complete configuration of the webhook. */
export interface NewWebhook {
  /**
   * An https URL whose host is a name or a public address, without a user name. An operator can allow http and private
   * addresses.
   */
  readonly url: string
  readonly envelope?: Envelope
  /** All types if omitted. */
  readonly eventTypes?: ReadonlyArray<EventType>
}

/** A webhook after it was set. Only the response that creates it contains `signingSecret`. */
export interface SetWebhook {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: Envelope
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
  /** The secret that signs deliveries. */
  readonly signingSecret?: string
}

/** When the old secret ends. */
export interface RotateSecret {
  /** How long the old secret still signs besides the new one; defaults to a day; 0 ends it immediately. */
  readonly overlapSeconds?: number
}

/** The new secret. Only this response contains it. */
export interface RotatedSecret {
  /** Missing from a repeated response: rotate again for another secret. */
  readonly signingSecret?: string
  readonly previousExpiresAt: string
}

/** A webhook and its health, without the counts of its backlog. */
export interface WebhookStatus {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: Envelope
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
  /** `null` while it is not failing. */
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: {
    readonly at: string
    readonly message: string
  } | null
}

/** The action of a resume on the events that are held. */
export interface ResumeWebhook {
  /** The held events to deliver; defaults to all. The others are skipped. */
  readonly replay?:
    | "all" | "none"
    | {
      readonly since: TimeInput
    }
  /** Resumes without a probe. */
  readonly force?: boolean
}

/**
 * The webhook after the resume. If the probe failed, the webhook is still paused, and the probe's message gives the
 * reason.
 */
export interface ResumedWebhook {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: Envelope
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
  /** `null` while it is not failing. */
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: {
    readonly at: string
    readonly message: string
  } | null
  readonly probe: Attempt | null
}

/** One POST to the receiver. Times are in milliseconds. */
export interface Attempt {
  readonly id: string
  /** Counted from 1. */
  readonly number: number
  /** The cause of the round: the event itself, a person, a replay, a test, or the probe before a resume. */
  readonly trigger: "automatic" | "manual" | "replay" | "test" | "probe"
  readonly startedAt: string
  readonly durationMs: number
  readonly outcome: AttemptOutcome
  readonly statusCode: number | null
  /** The result in one plain sentence. */
  readonly message: string
  /** `null` for a phase that was not reached, or not needed (as on a kept connection). */
  readonly timings: {
    readonly lookupMs: number | null
    readonly connectMs: number | null
    readonly tlsMs: number | null
    readonly firstByteMs: number | null
    readonly bodyMs: number | null
  } | null
  /** The request, without its signatures; `address` is the IP address of the connection. */
  readonly request: {
    readonly url: string
    readonly address: string | null
    readonly headers: {
      readonly [field: string]: string
    }
    readonly body: string
  }
  /**
   * The receiver's response, with at most 16 KiB of its body. `null` if none came, or if it was not kept: of first
   * attempts that succeed, a sample keeps it; every other attempt does.
   */
  readonly response: {
    readonly headers: {
      readonly [field: string]: string
    }
    readonly body: string
  } | null
}

/** The outcome of an attempt. Only status 200 within the deadline is `delivered`. */
export type AttemptOutcome =
  | "delivered"
  | "dns"
  | "connect"
  | "tls"
  | "timeout"
  | "status"
  | "redirect"
  | "blocked_address"

/** The delivery of an event to the webhook. */
export interface Delivery {
  readonly id: string
  readonly eventId: string
  readonly eventType: EventType
  /** The customer that the event is about, by number or user id; `null` if it is about none. */
  readonly customer: string | null
  readonly status: DeliveryStatus
  readonly attemptCount: number
  /** The last attempt that ended; `null` before the first, and once attempts are deleted. */
  readonly lastAttempt: {
    readonly outcome: AttemptOutcome
    readonly statusCode: number | null
  } | null
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly completedAt: string | null
}

/** `pending` is being attempted, `held` waits for the webhook's resume; the last three are final. */
export type DeliveryStatus = "pending" | "held" | "delivered" | "exhausted" | "skipped"

/** A delivery with its attempts. */
export interface DeliveryDetail {
  readonly id: string
  readonly eventId: string
  readonly eventType: EventType
  /** The customer that the event is about, by number or user id; `null` if it is about none. */
  readonly customer: string | null
  readonly status: DeliveryStatus
  readonly attemptCount: number
  /** The last attempt that ended; `null` before the first, and once attempts are deleted. */
  readonly lastAttempt: {
    readonly outcome: AttemptOutcome
    readonly statusCode: number | null
  } | null
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly completedAt: string | null
  /** Oldest first. */
  readonly attempts: ReadonlyArray<Attempt>
}

/** The deliveries to repeat. */
export interface NewReplay {
  /** Events recorded at or after this time. */
  readonly since: TimeInput
  /** Events recorded before this time; defaults to now. */
  readonly until?: TimeInput
  /** Only deliveries that ended with this status; if omitted, all that have ended. */
  readonly status?: ReplayedStatus
}

/** The filter of a replay. */
export type ReplayedStatus = "delivered" | "exhausted" | "skipped"

/** A job that delivers a range of events again. */
export interface Replay {
  readonly id: string
  readonly state: "running" | "completed" | "cancelled"
  readonly since: string
  readonly until: string
  readonly status: ReplayedStatus | null
  /** How many deliveries the job covers; `null` while unknown, which for a very long range lasts until its end. */
  readonly total: number | null
  /** How many of these deliveries have started a new round. */
  readonly replayed: number
  readonly createdAt: string
  readonly completedAt: string | null
}

/** A workspace's activity over time, and its use of the quota. */
export interface UsageReport {
  /** The current calendar month (UTC), such as `2026-01`. */
  readonly month: string
  /** Messages that count against this month's quota. */
  readonly used: number
  /** Messages a month; `null` if there is no limit. */
  readonly quota: number | null
  /** The workspace's rate limit. */
  readonly requestsPerSecond: number
  /** Messages that wait to be sent later. */
  readonly queued: number
  /** Newest first, at most 12; months without messages are omitted. */
  readonly months: ReadonlyArray<{
    readonly month: string
    readonly used: number
  }>
  /** The messages of the period whose price the provider has reported, by market, category and type. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency. */
  readonly costs: ReadonlyArray<{
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
  }>
  readonly arrival: Arrival
  readonly since: string
  /** 3600, 10800, 21600 or 86400, by the length of the range. */
  readonly stepSeconds: number
  /**
   * Oldest first, without gaps, at most 92; the first step may begin before `since`, and then has only what is counted
   * from `since` on; the last step may not be over yet.
   */
  readonly steps: ReadonlyArray<UsageStep>
  /** For a comparison; `null` if not all of that time's activity is kept. */
  readonly before: UsageBefore | null
}

/** How long messages took from when they were sent until they arrived, as far as that is reported. */
export interface Arrival {
  /**
   * Half of the messages took at most so many milliseconds; up to a quarter too high, because durations are counted in
   * groups. `null` if none arrived.
   */
  readonly p50Ms: number | null
  /**
   * 19 of 20 messages took at most so many milliseconds; up to a quarter too high, because durations are counted in
   * groups. `null` if none arrived.
   */
  readonly p95Ms: number | null
}

/** The activity in one step of time. */
export interface UsageStep {
  readonly at: string
  /** Sends that the provider accepted. */
  readonly sendsAccepted: number
  /** Sends that the provider refused or did not accept. */
  readonly sendsFailed: number
  /** Sends whose outcome the provider did not confirm. */
  readonly sendsUnknown: number
  /** Sends that a rule or limit of the service refused. */
  readonly sendsRefused: number
  /** Messages sent in this time that arrived, as far as the provider has reported. */
  readonly sendsDelivered: number
  /** Attempts at webhook deliveries that succeeded. */
  readonly attemptsDelivered: number
  /** Attempts at webhook deliveries that failed. */
  readonly attemptsFailed: number
  readonly arrival: Arrival
  /** `null` if the service did not look in this time. */
  readonly waiting: Waiting | null
  /** What the messages that were sent in this step cost, as far as it is known. */
  readonly costs: ReadonlyArray<{
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
  }>
}

/** The most that waited at one time. It is looked at every five minutes. */
export interface Waiting {
  /** Messages that waited to be sent later. */
  readonly queued: number
  /** Events that the paused webhook held. */
  readonly held: number
}

/** The activity in the same length of time before, by whole hours. */
export interface UsageBefore {
  readonly since: string
  /** Sends that the provider accepted. */
  readonly sendsAccepted: number
  /** Sends that the provider refused or did not accept. */
  readonly sendsFailed: number
  /** Sends whose outcome the provider did not confirm. */
  readonly sendsUnknown: number
  /** Sends that a rule or limit of the service refused. */
  readonly sendsRefused: number
  /** Messages sent in this time that arrived, as far as the provider has reported. */
  readonly sendsDelivered: number
  /** Attempts at webhook deliveries that succeeded. */
  readonly attemptsDelivered: number
  /** Attempts at webhook deliveries that failed. */
  readonly attemptsFailed: number
}

/** The filters of the list of contacts. */
export interface ContactFilter {
  /** Only contacts of this phone number. */
  readonly phoneNumberId?: string
}

/** The filters of the list of deliveries. */
export interface DeliveryFilter {
  readonly status?: DeliveryStatus
  readonly eventType?: EventType
  /** Only deliveries of events about this message. */
  readonly messageId?: string
  /** Only deliveries whose last attempt had this outcome. */
  readonly outcome?: AttemptOutcome
  /** Only deliveries whose last attempt got this status. */
  readonly statusCode?: number
  /** Only deliveries created at or after this time. */
  readonly since?: TimeInput
  /** Only deliveries created before this time. */
  readonly until?: TimeInput
}

/** Days up to now: 1, 7, 30 or 90. */
export type UsagePeriod = "day" | "week" | "month" | "quarter"
