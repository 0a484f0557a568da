/**
 * What the dashboard's endpoints under `/internal` take and return, in plain types. The API definition of `@wac/api` is
 * what the server goes by; a type test holds these types to it. Times are ISO 8601 in UTC.
 */
import type { EventType } from "./Event.ts"
import type { Json } from "./Json.ts"
import type { MessageFailure, MessageStatus, MessageType, ProviderDetail } from "./Wire.ts"

/** One page of a list under `/internal` (contract §1). */
export interface InternalPage<Item> {
  readonly data: ReadonlyArray<Item>
  readonly hasMore: boolean
  /** `cursor` of the page after this one. */
  readonly nextCursor: string | null
}

/** From the least to the most that a member may do (contract §5). */
export type Role = "member" | "developer" | "admin" | "owner"

/** Who is signed in, where, and as what. */
export interface Session {
  readonly userId: string
  readonly email: string
  readonly role: Role
  readonly workspaceId: string
  readonly workspaceName: string
}

/** What a person signs in with. */
export interface SignIn {
  readonly email: string
  readonly password: string
}

/** The first workspace and its owner; the token is in the link that the log shows. */
export interface SetUp {
  readonly token: string
  readonly email: string
  readonly password: string
  readonly workspaceName: string
}

/** What a key may do. */
export type ApiScope = "messages:send"

/** A key in the list. */
export interface ListedApiKey {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<ApiScope>
  readonly lastUsedAt: string | null
}

/** One key in full; never a secret. */
export interface ApiKey extends ListedApiKey {
  readonly prefix: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly requireSignature: boolean
}

/** What a new key is made of. */
export interface CreateApiKey {
  /** 1 to 100 characters. */
  readonly name: string
  /** In the future; the key never expires if omitted. */
  readonly expiresAt?: string
  /** Whether requests that change something must be signed. */
  readonly requireSignature?: boolean
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

/** The shape of the events that a webhook is sent (contract §6). */
export type Envelope = "combined" | "a" | "b"

/** The webhook, whole. */
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

/** A webhook as it was set; `signingSecret` is in the response that created it only. */
export interface SetWebhook extends WebhookConfiguration {
  readonly signingSecret?: string
}

/** A webhook and its health. */
export interface WebhookStatus extends WebhookConfiguration {
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: { readonly at: string; readonly message: string } | null
}

/** A webhook, its health and the events that are held; never a secret. */
export interface Webhook extends WebhookStatus {
  readonly pausesAt: string | null
  readonly heldCount: number
  readonly oldestHeldAt: string | null
}

/** How the old secret ends. */
export interface RotateSecret {
  /** How long the old secret signs beside the new one: a day if omitted; 0 ends it immediately. */
  readonly overlapSeconds?: number
}

/** The new secret, which is shown this once. */
export interface RotatedSecret {
  readonly signingSecret: string
  readonly previousExpiresAt: string
}

/** What a resume does with the events that are held. */
export interface ResumeWebhook {
  /** Which of them to deliver: all if omitted. The others are skipped. */
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

/** Which parts of a signature are right. */
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
  /** One plain sentence. */
  readonly message: string
  readonly timings: {
    readonly lookupMs: number | null
    readonly connectMs: number | null
    readonly tlsMs: number | null
    readonly firstByteMs: number | null
    readonly bodyMs: number | null
  } | null
  /** What was sent, without the signatures. */
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

/** An event on its way to the webhook. */
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
  /** A command that posts it once more, signed; `null` for members. */
  readonly curl: string | null
}

/** The deliveries that a replay is about. */
export type ReplayedStatus = "delivered" | "exhausted" | "skipped"

/** Which events are to be delivered again. */
export interface CreateReplay {
  /** Events recorded at or after this time. */
  readonly since: string
  /** And before this one; now if omitted. */
  readonly until?: string
  /** All that have ended if omitted. */
  readonly status?: ReplayedStatus
}

/** A job that delivers a range of events again. */
export interface Replay {
  readonly id: string
  readonly state: "running" | "completed" | "cancelled"
  readonly since: string
  readonly until: string
  readonly status: ReplayedStatus | null
  /** How many deliveries it covers; `null` while that is not known. */
  readonly total: number | null
  readonly replayed: number
  readonly createdAt: string
  readonly completedAt: string | null
}

/** A member of the workspace, or somebody who is invited to it. */
export interface Member {
  /** `usr_…`, or `inv_…` of an invitation. */
  readonly id: string
  readonly email: string
  readonly role: Role
  readonly status: "active" | "invited"
  readonly createdAt: string
  /** When the invitation ends; `null` of a member. */
  readonly expiresAt: string | null
}

/** Who is invited. */
export interface InviteMember {
  readonly email: string
  readonly role: Role
}

/** An invitation. Its link is shown this once. */
export interface InvitedMember {
  readonly id: string
  readonly inviteUrl: string
  readonly expiresAt: string
}

/** What a member becomes. */
export interface ChangeMember {
  readonly role: Role
}

/** What accepting an invitation takes. */
export interface AcceptInvitation {
  readonly token: string
  /** Of a new account, or of the one that there is. */
  readonly password?: string
}

/** The token of a host's link. */
export interface OpenPortal {
  readonly token: string
}

/** A workspace of the person's. */
export interface OwnWorkspace {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Whether the session is in it. */
  readonly isCurrent: boolean
}

/** Which workspace the session moves to. */
export interface SwitchWorkspace {
  readonly workspaceId: string
}

/** A session of the person's. */
export interface OwnSession {
  readonly id: string
  readonly createdAt: string
  /** At the latest; earlier if it is not used. */
  readonly expiresAt: string
  readonly address: string | null
  readonly agent: string | null
  readonly isCurrent: boolean
}

/** The present password and the next. */
export interface ChangePassword {
  readonly current: string
  readonly new: string
}

/** Whose password is to be reset. */
export interface RequestPasswordReset {
  readonly email: string
}

/** The token of a link, and the next password. */
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

/** A message with its times, and why it failed if it did. */
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
  /** Why `bodyParams` cannot fill it, for people; `null` if they can. */
  readonly unfillable: string | null
  readonly quality: string | null
  readonly rejectionReason: string | null
  readonly providerTemplateId: string
  readonly syncedAt: string
}

/** How people sign in. */
export interface SignInMethod {
  /** `oidc`: open `/internal/oidc/sign-in` in the browser. */
  readonly method: "password" | "oidc"
}

/** What there are alerts about. */
export type AlertKind =
  | "number_blocked"
  | "number_low_quality"
  | "quota_high"
  | "quota_used_up"
  | "template_paused"
  | "webhook_failing"
  | "webhook_paused"
  | "webhook_pausing"

/** Something that is, or was, the matter. */
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

/** Who is told of alerts, beside the dashboard. */
export interface AlertSettings {
  /** Mailed, where mail is set up; at most 20. */
  readonly emails: ReadonlyArray<string>
  /** Where alerts are posted, signed with the webhook's secret as events are. */
  readonly url: string | null
}

/** What can be done: the thing, and what becomes of it. */
export type AuditAction =
  | "alert_settings.change"
  | "api_key.create"
  | "api_key.revoke"
  | "delivery.retry"
  | "member.change"
  | "member.invite"
  | "member.join"
  | "member.remove"
  | "message.send"
  | "number.add"
  | "number.change"
  | "number.remove"
  | "password.change"
  | "password.reset"
  | "portal.open"
  | "replay.cancel"
  | "replay.create"
  | "session.end"
  | "session.sign_in"
  | "session.sign_out"
  | "session.switch"
  | "template.sync"
  | "webhook.pause"
  | "webhook.remove"
  | "webhook.resume"
  | "webhook.rotate_secret"
  | "webhook.set"
  | "webhook.test"
  | "workspace.set_up"

/** What somebody changed. */
export interface AuditEntry {
  readonly id: string
  readonly at: string
  readonly action: AuditAction
  /** The id of what was changed. */
  readonly target: string | null
  /** `null`: the operator, by a command. */
  readonly by: { readonly userId: string; readonly email: string } | null
  readonly address: string | null
  readonly requestId: string | null
  readonly detail: { readonly [name: string]: string } | null
}

/** What a page can show. */
export type Topic =
  | "alerts"
  | "apiKeys"
  | "audit"
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

/** The data of an event `change` of `GET /internal/stream`, as `EventSource` reads it: what is not as it was. */
export interface Changed {
  readonly topics: ReadonlyArray<Topic>
}

/**
 * The data of an event `receiver` of `GET /internal/stream?receive=events`: what the events of this stream are signed
 * with.
 */
export interface StreamReceiver {
  readonly signingSecret: string
}

/** The data of its events `delivery`: a recorded event, to be verified by its headers and raw body. */
export interface StreamDelivery {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

/** A request of an API key. */
export interface ApiRequest {
  readonly id: string
  readonly apiKeyId: string
  readonly method: string
  /** The route's template, such as `/v1/messages/:id`. */
  readonly route: string
  readonly status: number
  /** The error's; `null` if the request was not refused. */
  readonly code: string | null
  readonly reason: string | null
  readonly at: string
  readonly durationMs: number
}

/** Requests that were refused for one reason. */
export interface RequestGroup {
  readonly code: string
  readonly reason: string | null
  readonly count: number
  readonly lastAt: string
  /** The keys that made them, most requests first. */
  readonly keys: ReadonlyArray<{ readonly apiKeyId: string; readonly count: number }>
}

/** A page of requests, and all of the week by reason, whatever the filter. */
export interface RequestPage extends InternalPage<ApiRequest> {
  readonly since: string
  /** How many requests there were since, refused or not. */
  readonly total: number
  /** Those that were refused, most requests first. */
  readonly groups: ReadonlyArray<RequestGroup>
}

/** What happened in one step of time. */
export interface UsageStep {
  readonly at: string
  /** Sends that the provider accepted. */
  readonly sendsAccepted: number
  /** Sends that the provider refused or did not take. */
  readonly sendsFailed: number
  /** Sends whose outcome the provider did not confirm. */
  readonly sendsUnknown: number
  /** Sends that a rule or limit of the service refused. */
  readonly sendsRefused: number
  /** Attempts at webhook deliveries that succeeded. */
  readonly attemptsDelivered: number
  readonly attemptsFailed: number
}

/** What a workspace did over time, and what it has used of its quota. */
export interface Usage {
  /** The calendar month under way (UTC), such as `2026-01`. */
  readonly month: string
  readonly used: number
  /** Messages a month; `null` if there is no limit. */
  readonly quota: number | null
  readonly requestsPerSecond: number
  /** Newest first. */
  readonly months: ReadonlyArray<{ readonly month: string; readonly used: number }>
  readonly since: string
  readonly stepSeconds: number
  /** Oldest first, without gaps. */
  readonly steps: ReadonlyArray<UsageStep>
}

/** What a sync found. */
export interface Synced {
  readonly count: number
  readonly syncedAt: string
}

/** A customer, as seen from one of the workspace's numbers. */
export interface Contact {
  readonly id: string
  readonly phoneNumberId: string
  readonly phone: string | null
  readonly userId: string | null
  readonly lastInboundAt: string | null
  /** Until when free-form text may be sent; `null`: not now. */
  readonly windowOpenUntil: string | null
  readonly optedOut: boolean
  readonly preferenceAt: string | null
}

/** Why upstream lets nothing be sent from a number. */
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
  /** Who it is with: nothing is sent from it while another one runs. */
  readonly provider: string
  readonly providerNumberId: string
  readonly providerAccountId: string
  readonly status: "available" | "blocked" | "disabled"
  readonly block: SenderBlock | null
  readonly tier: string
  readonly messagesPerSecond: number
  /** Customers outside a window within 24 hours; `null`: no limit. */
  readonly messagingLimit: number | null
  readonly quality: string | null
}
