/**
 * The requests and responses of the dashboard's endpoints under `/internal`, in plain types. The server follows the API
 * definition of `@wac/api`; a type test compares these types with it. Times are ISO 8601 in UTC.
 */
import type {
  CampaignCounts,
  CampaignOutcome,
  CampaignStatus,
  CampaignVariant,
  PauseReason,
  QuietHours
} from "./Campaigns.ts"
import type { EventType } from "./Event.ts"
import type { Json } from "./Json.ts"
import type { TemplateContent } from "./MessageContents.ts"
import type { TemplateCategory, TemplateComponent } from "./TemplateComponents.ts"
import type { MessageFailure, MessageStatus, MessageType, ProviderDetail } from "./Wire.ts"

/** One page of a list under `/internal` (contract §1). */
export interface InternalPage<Item> {
  readonly data: ReadonlyArray<Item>
  readonly hasMore: boolean
  /** `cursor` of the next page. */
  readonly nextCursor: string | null
}

/** A message of the conversation with a contact. */
export interface ConversationMessage {
  readonly id: string
  readonly direction: "inbound" | "outbound"
  readonly status: MessageStatus | "received"
  readonly from: string
  readonly to: string
  readonly type: string
  /** What it said; `{}` once that was deleted. */
  readonly content: Json
  readonly context: Json
  /** When it was created, or when the customer wrote it. */
  readonly at: string
}

/** The roles, from the fewest to the most permissions (contract §5). */
export type Role = "member" | "developer" | "admin" | "owner"

/** The signed-in person, with the workspace and role. */
export interface Session {
  readonly userId: string
  readonly email: string
  readonly role: Role
  readonly workspaceId: string
  readonly workspaceName: string
}

/** The credentials with which a person signs in. */
export interface SignIn {
  readonly email: string
  readonly password: string
}

/** The request to create the first workspace and its owner; the token is from the link in the log. */
export interface SetUp {
  readonly token: string
  readonly email: string
  readonly password: string
  readonly workspaceName: string
}

/** What a key may do. */
export type ApiScope = "messages:send" | "messages:read" | "media:write" | "contacts:write" | "campaigns:write"

/** A key in the list. */
export interface ListedApiKey {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<ApiScope>
  readonly lastUsedAt: string | null
}

/** One key with all fields, but without its secrets. */
export interface ApiKey extends ListedApiKey {
  readonly prefix: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly requireSignature: boolean
  /** The only phone numbers that the key may send from; null: all of the workspace. */
  readonly phoneNumberIds: ReadonlyArray<string> | null
  /** The only networks that the key may be used from, as CIDRs; null: anywhere. */
  readonly allowedCidrs: ReadonlyArray<string> | null
}

/** The request to create a key. */
export interface CreateApiKey {
  /** 1 to 100 characters. */
  readonly name: string
  /** A time in the future; if omitted, the key never expires. */
  readonly expiresAt?: string
  /** Whether requests that change something must be signed. */
  readonly requireSignature?: boolean
  /** What the key may do; `messages:send` is always added. If omitted: sending, reading messages and writing media. */
  readonly scopes?: ReadonlyArray<ApiScope>
  /** The ids of the only phone numbers of the workspace that the key may send from, 1 to 100; if omitted, all. */
  readonly phoneNumberIds?: ReadonlyArray<string>
  /** The only networks that the key may be used from, 1 to 100 CIDRs or single addresses; if omitted, anywhere. */
  readonly allowedCidrs?: ReadonlyArray<string>
}

/** A new key. A repetition of the request returns it without the two secrets. */
export interface CreatedApiKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly apiKey?: string
  readonly signingSecret?: string
  readonly scopes: ReadonlyArray<ApiScope>
  readonly createdAt: string
}

/** The envelope of a webhook's events (contract §6). */
export type Envelope = "combined" | "a" | "b"

/** The complete configuration of the webhook. */
export interface PutWebhook {
  /** An https URL with a public address. */
  readonly url: string
  readonly envelope?: Envelope
  /** All types if omitted. */
  readonly eventTypes?: ReadonlyArray<EventType>
}

interface WebhookConfiguration {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: Envelope
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
}

/** A webhook after it was set. Only the response that creates it contains `signingSecret`. */
export interface SetWebhook extends WebhookConfiguration {
  readonly signingSecret?: string
}

/** A webhook and its health. */
export interface WebhookStatus extends WebhookConfiguration {
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: { readonly at: string; readonly message: string } | null
}

/** A webhook, its health and the counts of its backlog, without its secrets. */
export interface Webhook extends WebhookStatus {
  readonly pausesAt: string | null
  readonly heldCount: number
  readonly oldestHeldAt: string | null
}

/** When the old secret ends. */
export interface RotateSecret {
  /** How long the old secret still signs besides the new one; defaults to a day; 0 ends it immediately. */
  readonly overlapSeconds?: number
}

/** The new secret. Only this response contains it. */
export interface RotatedSecret {
  /** Missing from a repeated response. */
  readonly signingSecret?: string
  readonly previousExpiresAt: string
}

/** What a resume does with the events that are held. */
export interface ResumeWebhook {
  /** The held events to deliver; defaults to all. The others are skipped. */
  readonly replay?: "all" | "none" | { readonly since: string }
  /** Resumes without a probe. */
  readonly force?: boolean
}

/** The webhook afterwards; still paused if the probe failed. */
export interface ResumedWebhook extends WebhookStatus {
  readonly probe: Attempt | null
}

/** A delivery as a receiver got it. */
export interface VerifyDelivery {
  /** The value of `X-Service-Signature`, or lines of `Name: value` from a log. */
  readonly header: string
  /** The raw body, before parsing. */
  readonly body: string
}

/** The diagnosis of a signature, part by part. */
export interface VerifiedDelivery {
  readonly ok: boolean
  readonly scheme: "service" | "standard"
  readonly checks: ReadonlyArray<{
    readonly part: "header" | "timestamp" | "signature"
    readonly ok: boolean
    readonly reason: string | null
    readonly message: string
  }>
}

/** One POST to the receiver. Times are in milliseconds. */
export interface Attempt {
  readonly id: string
  readonly number: number
  readonly trigger: "automatic" | "manual" | "replay" | "test" | "probe"
  readonly startedAt: string
  readonly durationMs: number
  readonly outcome: "delivered" | "dns" | "connect" | "tls" | "timeout" | "status" | "redirect" | "blocked_address"
  readonly statusCode: number | null
  /** The result in one plain sentence. */
  readonly message: string
  readonly timings: {
    readonly lookupMs: number | null
    readonly connectMs: number | null
    readonly tlsMs: number | null
    readonly firstByteMs: number | null
    readonly bodyMs: number | null
  } | null
  /** The request, without its signatures. */
  readonly request: {
    readonly url: string
    readonly address: string | null
    readonly headers: { readonly [name: string]: string }
    readonly body: string
  }
  readonly response: { readonly headers: { readonly [name: string]: string }; readonly body: string } | null
}

/** `held` waits for the webhook's resume; the last three are final. */
export type DeliveryStatus = "pending" | "held" | "delivered" | "exhausted" | "skipped"

/** The delivery of an event to the webhook. */
export interface Delivery {
  readonly id: string
  readonly eventId: string
  readonly eventType: EventType
  readonly status: DeliveryStatus
  readonly attemptCount: number
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly completedAt: string | null
}

/** A delivery with its attempts, oldest first. */
export interface DeliveryDetail extends Delivery {
  readonly attempts: ReadonlyArray<Attempt>
  /** A command that posts the event again, signed; `null` for members. */
  readonly curl: string | null
}

/** The filter of a replay. */
export type ReplayedStatus = "delivered" | "exhausted" | "skipped"

/** The deliveries to repeat. */
export interface CreateReplay {
  /** Events recorded at or after this time. */
  readonly since: string
  /** Events recorded before this time; defaults to now. */
  readonly until?: string
  /** Only deliveries that ended with this status; if omitted, all that have ended. */
  readonly status?: ReplayedStatus
}

/** A job that delivers a range of events again. */
export interface Replay {
  readonly id: string
  readonly state: "running" | "completed" | "cancelled"
  readonly since: string
  readonly until: string
  readonly status: ReplayedStatus | null
  /** How many deliveries the job covers; `null` while unknown. */
  readonly total: number | null
  readonly replayed: number
  readonly createdAt: string
  readonly completedAt: string | null
}

/** A new campaign. */
export interface CreateCampaign {
  readonly name: string
  /** As in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly templateB?: TemplateContent
  /** A phone number of the workspace, by id or in E.164; defaults to the default number. */
  readonly from?: string
  /** When it starts, once it was started; defaults to that moment. */
  readonly startAt?: string
  /** Nothing is sent after this time; defaults to 24 hours after the start. */
  readonly notAfter?: string
  /** When nothing is sent, by each recipient's own clock. */
  readonly quietHours?: QuietHours
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2. */
  readonly maxFailureRate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** A change of a campaign. Omitted fields stay; `null` restores a default. */
export interface EditCampaign {
  readonly name?: string
  readonly template?: TemplateContent
  readonly templateB?: TemplateContent | null
  readonly from?: string | null
  readonly startAt?: string | null
  readonly notAfter?: string | null
  readonly quietHours?: QuietHours | null
  readonly share?: number
  readonly maxFailureRate?: number
  readonly holdout?: number
}

/** What is to be expected of a campaign. Other sends, quiet hours and failures make it take longer. */
export interface CampaignForecast {
  readonly messages: number
  /** How many customers count against the messaging limit: those outside a service window when they were checked. */
  readonly limitedCustomers: number
  readonly messagingLimit: number | null
  /** How many days the messaging limit makes it take; `null` if the limit is 0. */
  readonly days: number | null
  /** How long it takes at its pace. */
  readonly seconds: number
  /** The messages by the price that they are expected to have. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency; empty if the operator has loaded no rate card. */
  readonly costs: ReadonlyArray<{ readonly currency: string; readonly amount: string }>
}

/** The difference of two shares with its 95 % confidence interval (Newcombe's hybrid score interval). */
export interface CampaignDifference {
  /** The share of variant `a`, from 0 to 1. */
  readonly a: number
  readonly b: number
  /** `b` less `a`. */
  readonly difference: number
  readonly low: number
  readonly high: number
  /** Whether the difference can be told from chance: the interval from `low` to `high` does not contain 0. */
  readonly isDistinguishable: boolean
}

/** The result by variant of the template. The shares are those of the messages that were tried. */
export interface CampaignComparison {
  readonly counts: { readonly [variant in CampaignVariant]: CampaignCounts }
  /** The shares that were delivered; `null` until both variants were sent to a customer. */
  readonly delivered: CampaignDifference | null
  /** The shares that were read. */
  readonly read: CampaignDifference | null
}

/** One template to many customers, each once. */
export interface Campaign {
  readonly id: string
  readonly name: string
  readonly status: CampaignStatus
  /** Why it is paused, or why its check stopped. */
  readonly pausedReason: PauseReason | null
  readonly template: TemplateContent
  readonly templateB: TemplateContent | null
  readonly from: string | null
  readonly startAt: string | null
  readonly notAfter: string | null
  readonly quietHours: QuietHours | null
  readonly share: number
  readonly maxFailureRate: number
  readonly holdout: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** How many rows of recipients were uploaded. */
  readonly rows: number
  /** How many of them were checked. */
  readonly checked: number
  /** How many checked rows are not sent to. */
  readonly problems: number
  /** What is to be expected; `null` until its recipients are checked. */
  readonly forecast: CampaignForecast | null
  readonly counts: CampaignCounts
  /** Why recipients failed or were skipped, the most frequent reason first. */
  readonly reasons: ReadonlyArray<{
    readonly outcome: "failed" | "skipped"
    readonly reason: string
    readonly recipients: number
  }>
  /** The result by variant; `null` without `templateB`. */
  readonly comparison: CampaignComparison | null
}

/** An uploaded row of recipients. */
export interface CampaignRow {
  /** Its place in the uploads, from 1. */
  readonly row: number
  /** Why it is not sent to; `null` if it is, or was not checked yet. */
  readonly problem: {
    readonly reason: "malformed" | "duplicate" | "opted_out" | "phone_number_required" | "template_params_mismatch"
    readonly message: string
    /** The line of its file in which the row begins; `null` if it came from no file. */
    readonly line: number | null
    /** What the file has in the place of what is wrong, else of the customer's name. */
    readonly value: string | null
  } | null
  readonly messageId: string | null
  readonly to: string | null
  /** The variant of the template that its customer gets; `null` in a campaign without variants. */
  readonly variant: CampaignVariant | null
  readonly status: MessageStatus | null
  /** The count that its recipient is in. */
  readonly outcome: CampaignOutcome | null
  /** Why the message failed, or was skipped. */
  readonly error: { readonly code: string; readonly reason?: string; readonly message: string } | null
}

/** A member of the workspace, or an invited person. */
export interface Member {
  /** `usr_…` for a member, `inv_…` for an invitation. */
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly status: "active" | "invited"
  readonly createdAt: string
  /** When the invitation expires; `null` for a member. */
  readonly expiresAt: string | null
  /** Who made the invitation; `null` for a member, and for an invitation by the operator's command. */
  readonly invitedBy: { readonly userId: string; readonly email: string } | null
}

/** The person to invite. */
export interface InviteMember {
  readonly email: string
  readonly role: Role
}

/** An invitation. Only this response contains its link. */
export interface InvitedMember {
  readonly id: string
  /** Missing from a repeated response. */
  readonly inviteUrl?: string
  readonly expiresAt: string
}

/** A member's new role. */
export interface ChangeMember {
  readonly role: Role
}

/** The request to accept an invitation. */
export interface AcceptInvitation {
  readonly token: string
  /** The password of the new or existing account. */
  readonly password?: string
}

/** The token of a host's link. */
export interface OpenPortal {
  readonly token: string
}

/** A workspace that the person is a member of. */
export interface OwnWorkspace {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Whether the session is in this workspace. */
  readonly isCurrent: boolean
}

/** The person's password, as proof that they are present. */
export interface ConfirmSession {
  readonly password: string
}

/** The workspace to switch to. */
export interface SwitchWorkspace {
  readonly workspaceId: string
}

/** A session of the person. */
export interface OwnSession {
  readonly id: string
  readonly createdAt: string
  /** The latest end; an unused session ends earlier. */
  readonly expiresAt: string
  readonly address: string | null
  readonly agent: string | null
  readonly isCurrent: boolean
}

/** The current and the new password. */
export interface ChangePassword {
  readonly current: string
  readonly new: string
}

/** The account whose password is to be reset. */
export interface RequestPasswordReset {
  readonly email: string
}

/** The token of a reset link, and the new password. */
export interface ResetPassword {
  readonly token: string
  readonly password: string
}

/** A message that was sent from the dashboard. */
export interface SentFromDashboard {
  readonly status: "sent"
  readonly messageId: string
  readonly providerMessageId: string
  readonly tenantId: string
  readonly apiKeyId: null
}

/** A message in the list. */
export interface ListedMessage {
  readonly id: string
  readonly status: MessageStatus
  readonly providerMessageId: string | null
  /** `null` if a person sent it from the dashboard. */
  readonly apiKeyId: string | null
  readonly to: string
  readonly from: string
  readonly type: MessageType
  readonly createdAt: string
}

/** A message with its times and, if it failed, the reason. */
export interface MessageDetail extends ListedMessage {
  readonly sentAt: string | null
  readonly deliveredAt: string | null
  readonly readAt: string | null
  readonly failedAt: string | null
  readonly error: MessageFailure | null
  readonly clientReference: string | null
}

/** A template of any status. */
export interface TemplateDetail {
  readonly id: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameterFormat: "positional" | "named"
  readonly components: ReadonlyArray<Json>
  readonly variables: ReadonlyArray<string>
  /** Why `bodyParams` alone cannot fill the template, for people; `null` if they can. */
  readonly unfillable: string | null
  readonly quality: string | null
  readonly rejectionReason: string | null
  readonly providerTemplateId: string
  readonly syncedAt: string
}

/** A template to create. */
export interface CreateTemplate {
  /** Lower-case letters, digits and underscores. */
  readonly name: string
  readonly language: string
  readonly category: TemplateCategory
  /** `positional` if omitted. */
  readonly parameterFormat?: "positional" | "named"
  readonly components: ReadonlyArray<TemplateComponent>
  /** How long the provider tries to deliver a message. */
  readonly messageSendTtlSeconds?: number
  /** The number in whose account it is created: the default number, if omitted. */
  readonly phoneNumberId?: string
}

/** A change of a template: at least one field. */
export interface EditTemplate {
  readonly category?: TemplateCategory
  /** Replace the old ones as a whole. */
  readonly components?: ReadonlyArray<TemplateComponent>
  readonly messageSendTtlSeconds?: number
}

/** The method by which people sign in. */
export interface SignInMethod {
  /** `oidc`: open `/internal/oidc/sign-in` in the browser. */
  readonly method: "password" | "oidc"
}

/** The kinds of alerts. */
export type AlertKind =
  | "campaign_paused"
  | "key_expires_in_1_day"
  | "key_expires_in_30_days"
  | "key_expires_in_7_days"
  | "number_blocked"
  | "number_low_quality"
  | "quota_high"
  | "quota_used_up"
  | "template_paused"
  | "webhook_failing"
  | "webhook_paused"
  | "webhook_pausing"

/** A problem that a person should look at, current or past. */
export interface Alert {
  readonly id: string
  readonly kind: AlertKind
  /** The id of what it is about, or the month of a quota. */
  readonly subject: string
  /** For people. */
  readonly message: string
  readonly openedAt: string
  /** `null` as long as it lasts. */
  readonly closedAt: string | null
}

/** The recipients of alerts besides the dashboard. */
export interface AlertSettings {
  /** Addresses that get a mail, if mail is set up; at most 20. */
  readonly emails: ReadonlyArray<string>
  /** The URL to which alerts are posted, signed with the webhook's secret like events. */
  readonly url: string | null
}

/** What a workspace changes of the words by which customers opt out. */
export interface OptOutWords {
  /** Words that opt out, besides the defaults. */
  readonly stopWords: ReadonlyArray<string>
  /** Words that opt in, besides the defaults. */
  readonly startWords: ReadonlyArray<string>
  /** Defaults that do not count. */
  readonly removed: ReadonlyArray<string>
}

/** The words of a workspace, and the defaults. */
export interface OptOutSettings extends OptOutWords {
  readonly defaults: ReadonlyArray<{
    /** ISO 639. */
    readonly language: string
    readonly stopWords: ReadonlyArray<string>
    readonly startWords: ReadonlyArray<string>
  }>
}

/** Who opted a customer out. */
export type OptOutSource = "customer" | "provider" | "api" | "person" | "import"

/** For which number a customer is opted out or in. */
export interface ChooseOptOut {
  /** If omitted, every number of the workspace. */
  readonly phoneNumberId?: string
}

/** What holds for a customer after a choice. */
export interface OptOut {
  /** As it was given. */
  readonly contact: string
  readonly optedOut: boolean
  /** `null` if the customer is not opted out. */
  readonly optedOutAt: string | null
  /** `null` if the customer is not opted out. */
  readonly source: OptOutSource | null
}

/** The result of an import of opt-outs. */
export interface ImportedOptOuts {
  readonly added: number
  readonly already: number
  readonly refused: ReadonlyArray<{ readonly line: number; readonly value: string; readonly reason: string }>
}

/** The names that are opted out. */
export interface Suppressions {
  /** How many further names are opted out, of customers who were erased. */
  readonly others: number
  readonly names: ReadonlyArray<{
    readonly name: string
    /** `null` for every number of the workspace. */
    readonly phoneNumberId: string | null
    readonly optedOutAt: string
    /** `null` if the customer or the provider opted them out. */
    readonly source: OptOutSource | null
  }>
}

/** The actions in the audit: the resource and the change. */
export type AuditAction =
  | "alert_settings.change"
  | "api_key.create"
  | "api_key.revoke"
  | "campaign.cancel"
  | "campaign.change"
  | "campaign.check"
  | "campaign.create"
  | "campaign.pause"
  | "campaign.remove"
  | "campaign.resume"
  | "campaign.start"
  | "campaign.upload"
  | "contact.import_opt_outs"
  | "contact.opt_in"
  | "contact.opt_out"
  | "customer.erase"
  | "delivery.retry"
  | "member.change"
  | "member.end_sessions"
  | "member.invite"
  | "member.join"
  | "member.remove"
  | "message.send"
  | "number.add"
  | "number.change"
  | "number.remove"
  | "opt_out_words.change"
  | "password.change"
  | "password.reset"
  | "portal.open"
  | "replay.cancel"
  | "replay.create"
  | "session.end"
  | "session.end_all"
  | "session.refuse"
  | "session.sign_in"
  | "session.sign_out"
  | "session.switch"
  | "template.create"
  | "template.edit"
  | "template.remove"
  | "template.sync"
  | "webhook.pause"
  | "webhook.remove"
  | "webhook.resume"
  | "webhook.rotate_secret"
  | "webhook.set"
  | "webhook.test"
  | "workspace.change"
  | "workspace.create"
  | "workspace.set_up"

/** A change that a person, an API key or the operator made. */
export interface AuditEntry {
  readonly id: string
  readonly at: string
  readonly action: AuditAction
  /** The id of the changed resource. */
  readonly target: string | null
  /** A person, or an API key; `null` if an operator's command made the change. */
  readonly by:
    | { readonly userId: string; readonly email: string }
    | { readonly apiKeyId: string; readonly name: string }
    | null
  readonly address: string | null
  readonly requestId: string | null
  readonly detail: { readonly [name: string]: string } | null
}

/** The topics of a page. */
export type Topic =
  | "alerts"
  | "apiKeys"
  | "audit"
  | "campaigns"
  | "contacts"
  | "deliveries"
  | "events"
  | "members"
  | "messages"
  | "phoneNumbers"
  | "replays"
  | "requests"
  | "templates"
  | "usage"
  | "webhook"

/** The data of an event `change` of `GET /internal/stream`, as `EventSource` reads it: the topics that have changed. */
export interface Changed {
  readonly topics: ReadonlyArray<Topic>
}

/**
 * The data of an event `receiver` of `GET /internal/stream?receive=events`: the secret that signs the events of this
 * stream.
 */
export interface StreamReceiver {
  readonly signingSecret: string
}

/** The data of an event `delivery` of that stream: a recorded event. Verify it by its headers and raw body. */
export interface StreamDelivery {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** A request with an API key. */
export interface ApiRequest {
  readonly id: string
  readonly apiKeyId: string
  readonly method: string
  /** The route's template, such as `/v1/messages/:id`. */
  readonly route: string
  readonly status: number
  /** The error's code; `null` if the request was not refused. */
  readonly code: string | null
  readonly reason: string | null
  readonly at: string
  readonly durationMs: number
}

/** The requests that were refused for one reason. */
export interface RequestGroup {
  readonly code: string
  readonly reason: string | null
  readonly count: number
  readonly lastAt: string
  /** The keys of these requests, most requests first. */
  readonly keys: ReadonlyArray<{ readonly apiKeyId: string; readonly count: number }>
}

/** A page of requests, and the counts of the whole week by reason, regardless of the filter. */
export interface RequestPage extends InternalPage<ApiRequest> {
  readonly since: string
  /** The number of requests in this period, refused or not. */
  readonly total: number
  /** The refused requests by reason, most requests first. */
  readonly groups: ReadonlyArray<RequestGroup>
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
  /** Attempts at webhook deliveries that succeeded. */
  readonly attemptsDelivered: number
  readonly attemptsFailed: number
}

/** Messages of one price. */
export interface UsageLine {
  /** The customer's country, ISO 3166-1 alpha-2; `ZZ` if not known. */
  readonly market: string
  /** As the provider reported it, such as `marketing`. */
  readonly category: string
  /** As the provider reported it, such as `regular` or `free_customer_service`. */
  readonly type: string
  /** `null` if the provider says nothing of it; then `cost` is what the messages cost if they are charged. */
  readonly billable: boolean | null
  readonly messages: number
  /** `null` if nothing is charged, or if the operator has loaded no rate for it. */
  readonly cost: {
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
    /** The day from which the rates used are valid. */
    readonly ratesFrom: string
  } | null
}

/** A workspace's activity over time, and its use of the quota. */
export interface Usage {
  /** The current calendar month (UTC), such as `2026-01`. */
  readonly month: string
  readonly used: number
  /** Messages a month; `null` if there is no limit. */
  readonly quota: number | null
  readonly requestsPerSecond: number
  /** Newest first. */
  readonly months: ReadonlyArray<{ readonly month: string; readonly used: number }>
  /** The messages of the period whose price the provider has reported, by market, category and type. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency. */
  readonly costs: ReadonlyArray<{ readonly currency: string; readonly amount: string }>
  readonly since: string
  readonly stepSeconds: number
  /** Oldest first, without gaps. */
  readonly steps: ReadonlyArray<UsageStep>
}

/** The result of a sync. */
export interface Synced {
  readonly count: number
  readonly syncedAt: string
}

/** A customer's state for one of the workspace's numbers. */
export interface Contact {
  readonly id: string
  readonly phoneNumberId: string
  readonly phone: string | null
  readonly userId: string | null
  readonly lastInboundAt: string | null
  /** When the service window closes; `null` if it is closed. */
  readonly windowOpenUntil: string | null
  readonly optedOut: boolean
  readonly preferenceAt: string | null
}

/** Why the provider blocks a number. */
export interface SenderBlock {
  readonly reason: "quality" | "restricted" | "credentials" | "registration" | "payment" | "display_name"
  readonly scope: "all" | "outside_window"
  readonly message: string
  readonly since: string
  readonly until: string | null
  readonly provider: ProviderDetail | null
}

/** A number of the workspace, with the limits in force. */
export interface PhoneNumber {
  readonly id: string
  readonly phoneNumber: string
  readonly isDefault: boolean
  /** The number's provider. While a different provider runs, sends from the number are refused. */
  readonly provider: string
  readonly providerNumberId: string
  readonly providerAccountId: string
  /** The business portfolio, whose numbers share the messaging limit; `null` until the operator has told it. */
  readonly portfolioId: string | null
  readonly status: "available" | "blocked" | "disabled"
  readonly block: SenderBlock | null
  readonly tier: string
  readonly messagesPerSecond: number
  /**
   * The limit of customers outside a service window within 24 hours, from all numbers of the portfolio together; `null`
   * for no limit.
   */
  readonly messagingLimit: number | null
  readonly quality: string | null
}
