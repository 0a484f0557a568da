/**
 * The requests and responses of the dashboard's endpoints under `/internal`. Times are ISO 8601 in UTC. Written from
 * the API definition; do not edit.
 */
import type {
  CampaignCounts,
  CampaignOutcome,
  CampaignRowQuery,
  CampaignStatus,
  CampaignVariant,
  ListQuery,
  OptOutSource,
  PauseReason,
  QuietHours,
  SendMessage
} from "./Wire.ts"
import type { MessageStatus, MessageType, TemplateContent } from "./MessageContents.ts"
import type { Event, EventType, MessageFailure, Pricing, ProviderDetail } from "./Event.ts"
import type { Json } from "../Json.ts"
import type { InternalPage, Page } from "../Page.ts"

/** A message that was sent from the dashboard. */
export interface SentFromDashboard {
  readonly status: "sent"
  readonly messageId: string
  readonly providerMessageId: string
  readonly tenantId: string
  readonly apiKeyId: null
}

/** A message that was queued from the dashboard, to be sent later. */
export interface QueuedFromDashboard {
  readonly status: "queued"
  readonly messageId: string
  readonly tenantId: string
  readonly apiKeyId: null
  readonly sendAt: string
}

/** A message in the list. */
export interface ListedMessage {
  readonly status: MessageStatus
  readonly id: string
  readonly providerMessageId: string | null
  /** `null` if it came without one: from the dashboard, the outbox or an operator's retry, or of a campaign. */
  readonly apiKeyId: string | null
  readonly to: string
  readonly from: string
  readonly type: MessageType
  readonly createdAt: string
  /** The time before which it is not sent; `null` unless its caller queued it. */
  readonly sendAt: string | null
}

/** A message with its content, its times and, if it failed, the reason. */
export interface MessageDetail {
  readonly status: MessageStatus
  readonly id: string
  readonly providerMessageId: string | null
  /** `null` if it came without one: from the dashboard, the outbox or an operator's retry, or of a campaign. */
  readonly apiKeyId: string | null
  readonly to: string
  readonly from: string
  readonly type: MessageType
  readonly createdAt: string
  /** The time before which it is not sent; `null` unless its caller queued it. */
  readonly sendAt: string | null
  readonly sentAt: string | null
  readonly deliveredAt: string | null
  readonly readAt: string | null
  readonly failedAt: string | null
  readonly error: MessageFailure | null
  readonly clientReference: string | null
  /** `null` if the provider reported nothing. */
  readonly pricing: Pricing | null
  /** When the customer played the voice message. */
  readonly playedAt: string | null
  /** The campaign whose recipient it is; `null` if none. */
  readonly campaignId: string | null
  /** What was sent, as in the request; `{}` once it was deleted. */
  readonly content: Json
  /** The message that it quotes; `null` if none. */
  readonly context: {
    readonly message_id: string
  } | null
}

/** A template of any status. */
export interface TemplateDetail {
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
export interface CreateTemplate {
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
export interface EditTemplate {
  readonly category?: TemplateCategory
  /** Replace the old ones as a whole. */
  readonly components?: ReadonlyArray<TemplateComponent>
  /** How long the provider tries to deliver a message, in seconds. -1 is the provider's own 30 days. */
  readonly messageSendTtlSeconds?: number
}

/** The result of a sync: how many templates the provider has, and when the listing began. */
export interface Synced {
  readonly count: number
  readonly syncedAt: string
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
export interface CreateApiKey {
  /** 1 to 100 characters, not counting white space around them. */
  readonly name: string
  /** A time in the future; if omitted, the key never expires. */
  readonly expiresAt?: string
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

/** The credentials with which a person signs in. */
export interface SignIn {
  readonly email: string
  readonly password: string
}

/** The signed-in person, with the workspace and role. */
export interface Session {
  readonly userId: string
  readonly email: string
  readonly role: Role
  readonly workspaceId: string
  readonly workspaceName: string
}

/**
 * The roles, from the fewest to the most permissions: `member` reads, `developer` also changes keys and the webhook,
 * `admin` also members, `owner` everything.
 */
export type Role = "member" | "developer" | "admin" | "owner"

/** The request to create the first workspace and its owner; the token is from the link in the log. */
export interface SetUp {
  readonly token: string
  readonly email: string
  readonly password: string
  readonly workspaceName: string
}

/** The method by which people sign in. */
export interface SignInMethod {
  /** `oidc`: open `/internal/oidc/sign-in` in the browser. */
  readonly method: "password" | "oidc"
}

/**
 * The challenge of the error `second_factor_required`, and one proof: a code of the app or a recovery code, or a
 * passkey that has signed the challenge.
 */
export interface EndSignIn {
  readonly challenge: string
  readonly code?: string
  readonly credential?: PasskeyAssertion
}

/** What the browser returned for the options: the credential's `id`, and parts of its `response`. */
export interface PasskeyAssertion {
  readonly id: string
  readonly clientDataJSON: string
  readonly authenticatorData: string
  readonly signature: string
}

/** The challenge of the error `second_factor_required`. */
export interface RequestPasskey {
  readonly challenge: string
}

/** Options for the browser's `PublicKeyCredential.parseRequestOptionsFromJSON`. */
export interface PasskeyRequest {
  readonly challenge: string
  readonly rpId: string
  /** Empty if the person has no passkey. */
  readonly allowCredentials: ReadonlyArray<{
    readonly type: "public-key"
    readonly id: string
    readonly transports: ReadonlyArray<string>
  }>
  readonly userVerification: "preferred"
  /** In milliseconds. */
  readonly timeout: number
}

/** A workspace that the person is a member of. */
export interface OwnWorkspace {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Whether the session is in this workspace. */
  readonly isCurrent: boolean
}

/** The workspace to switch to. */
export interface SwitchWorkspace {
  readonly workspaceId: string
}

/**
 * One proof that the person is present: their password, a code of their second factor, or a passkey that has signed the
 * challenge of `PUT /internal/session/confirm/options`.
 */
export interface ConfirmSession {
  readonly password?: string
  readonly code?: string
  readonly credential?: PasskeyAssertion
}

/** A session of the person. */
export interface OwnSession {
  readonly id: string
  readonly createdAt: string
  /** The latest end; an unused session ends earlier. */
  readonly expiresAt: string
  /** The address from which the session was opened. */
  readonly address: string | null
  /** The browser with which the session was opened. */
  readonly agent: string | null
  readonly isCurrent: boolean
}

/** The current and the new password. */
export interface ChangePassword {
  readonly current: string
  readonly new: string
}

/** Whether the person's sign-ins need a second factor. */
export interface Factor {
  readonly isOn: boolean
  /** Whether an authenticator app is a part of it. */
  readonly hasApp: boolean
  /** The oldest first. */
  readonly passkeys: ReadonlyArray<Passkey>
  /** Unused recovery codes. */
  readonly recoveryCodesLeft: number
}

/** A passkey of the person's second factor. */
export interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

/** A new secret, which is not in use yet. Only this response contains it. */
export interface FactorEnrolment {
  /** The secret for an authenticator app, in base32. */
  readonly secret: string
  /** The same as an `otpauth://` address, for a QR code. */
  readonly uri: string
}

/** The first code that the authenticator app shows. */
export interface ConfirmFactor {
  readonly code: string
}

/** Codes that replace one of the authenticator app, each once. Only this response contains them. */
export interface RecoveryCodes {
  readonly recoveryCodes: ReadonlyArray<string>
}

/** Options for the browser's `PublicKeyCredential.parseCreationOptionsFromJSON`. */
export interface PasskeyCreation {
  readonly challenge: string
  readonly rp: {
    readonly id: string
    readonly name: string
  }
  readonly user: {
    readonly id: string
    readonly name: string
    readonly displayName: string
  }
  readonly pubKeyCredParams: ReadonlyArray<{
    readonly type: "public-key"
    readonly alg: number
  }>
  readonly excludeCredentials: ReadonlyArray<{
    readonly type: "public-key"
    readonly id: string
    readonly transports: ReadonlyArray<string>
  }>
  readonly authenticatorSelection: {
    readonly residentKey: "preferred"
    readonly userVerification: "preferred"
  }
  readonly attestation: "none"
  /** In milliseconds. */
  readonly timeout: number
}

/** A new passkey, and what to call it. */
export interface AddPasskey {
  readonly name: string
  readonly credential: PasskeyRegistration
}

/** What the browser returned for the options: the credential's `id`, and parts of its `response`. */
export interface PasskeyRegistration {
  readonly id: string
  readonly clientDataJSON: string
  readonly attestationObject: string
  readonly transports: ReadonlyArray<string>
}

/** The passkey that was added. */
export interface AddedPasskey {
  readonly passkey: Passkey
  /** Ten recovery codes with the first part of the second factor; otherwise empty. Shown only once. */
  readonly recoveryCodes: ReadonlyArray<string>
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
  readonly invitedBy: {
    readonly userId: string
    readonly email: string
  } | null
}

/** The person to invite. */
export interface InviteMember {
  readonly email: string
  readonly role: Role
}

/** An invitation. Only this response contains its link. */
export interface InvitedMember {
  readonly id: string
  /** Missing from a repeated response: invite again for another link. */
  readonly inviteUrl?: string
  readonly expiresAt: string
}

/** A member's new role. */
export interface ChangeMember {
  readonly role: Role
}

/** The invitation to show, by the token of its link. */
export interface ShowInvitation {
  readonly token: string
}

/** An invitation, as its link shows it. */
export interface ShownInvitation {
  readonly workspaceName: string
  readonly email: string
  readonly role: Role
  /** The e-mail of the person who made it; `null` for the operator. */
  readonly invitedBy: string | null
  readonly expiresAt: string
}

/**
 * The request to accept an invitation. If the account has a second factor, the password comes with one proof: a code,
 * or a passkey that has signed the challenge of the error `second_factor_required`.
 */
export interface AcceptInvitation {
  readonly token: string
  /** The password of the new or existing account. */
  readonly password?: string
  /** With the password of an account that has a second factor: a code of the app or a recovery code. */
  readonly code?: string
  readonly credential?: PasskeyAssertion
}

/** The token of a host's link. */
export interface OpenPortal {
  readonly token: string
}

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

/** A new campaign. */
export interface CreateCampaign {
  readonly name: string
  /** The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly templateB?: TemplateContent
  /**
   * A phone number of the workspace, by id or in E.164; defaults to the number that is the default when the recipients
   * are checked.
   */
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
  /**
   * The number that sends a campaign without `from`: the default number when its recipients were checked. `null` before
   * the check, and with `from`.
   */
  readonly checkedFrom: string | null
  readonly startAt: string | null
  readonly notAfter: string | null
  readonly quietHours: QuietHours | null
  readonly share: number
  readonly maxFailureRate: number
  readonly holdout: number
  readonly createdAt: string
  readonly startedAt: string | null
  readonly completedAt: string | null
  /** How many recipients were added. */
  readonly rows: number
  /** How many of them were checked. */
  readonly checked: number
  /** How many of the checked ones are not sent to. */
  readonly problems: number
  /** The forecast; `null` until the recipients are checked. */
  readonly forecast: CampaignForecast | null
  readonly counts: CampaignCounts
  /** Why recipients failed or were skipped, the most frequent reason first. */
  readonly reasons: ReadonlyArray<{
    readonly outcome: "failed" | "skipped"
    readonly reason: string
    readonly recipients: number
  }>
  /** The result by variant of the template: `a` is `template`. `null` without a second variant. */
  readonly comparison: CampaignComparison | null
}

/** The forecast of a campaign. Other sends, quiet hours and failures make it take longer. */
export interface CampaignForecast {
  readonly messages: number
  /** How many customers count against the messaging limit: those outside a service window when they were checked. */
  readonly limitedCustomers: number
  readonly messagingLimit: number | null
  /** How many days the messaging limit makes it take; `null` if the limit is 0. */
  readonly days: number | null
  /**
   * How many of the messages are not sent, because quiet hours never end for their customers: the row has no
   * `timeZone`, and at any time it is quiet in one of the time zones of the country. It follows `quietHours`.
   */
  readonly alwaysQuiet: number
  /** How long it takes at its pace and under the messaging limit; it follows `share`. */
  readonly seconds: number
  /** The messages by the price that they are expected to have, by market, category and type. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency; empty without a rate card. */
  readonly costs: ReadonlyArray<{
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
  }>
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
  /** `null` if nothing is charged, or if there is no rate for it. */
  readonly cost: {
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
    /** The day from which the rates used are valid. */
    readonly ratesFrom: string
  } | null
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

/** The difference of two shares with its 95 % confidence interval (Newcombe's hybrid score interval). */
export interface CampaignDifference {
  /** The share of variant `a`, from 0 to 1. */
  readonly a: number
  /** The share of variant `b`, from 0 to 1. */
  readonly b: number
  /** `b` less `a`. */
  readonly difference: number
  readonly low: number
  readonly high: number
  /** Whether the difference can be told from chance: the interval from `low` to `high` does not contain 0. */
  readonly isDistinguishable: boolean
}

/** A change of a campaign. Omitted fields stay; `null` restores a default. */
export interface EditCampaign {
  readonly name?: string
  /** The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template?: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly templateB?: TemplateContent | null
  readonly from?: string | null
  /** When it starts, once it was started; defaults to that moment. */
  readonly startAt?: string | null
  /** Nothing is sent after this time; defaults to 24 hours after the start. */
  readonly notAfter?: string | null
  /** When nothing is sent, by each recipient's own clock. */
  readonly quietHours?: QuietHours | null
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** It pauses itself when a larger share of its last 1,000 messages failed; defaults to 0.2. */
  readonly maxFailureRate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** A recipient as it was added, with the result. */
export interface CampaignRow {
  /** Its place among those that were added, from 1. */
  readonly row: number
  /** Why it is not sent to; `null` if it is, or was not checked yet. */
  readonly problem: {
    readonly reason:
      | "malformed"
      | "duplicate"
      | "opted_out"
      | "phone_number_required"
      | "template_params_mismatch"
    readonly message: string
    /** The line of its file in which the row begins; `null` if it came from no file. */
    readonly line: number | null
    /** The problem of the row, else the customer's name, as it was given. */
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
  readonly error: {
    readonly code: string
    readonly reason?: string
    readonly message: string
  } | null
}

/** Why rows of a campaign are not sent to. */
export interface CampaignProblems {
  /** How many of the checked rows are not sent to: the sum of all reasons and of `uncounted`. */
  readonly rows: number
  /** The most frequent reason first. */
  readonly reasons: ReadonlyArray<CampaignProblemReason>
  /** How many of them were checked by a version that did not count the reasons. */
  readonly uncounted: number
}

/** Rows with the same reason. */
export interface CampaignProblemReason {
  readonly reason:
    | "malformed"
    | "duplicate"
    | "opted_out"
    | "phone_number_required"
    | "template_params_mismatch"
  readonly rows: number
  /** The most frequent message first. */
  readonly messages: ReadonlyArray<CampaignProblemMessage>
}

/** Rows with the same problem. */
export interface CampaignProblemMessage {
  /** The problem; `null` for the other rows with the reason, if there are more than 10 different problems. */
  readonly message: string | null
  readonly rows: number
  /** The first rows with the problem, at most 5. */
  readonly examples: ReadonlyArray<CampaignProblemExample>
}

/** A row with a problem. */
export interface CampaignProblemExample {
  /** Its place among those that were added, from 1. */
  readonly row: number
  /** The line of its file in which the row begins; `null` if it came from no file. */
  readonly line: number | null
  /** The problem of the row, else the customer's name, as it was given. */
  readonly value: string | null
}

/** A campaign's messages over time, from the first one to the last report. */
export interface CampaignTimeline {
  /** By the length of the time: from 60 to 604800. */
  readonly stepSeconds: number
  /**
   * Oldest first, without gaps, about 60 at most. A message that failed after it was sent is left out, as it is in
   * `counts`.
   */
  readonly steps: ReadonlyArray<CampaignTimelineStep>
}

/** What happened in one step of time. */
export interface CampaignTimelineStep {
  readonly at: string
  /** Messages that the provider accepted. */
  readonly sent: number
  /** Messages that arrived at the phone. */
  readonly delivered: number
  /** Messages that the customer read. */
  readonly read: number
}

/** Numbers of customers that have the part. */
export interface CustomerNumbers {
  readonly data: ReadonlyArray<{
    readonly number: string
  }>
  /** Whether there are more: a longer part finds fewer. */
  readonly hasMore: boolean
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

/** A message of the conversation with a contact. */
export interface ConversationMessage {
  readonly id: string
  readonly direction: "inbound" | "outbound"
  readonly status:
    | "queued"
    | "sending"
    | "unknown"
    | "sent"
    | "failed"
    | "delivered"
    | "read"
    | "skipped"
    | "cancelled"
    | "received"
  readonly from: string
  readonly to: string
  readonly type: string
  /** The content; `{}` once it was deleted. */
  readonly content: Json
  /** The message that it quotes or answers; `null` if none. */
  readonly context: Json
  /** When it was created, or when the customer wrote it. */
  readonly at: string
}

/** The words of a workspace, and the defaults. */
export interface OptOutSettings {
  /** Words that opt out, typed or on a button, besides the defaults. */
  readonly stopWords: ReadonlyArray<string>
  /** Words that opt in, besides the defaults. */
  readonly startWords: ReadonlyArray<string>
  /** Defaults that do not count. */
  readonly removed: ReadonlyArray<string>
  readonly defaults: ReadonlyArray<{
    /** ISO 639. */
    readonly language: string
    readonly stopWords: ReadonlyArray<string>
    readonly startWords: ReadonlyArray<string>
  }>
}

/** A workspace's changes to the words by which customers opt out. */
export interface OptOutWords {
  /** Words that opt out, typed or on a button, besides the defaults. */
  readonly stopWords: ReadonlyArray<string>
  /** Words that opt in, besides the defaults. */
  readonly startWords: ReadonlyArray<string>
  /** Defaults that do not count. */
  readonly removed: ReadonlyArray<string>
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

/** The result of an import of opt-outs. */
export interface ImportedOptOuts {
  readonly added: number
  /** Names that were opted out before. */
  readonly already: number
  readonly refused: ReadonlyArray<{
    readonly line: number
    readonly value: string
    readonly reason: string
  }>
}

/** A webhook, its health and the counts of its backlog, without its secrets. */
export interface Webhook {
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

/** How the receiver behaved over time. */
export interface ReceiverReport {
  readonly since: string
  /** 300, 3600, 10800, 21600 or 86400, by the range. */
  readonly stepSeconds: number
  readonly outcomes: AttemptCounts
  /**
   * Half of the responses took at most so many milliseconds, timeouts included; up to a quarter too high, because
   * durations are counted in groups. `null` without a response or timeout.
   */
  readonly p50Ms: number | null
  /**
   * 19 of 20 responses took at most so many milliseconds, timeouts included; up to a quarter too high, because
   * durations are counted in groups. `null` without a response or timeout.
   */
  readonly p95Ms: number | null
  /**
   * Oldest first, without gaps, at most 92; the first step may begin before `since`, and then has only what is counted
   * from `since` on; the last step may not be over yet.
   */
  readonly steps: ReadonlyArray<ReceiverStep>
  /** Those that overlap the range, oldest first. */
  readonly outages: ReadonlyArray<ReceiverOutage>
}

/** Attempts by outcome, responses but 200 by their class. */
export interface AttemptCounts {
  /** Answered with 200. */
  readonly delivered: number
  /** Answered with another status of success. */
  readonly status2xx: number
  readonly status4xx: number
  readonly status5xx: number
  /** Answered with a status of no other class here. */
  readonly statusOther: number
  readonly redirect: number
  readonly timeout: number
  /** The connection could not be opened. */
  readonly connect: number
  readonly tls: number
  readonly dns: number
  readonly blockedAddress: number
}

/** The attempts in one step of time. */
export interface ReceiverStep {
  readonly at: string
  readonly outcomes: AttemptCounts
  /**
   * Half of the responses took at most so many milliseconds, timeouts included; up to a quarter too high, because
   * durations are counted in groups. `null` without a response or timeout.
   */
  readonly p50Ms: number | null
  /**
   * 19 of 20 responses took at most so many milliseconds, timeouts included; up to a quarter too high, because
   * durations are counted in groups. `null` without a response or timeout.
   */
  readonly p95Ms: number | null
}

/** A time in which the webhook was failing or paused, as it was noticed within about a minute. */
export interface ReceiverOutage {
  /** `paused` by itself or by a person. */
  readonly kind: "failing" | "paused"
  readonly since: string
  /** `null` as long as it lasts. */
  readonly until: string | null
}

/** The complete configuration of the webhook. */
export interface PutWebhook {
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
      readonly since: string
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

/** A delivery as a receiver got it. */
export interface VerifyDelivery {
  /** The value of `X-Service-Signature` as the receiver got it, or lines of `Name: value` from its log. */
  readonly header: string
  /** The raw body as the receiver got it, before parsing. */
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
  /** A command that posts the event again, newly signed; `null` for members. */
  readonly curl: string | null
}

/** The deliveries to repeat. */
export interface CreateReplay {
  /** Events recorded at or after this time. */
  readonly since: string
  /** Events recorded before this time; defaults to now. */
  readonly until?: string
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

/** A page of requests, and the counts of the whole period by reason, regardless of the filter. */
export interface RequestPage {
  readonly data: ReadonlyArray<ApiRequest>
  readonly hasMore: boolean
  /** `cursor` of the next page. */
  readonly nextCursor: string | null
  /** The start of the period in which requests are counted. */
  readonly since: string
  /** The number of requests in this period, refused or not. */
  readonly total: number
  /** The refused requests by reason, most requests first. */
  readonly groups: ReadonlyArray<RequestGroup>
}

/** A request, without its body and header values. */
export interface ApiRequest {
  readonly id: string
  /** `null` if a person made it. */
  readonly apiKeyId: string | null
  /** The person who made it in the dashboard; `null` if an API key did. */
  readonly userId: string | null
  readonly method: string
  /** The route's template, such as `/v1/messages/:id`. */
  readonly route: string
  /** The status of the response; 499 if the caller closed the connection before the response. */
  readonly status: number
  /** The error's code; `null` if the request was not refused. */
  readonly code: string | null
  readonly reason: string | null
  readonly at: string
  readonly durationMs: number
  /** The id of what it made, changed or read; `null` if it was refused, or that is not known. */
  readonly subject: string | null
}

/** The requests that were refused for one reason. */
export interface RequestGroup {
  readonly code: string
  readonly reason: string | null
  readonly count: number
  readonly lastAt: string
  /** The keys of these requests, most requests first. */
  readonly keys: ReadonlyArray<{
    readonly apiKeyId: string
    readonly count: number
  }>
}

/** A request, with the shape of its body. */
export interface ApiRequestDetail {
  readonly id: string
  /** `null` if a person made it. */
  readonly apiKeyId: string | null
  /** The person who made it in the dashboard; `null` if an API key did. */
  readonly userId: string | null
  readonly method: string
  /** The route's template, such as `/v1/messages/:id`. */
  readonly route: string
  /** The status of the response; 499 if the caller closed the connection before the response. */
  readonly status: number
  /** The error's code; `null` if the request was not refused. */
  readonly code: string | null
  readonly reason: string | null
  readonly at: string
  readonly durationMs: number
  /** The id of what it made, changed or read; `null` if it was refused, or that is not known. */
  readonly subject: string | null
  /**
   * The fields of the body, without values and with known names alone: at most 50, and of a list its first item. `null`
   * of people, and if there was no JSON, or too much.
   */
  readonly fields: ReadonlyArray<{
    /** Names from the outside in, such as `template.bodyParams[0]`; empty for the body itself. */
    readonly path: string
    /** `unknown`: fields with names that are not known. */
    readonly type: "text" | "number" | "boolean" | "null" | "list" | "object" | "unknown"
    /** Characters of a text, items of a list, fields of an object; `null` for other values. */
    readonly length: number | null
  }> | null
  /**
   * Until when the values of the body are kept, which `GET /internal/requests/:id/values` shows; `null` if they are
   * not.
   */
  readonly valuesUntil: string | null
}

/** The values of a request's body that are kept: of fields that the API has, without secrets and codes. */
export interface RequestValues {
  readonly data: ReadonlyArray<{
    /** As in the shape of the body. */
    readonly path: string
    readonly value: string | number | boolean | null
    /** Whether the value, or a part of it, is `[redacted]`, because it may be a secret or a code. */
    readonly redacted: boolean
    /** Whether the text is longer than the 256 characters that are kept. */
    readonly cut: boolean
  }>
  /** How many further values were left out, because a request's are at most 8192 bytes; of the first thousand. */
  readonly omitted: number
}

/** Whether the values of the workspace's API requests are kept. */
export interface RequestValuesSettings {
  readonly on: boolean
  /** When it ends by itself; `null` if it is off. */
  readonly until: string | null
}

/** Whether the values of the workspace's API requests are kept from now on. */
export interface RequestValuesChange {
  readonly on: boolean
}

/** A page of changes, and how far back the audit reaches. */
export interface AuditPage {
  readonly data: ReadonlyArray<AuditEntry>
  readonly hasMore: boolean
  /** `cursor` of the next page. */
  readonly nextCursor: string | null
  /** Earlier changes are deleted. */
  readonly since: string
}

/** A change that a person, an API key or the operator made. */
export interface AuditEntry {
  readonly id: string
  readonly at: string
  readonly action: AuditAction
  /** The id of the changed resource. */
  readonly target: string | null
  /** A person, or an API key; `null` if an operator's command made the change. */
  readonly by:
    | {
      readonly userId: string
      readonly email: string
    }
    | {
      readonly apiKeyId: string
      readonly name: string
    } | null
  readonly address: string | null
  readonly requestId: string | null
  /** Never contains a secret. */
  readonly detail: {
    readonly [field: string]: string
  } | null
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
  | "factor.add_passkey"
  | "factor.disable"
  | "factor.enable"
  | "factor.remove_passkey"
  | "factor.renew_recovery_codes"
  | "member.change"
  | "member.end_sessions"
  | "member.invite"
  | "member.join"
  | "member.remove"
  | "member.reset_factor"
  | "message.cancel"
  | "message.retry"
  | "message.send"
  | "number.add"
  | "number.change"
  | "number.remove"
  | "opt_out_words.change"
  | "password.change"
  | "password.reset"
  | "portal.link"
  | "portal.open"
  | "queue.release"
  | "replay.cancel"
  | "replay.create"
  | "request.see_values"
  | "request_values.change"
  | "session.end"
  | "session.end_all"
  | "session.refuse"
  | "session.sign_in"
  | "session.sign_in_with_factor"
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

/** The kinds of alerts. */
export type AlertKind =
  | "campaign_paused"
  | "events_exhausted"
  | "key_expires_in_1_day"
  | "key_expires_in_30_days"
  | "key_expires_in_7_days"
  | "number_blocked"
  | "number_low_quality"
  | "queue_late"
  | "quota_high"
  | "quota_used_up"
  | "subscription_behind"
  | "subscription_failed"
  | "template_paused"
  | "webhook_failing"
  | "webhook_paused"
  | "webhook_pausing"

/** The recipients of alerts besides the dashboard. */
export interface AlertSettings {
  /** Addresses that get a mail, if mail is set up; at most 20. */
  readonly emails: ReadonlyArray<string>
  /** The URL to which alerts are posted, signed with the webhook's secret like events; `null` for none. */
  readonly url: string | null
}

/** A workspace's messages to be sent later. What holds them holds those of all workspaces (contract §15). */
export interface QueueState {
  /** The workspace's messages that wait, whenever they are due. */
  readonly queued: number
  /** When the one of them was due that has waited longest; `null` if none is due. */
  readonly oldestDueAt: string | null
  /** Since when queued messages are held, because the database is a restored copy; `null` if they are not. */
  readonly heldSince: string | null
  /**
   * While messages are held, how many that hosts enqueued until `heldSince` are in the outbox and not queued yet: they
   * are not in `queued`, and are sent once they are queued after a release.
   */
  readonly enqueued: number
}

/** A workspace's activity over time, and its use of the quota. */
export interface Usage {
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

/**
 * The data of an event `change` of `GET /internal/stream`, as `EventSource` reads it: the topics that have changed.
 */
export interface Changed {
  readonly topics: ReadonlyArray<Topic>
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

/**
 * The data of an event `receiver` of `GET /internal/stream?receive=events`: the secret that signs the events of this
 * stream.
 */
export interface StreamReceiver {
  readonly signingSecret: string
}

/** The data of an event `delivery` of that stream: a recorded event. Verify it by its headers and raw body. */
export interface StreamDelivery {
  readonly headers: {
    readonly [field: string]: string
  }
  readonly body: string
}

/** The filters of the dashboard's list of messages. */
export interface InternalMessageQuery {
  readonly status?: MessageStatus
  /** Any name of a customer; finds what was sent to each of their names. */
  readonly to?: string
  /** Only messages created at or after this time. */
  readonly since?: string | Date
  /** Only messages created before this time. */
  readonly until?: string | Date
  /** Exactly as given in the send. */
  readonly clientReference?: string
  /** The provider's id of the message. */
  readonly providerMessageId?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the dashboard's list of templates, which match exactly, except `nameContains`. */
export interface ShownTemplateQuery {
  readonly status?: string
  readonly category?: string
  readonly language?: string
  readonly name?: string
  /** A part of the name. */
  readonly nameContains?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the list of campaigns. */
export interface ShownCampaignQuery {
  readonly status?: CampaignStatus
  /** A part of the name, whose letters may be in either case. */
  readonly nameContains?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The parameters of an upload of recipients. */
export interface UploadQuery {
  /** The country of the numbers without a country code, in ISO 3166-1 alpha-2. */
  readonly defaultCountry?: string
  /** Whether the file replaces all rows that the campaign has; if not, it adds to them. */
  readonly replace?: boolean
  /** The column of a CSV file with the phone numbers or user ids; defaults to `to`. */
  readonly toColumn?: string
}

/** The time of a campaign's timeline. */
export interface CampaignTimelineQuery {
  /** Only the hour, day or week after the first message; all of the time if omitted. */
  readonly period?: CampaignPeriod
}

/** The hour, day or week after the first message. */
export type CampaignPeriod = "hour" | "day" | "week"

/** The part of a number that is looked for. */
export interface CustomerQuery {
  /** The beginning of a number with or without its country code, in any notation: at least 4 digits. */
  readonly number: string
}

/** The filters of the list of contacts. */
export interface ContactQuery {
  /** Only contacts of this phone number. */
  readonly phoneNumberId?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The range of a report of the receiver. */
export interface ReceiverQuery {
  /** An hour, or 1, 7, 30 or 90 days up to `until`; a day if omitted. `since` takes its place. */
  readonly period?: ReceiverPeriod
  readonly since?: string | Date
  readonly until?: string | Date
}

/** An hour, or days up to now: 1, 7, 30 or 90. */
export type ReceiverPeriod = "hour" | "day" | "week" | "month" | "quarter"

/** The filters of the list of deliveries. */
export interface DeliveryQuery {
  readonly status?: DeliveryStatus
  readonly eventType?: EventType
  /** Only deliveries of events about this message. */
  readonly messageId?: string
  /** Only deliveries whose last attempt had this outcome. */
  readonly outcome?: AttemptOutcome
  /** Only deliveries whose last attempt got this status. */
  readonly statusCode?: number
  /** Only deliveries created at or after this time. */
  readonly since?: string | Date
  /** Only deliveries created before this time. */
  readonly until?: string | Date
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the dashboard's list of events. */
export interface InternalEventQuery {
  /** Only events recorded at or after this time. */
  readonly since?: string | Date
  readonly type?: EventType
  /** Only events recorded before this time. */
  readonly until?: string | Date
  /** Only events about this message. */
  readonly messageId?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the list of requests. */
export interface RequestQuery {
  /** Only requests that were refused. */
  readonly refused?: boolean
  /** Only requests that were refused for this reason, or with this code if it has none. */
  readonly reason?: string
  /** Only the request with this id, which its response has as `Request-Id`. */
  readonly id?: string
  /** Only requests with this API key. */
  readonly apiKeyId?: string
  /** Only requests to this route, by its template: `/v1/messages/:id`. */
  readonly route?: string
  /** Only requests with this status in the response. */
  readonly status?: number
  /** Only requests that arrived at or after this time. */
  readonly since?: string | Date
  /** Only requests that arrived before this time. */
  readonly until?: string | Date
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the audit. */
export interface AuditQuery {
  /** Only changes by this person, or by the API key with this id. */
  readonly userId?: string
  /** Only changes of the resource with this id. */
  readonly target?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the list of alerts. */
export interface AlertQuery {
  /** Only alerts that are still open. */
  readonly open?: boolean
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The range of a usage report. */
export interface UsageQuery {
  /** 1, 7, 30 or 90 days up to `until`; a week if omitted. `since` takes its place. */
  readonly period?: UsagePeriod
  readonly since?: string | Date
  readonly until?: string | Date
}

/** Days up to now: 1, 7, 30 or 90. */
export type UsagePeriod = "day" | "week" | "month" | "quarter"

/** The endpoints by method and path. */
export interface InternalRoutes {
  /**
   * Send a message from the dashboard. Checked and limited like a send with an API key. The two do not share
   * Idempotency-Keys. With `send_at` it queues the message and answers 202.
   */
  readonly "POST /internal/messages": {
    readonly body: SendMessage
    readonly response: SentFromDashboard | QueuedFromDashboard
  }
  /**
   * List messages. Newest first, without those of campaigns that nobody has started. With a filter, or beside such a
   * campaign, a page ends at the latest after looking at 10,000 messages: it may hold fewer than `limit`, or none, even
   * if more follow.
   */
  readonly "GET /internal/messages": {
    readonly query: InternalMessageQuery
    readonly response: InternalPage<ListedMessage>
  }
  /** Get a message. Includes the message's content, its times and, if it failed, the reason. */
  readonly "GET /internal/messages/:id": { readonly response: MessageDetail }
  /** Cancel a queued message. As `DELETE /v1/messages/{id}`: once this has succeeded, the message is never sent. */
  readonly "DELETE /internal/messages/:id": { readonly response: MessageDetail }
  /** List templates. Templates of every status, newest first. */
  readonly "GET /internal/templates": {
    readonly query: ShownTemplateQuery
    readonly response: InternalPage<TemplateDetail>
  }
  /**
   * Create a template. Creates it at the provider, which reviews it and reports the result later. Components have the
   * provider's own names. What the provider would refuse by its published limits is refused here, with the field in
   * `param`.
   */
  readonly "POST /internal/templates": { readonly body: CreateTemplate; readonly response: TemplateDetail }
  /** Get a template. A template of any status. */
  readonly "GET /internal/templates/:id": { readonly response: TemplateDetail }
  /**
   * Change a template. Components are replaced as a whole, and reviewed again. The provider takes changes of approved,
   * rejected and paused templates only, and a few a month.
   */
  readonly "PATCH /internal/templates/:id": { readonly body: EditTemplate; readonly response: TemplateDetail }
  /** Delete a template. Deletes this template at the provider. Those of the same name in other languages stay. */
  readonly "DELETE /internal/templates/:id": { readonly response: undefined }
  /**
   * Sync templates. Replaces the templates with those that the provider lists now. If it cannot list them, they stay as
   * they are.
   */
  readonly "POST /internal/templates/sync": { readonly response: Synced }
  /** List active API keys. Newest first, without revoked keys. `lastUsedAt` is at most a minute behind. */
  readonly "GET /internal/api-keys": { readonly query: ListQuery; readonly response: InternalPage<ListedApiKey> }
  /** Get an API key. Also returns revoked keys. Never returns a secret. */
  readonly "GET /internal/api-keys/:id": { readonly response: ApiKey }
  /**
   * Create an API key. Only this response contains `apiKey` and `signingSecret`; a repetition with the same
   * Idempotency-Key omits them.
   */
  readonly "POST /internal/api-keys": { readonly body: CreateApiKey; readonly response: CreatedApiKey }
  /** Revoke an API key. Takes effect immediately. The response is also 204 if the key was already revoked. */
  readonly "DELETE /internal/api-keys/:id": { readonly response: undefined }
  /**
   * Sign in. Sets the session's cookie. If the account has a second factor, a right password is refused with a
   * challenge, which `POST /internal/session/factor` takes. Failures are limited per account and per address.
   */
  readonly "POST /internal/session": { readonly body: SignIn; readonly response: Session }
  /**
   * Set up the first workspace. Requires the one-time token of the link in the log. Creates the workspace and its
   * owner, and signs the owner in.
   */
  readonly "POST /internal/setup": { readonly body: SetUp; readonly response: Session }
  /** Get the sign-in method. People sign in by password or at an issuer. */
  readonly "GET /internal/sign-in": { readonly response: SignInMethod }
  /**
   * End a sign-in with a second factor. Sets the session's cookie. A challenge lasts 5 minutes and takes 5 proofs.
   * Failures are limited per account and per address.
   */
  readonly "POST /internal/session/factor": { readonly body: EndSignIn; readonly response: Session }
  /**
   * Get the options of a passkey for a sign-in. With them the browser signs the challenge of the sign-in, which its
   * result ends. 404 if the service has no domain name.
   */
  readonly "POST /internal/session/factor/options": { readonly body: RequestPasskey; readonly response: PasskeyRequest }
  /**
   * Get the session. Returns the session of the cookie. Another tab can switch its workspace or sign somebody else in.
   * So a request under `/internal` may carry `wac-session: <workspace id> <user id>`: in a session of another workspace
   * or person it is refused with 401 `missing_session`.
   */
  readonly "GET /internal/session": { readonly response: Session }
  /** Sign out. Ends the session and removes its cookie. */
  readonly "DELETE /internal/session": { readonly response: undefined }
  /** List your workspaces. All workspaces that you are a member of, in the order in which you joined them. */
  readonly "GET /internal/workspaces": { readonly response: InternalPage<OwnWorkspace> }
  /** Switch to another of your workspaces. The session continues in that workspace, with your role there. */
  readonly "POST /internal/session/workspace": { readonly body: SwitchWorkspace; readonly response: Session }
  /**
   * Confirm that you are present. By your password or, if your second factor is on, by a code or a passkey. For 10
   * minutes, the session is fresh again, as after a sign-in, and its cookie is replaced. Wrong proofs are limited per
   * session.
   */
  readonly "POST /internal/session/confirm": { readonly body: ConfirmSession; readonly response: undefined }
  /** List your sessions. All current sessions, newest first. */
  readonly "GET /internal/sessions": { readonly response: InternalPage<OwnSession> }
  /** End one of your sessions. Takes effect immediately. */
  readonly "DELETE /internal/sessions/:id": { readonly response: undefined }
  /** End all of your other sessions. Takes effect immediately. The session of the request stays. */
  readonly "DELETE /internal/sessions": { readonly response: undefined }
  /**
   * Change your password. Ends your other sessions, and replaces the cookie of this one. Wrong passwords are limited
   * per session.
   */
  readonly "PUT /internal/password": { readonly body: ChangePassword; readonly response: undefined }
  /** Get your second factor. 404 if you have no password at this service. */
  readonly "GET /internal/factor": { readonly response: Factor }
  /**
   * Set up a second factor. Makes a secret for an authenticator app, in place of one that was not confirmed. 400 if you
   * have an app, 404 if you have no password at this service.
   */
  readonly "PUT /internal/factor": { readonly response: FactorEnrolment }
  /**
   * Switch your second factor on. With the first code of the app. From then on each sign-in needs a code or a passkey.
   * No recovery codes if you have some, because a passkey had switched the second factor on. Wrong codes are limited
   * per session.
   */
  readonly "POST /internal/factor/confirm": { readonly body: ConfirmFactor; readonly response: RecoveryCodes }
  /**
   * Get new recovery codes. They replace all earlier codes, which become invalid. 404 if the second factor is not on.
   */
  readonly "PUT /internal/factor/recovery-codes": { readonly response: RecoveryCodes }
  /** Switch your second factor off. Also removes your passkeys and your recovery codes. 404 if it is not on. */
  readonly "DELETE /internal/factor": { readonly response: undefined }
  /**
   * Get the options of a new passkey. With a challenge that lasts 5 minutes, in place of an earlier one. 404 if you
   * have no password at this service, or if the service has no domain name.
   */
  readonly "PUT /internal/factor/passkeys/options": { readonly response: PasskeyCreation }
  /**
   * Add a passkey. From then on each sign-in needs your second factor: a passkey, a code of your app or a recovery
   * code. At most 20 passkeys.
   */
  readonly "POST /internal/factor/passkeys": { readonly body: AddPasskey; readonly response: AddedPasskey }
  /**
   * Remove a passkey. Takes effect immediately. Without your last passkey, and without an authenticator app, your
   * second factor is off.
   */
  readonly "DELETE /internal/factor/passkeys/:id": { readonly response: undefined }
  /**
   * Get the options of a passkey as a proof of presence. For `POST /internal/session/confirm`. With a challenge that
   * lasts 5 minutes, in place of an earlier one.
   */
  readonly "PUT /internal/session/confirm/options": { readonly response: PasskeyRequest }
  /**
   * Request a link that resets a password. Mails the link if the account exists; the response does not reveal it. 404
   * if the service sends no mail.
   */
  readonly "POST /internal/password/reset-request": {
    readonly body: RequestPasswordReset
    readonly response: undefined
  }
  /**
   * Reset a password. Requires the token of the link, which works once, within an hour. Ends all sessions of the
   * account.
   */
  readonly "POST /internal/password/reset": { readonly body: ResetPassword; readonly response: undefined }
  /** List members. All members, oldest first, followed by the pending invitations and who made each. */
  readonly "GET /internal/members": { readonly response: InternalPage<Member> }
  /**
   * Invite a person. The link works once, within 7 days, and replaces an earlier link to the same address. It is also
   * mailed if mail is set up. It ends with its maker: if they are removed, or may not give the role any more. Only an
   * owner can invite owners, and replace an owner's invitation. 404 if people sign in at an issuer.
   */
  readonly "POST /internal/members": { readonly body: InviteMember; readonly response: InvitedMember }
  /** Change a member's role. Only an owner can change owners. The last owner cannot be changed. */
  readonly "PATCH /internal/members/:id": { readonly body: ChangeMember; readonly response: Member }
  /**
   * Remove a member, or withdraw an invitation. Ends the member's sessions in the workspace and the invitations that
   * they made, and takes their address out of the alert settings. Only an owner can remove owners, and withdraw an
   * owner's invitation. The last owner cannot be removed.
   */
  readonly "DELETE /internal/members/:id": { readonly response: undefined }
  /**
   * End all sessions of a member. Also their sessions in other workspaces, because a session can switch to this one.
   * The session of the request stays. Only an owner can end owners' sessions.
   */
  readonly "DELETE /internal/members/:id/sessions": { readonly response: undefined }
  /**
   * Remove the second factor of a member. For a member who has lost it, with its passkeys: from then on their password
   * is enough. Refused if they are also a member of a workspace that you do not own. 404 if their second factor is not
   * on.
   */
  readonly "DELETE /internal/members/:id/factor": { readonly response: undefined }
  /**
   * Show an invitation. Before it is accepted. 401 if it was accepted or withdrawn, if it has expired, or if its maker
   * may not give its role any more. Failures are limited per address. 404 if people sign in at an issuer.
   */
  readonly "POST /internal/invitations/show": { readonly body: ShowInvitation; readonly response: ShownInvitation }
  /**
   * Accept an invitation. Signs the person in. A new person chooses a password; a person with an account gives its
   * password, and a proof of its second factor if it has one, or is already signed in. Failures are limited per address
   * and per account. 404 if people sign in at an issuer.
   */
  readonly "POST /internal/invitations/accept": { readonly body: AcceptInvitation; readonly response: Session }
  /**
   * Open the portal. Accepts the token of a host's link once, and sets the cookie of a session that lasts an hour:
   * `__Host-wac_portal`, valid only for requests with the header `wac-portal: <workspace id>`. The session gives access
   * to API keys, the webhook, deliveries and replays of that workspace. Failures are limited per address.
   */
  readonly "POST /internal/portal": { readonly body: OpenPortal; readonly response: Session }
  /**
   * List phone numbers. Newest first, each with the limits in force and, if the provider blocks the number, the reason.
   */
  readonly "GET /internal/phone-numbers": { readonly query: ListQuery; readonly response: InternalPage<PhoneNumber> }
  /** Create a campaign. A draft without recipients. Nothing is sent until it is checked and started. */
  readonly "POST /internal/campaigns": { readonly body: CreateCampaign; readonly response: Campaign }
  /** List campaigns. Newest first. */
  readonly "GET /internal/campaigns": { readonly query: ShownCampaignQuery; readonly response: InternalPage<Campaign> }
  /** Get a campaign. Its counts still change with the provider's reports after it is completed. */
  readonly "GET /internal/campaigns/:id": { readonly response: Campaign }
  /**
   * Change a campaign. Templates, sender and holdout can change until the campaign is started; then its recipients must
   * be checked again.
   */
  readonly "PATCH /internal/campaigns/:id": { readonly body: EditCampaign; readonly response: Campaign }
  /** Delete a campaign. Only possible before it is started. Its recipients are deleted too. */
  readonly "DELETE /internal/campaigns/:id": { readonly response: undefined }
  /**
   * Upload recipients. Adds the rows of a file to a campaign that was not started, or replaces those that it has:
   * NDJSON, with `to` and what differs from the campaign's template in each line, or CSV as spreadsheets write it, with
   * a column of phone numbers or user ids, a column for each variable, and `timeZone` if quiet hours need it. If the
   * file is refused, the campaign stays as it was. Rows that cannot be read are reported when the campaign is checked.
   */
  readonly "PUT /internal/campaigns/:id/recipients": { readonly query: UploadQuery; readonly response: Campaign }
  /**
   * Check a campaign's recipients. In the background; the campaign is `ready` afterwards. Rows with a problem are
   * listed with it.
   */
  readonly "POST /internal/campaigns/:id/check": { readonly response: Campaign }
  /**
   * Start a campaign. A campaign that is `ready`. Starting it again changes nothing. Refused if the campaign's end has
   * passed, or is before its start, because nobody would get a message.
   */
  readonly "POST /internal/campaigns/:id/start": { readonly response: Campaign }
  /** Pause a campaign. Stops sending within a second. */
  readonly "POST /internal/campaigns/:id/pause": { readonly response: Campaign }
  /**
   * Resume a campaign. It continues with the recipients that are left. Refused once the campaign's end has passed,
   * because they would all be skipped: set a later end first.
   */
  readonly "POST /internal/campaigns/:id/resume": { readonly response: Campaign }
  /** Cancel a campaign. Waiting recipients are skipped. Messages in flight still get their outcome. */
  readonly "POST /internal/campaigns/:id/cancel": { readonly response: Campaign }
  /**
   * List a campaign's recipients. In the order of their upload. With a filter, a page looks at 10,000 rows at most, so
   * it may hold fewer than its limit even if more follow. With `Accept: text/csv` the response is a file with all of
   * them, in which a value that a spreadsheet would read as a formula begins with an apostrophe.
   */
  readonly "GET /internal/campaigns/:id/recipients": {
    readonly query: CampaignRowQuery
    readonly response: InternalPage<CampaignRow>
  }
  /**
   * Get a campaign's problems. Why rows that were checked are not sent to, with the first rows of each problem. `GET
   * /internal/campaigns/:id/recipients?outcome=left_out` lists all of them.
   */
  readonly "GET /internal/campaigns/:id/problems": { readonly response: CampaignProblems }
  /**
   * Get a campaign's timeline. How many of its messages were sent, delivered and read when. Empty until the first one
   * is sent.
   */
  readonly "GET /internal/campaigns/:id/timeline": {
    readonly query: CampaignTimelineQuery
    readonly response: CampaignTimeline
  }
  /**
   * Find customers by a part of their number. The numbers that were written to or wrote, in their order, at most 20.
   */
  readonly "GET /internal/customers": { readonly query: CustomerQuery; readonly response: CustomerNumbers }
  /**
   * List contacts. Customers who have written, or have opted in or out. The list is ordered by phone number, then by
   * the customer's number or, if it is not known, user id. Following the cursor misses no contact, even if customers
   * write meanwhile, except one whose number becomes known.
   */
  readonly "GET /internal/contacts": { readonly query: ContactQuery; readonly response: InternalPage<Contact> }
  /**
   * Get a contact. The current state of a customer for one phone number. The id may also be made of any other number or
   * user id of the customer.
   */
  readonly "GET /internal/contacts/:id": { readonly response: Contact }
  /**
   * List the messages of a contact. The conversation with the customer in both directions, from every number of the
   * workspace, newest first.
   */
  readonly "GET /internal/contacts/:id/messages": {
    readonly query: ListQuery
    readonly response: InternalPage<ConversationMessage>
  }
  /**
   * Opt a contact out. No free-form text and no marketing template is sent to the customer from this number, until
   * START from the customer or until they are opted in.
   */
  readonly "PUT /internal/contacts/:id/opt-out": { readonly response: Contact }
  /** Opt a contact in. Ends the opt-out of the customer for this number, whoever set it. */
  readonly "DELETE /internal/contacts/:id/opt-out": { readonly response: Contact }
  /** Get the words by which customers opt out. The workspace's own, and the defaults by language. */
  readonly "GET /internal/settings/opt-out": { readonly response: OptOutSettings }
  /**
   * Set the words by which customers opt out. They are compared without case, and without space, punctuation and
   * symbols around them. A word counts if it is the whole message, or the whole text of a button.
   */
  readonly "PUT /internal/settings/opt-out": { readonly body: OptOutWords; readonly response: OptOutSettings }
  /**
   * Export opt-outs. All names that are opted out and known, and how many others there are. With `Accept: text/csv` the
   * response is a file of the names.
   */
  readonly "GET /internal/suppressions": { readonly response: Suppressions }
  /**
   * Import opt-outs. Opts out every name of a file, for all numbers of the workspace: CSV with a column `name`, `to` or
   * `phone`, or with names in its first column; or NDJSON, with a name or an object with a `name` in each line.
   * Importing a file again leaves the numbers on which a customer has opted in since, if they stay opted out on others.
   */
  readonly "PUT /internal/suppressions": { readonly response: ImportedOptOuts }
  /** Get the webhook. Returns the configuration and the health, but no secret. 404 if no webhook is set. */
  readonly "GET /internal/webhook": { readonly response: Webhook }
  /**
   * Get how the receiver behaves. Attempts by outcome and how long they took, over time, tests included. The last hour
   * and at most four hours of the last two days have steps of five minutes. Counted about a second after an attempt
   * ends; a crash of the service can lose that second.
   */
  readonly "GET /internal/webhook/receiver": { readonly query: ReceiverQuery; readonly response: ReceiverReport }
  /** Set the webhook. A workspace has one webhook. Only the response that creates it contains the signing secret. */
  readonly "PUT /internal/webhook": { readonly body: PutWebhook; readonly response: SetWebhook }
  /** Remove the webhook. Deliveries stop; events are still recorded. 404 if no webhook is set. */
  readonly "DELETE /internal/webhook": { readonly response: undefined }
  /**
   * Rotate the signing secret. During the overlap, every delivery is signed with both secrets, so receivers can switch
   * at any time.
   */
  readonly "POST /internal/webhook/rotate-secret": { readonly body: RotateSecret; readonly response: RotatedSecret }
  /**
   * Send a test event. Attempted once, even while paused; the response reports the result. A workspace can make ten at
   * once, then one in six seconds.
   */
  readonly "POST /internal/webhook/test": { readonly response: Attempt }
  /**
   * Pause the webhook. Events are still recorded, and are held until a person resumes the webhook. `GET
   * /internal/webhook` returns how many.
   */
  readonly "POST /internal/webhook/pause": { readonly response: WebhookStatus }
  /**
   * Resume the webhook. A test event is sent first: if it fails, the webhook stays paused, unless `force` is set. Held
   * events are then delivered oldest first, at a bounded rate, alongside new events.
   */
  readonly "POST /internal/webhook/resume": { readonly body: ResumeWebhook; readonly response: ResumedWebhook }
  /**
   * Find out why a signature does not verify. Checks a delivery as the receiver got it, and reports which part is wrong
   * and why. Returns no secret.
   */
  readonly "POST /internal/webhook/verify": { readonly body: VerifyDelivery; readonly response: VerifiedDelivery }
  /**
   * List deliveries. Newest first. With the status `delivered`, and with any filter but `status` and `messageId`, a
   * page ends at the latest after looking at 10,000 deliveries: it may hold fewer than `limit`, or none, even if more
   * follow.
   */
  readonly "GET /internal/webhook/deliveries": {
    readonly query: DeliveryQuery
    readonly response: InternalPage<Delivery>
  }
  /**
   * Get a delivery with its attempts. `curl` contains a valid signature, so it is null for members, and if the webhook
   * was removed or its secret cannot be opened.
   */
  readonly "GET /internal/webhook/deliveries/:id": { readonly response: DeliveryDetail }
  /** Deliver again. Starts a new round of attempts, regardless of the result of the last round. */
  readonly "POST /internal/webhook/deliveries/:id/retry": { readonly response: Delivery }
  /**
   * Replay events. Delivers the webhook's events of a time range again, oldest first, at a bounded rate: those whose
   * deliveries had ended when the job was created. While the webhook is paused, the job waits.
   */
  readonly "POST /internal/webhook/replays": { readonly body: CreateReplay; readonly response: Replay }
  /** List replays. Newest first. */
  readonly "GET /internal/webhook/replays": { readonly query: ListQuery; readonly response: InternalPage<Replay> }
  /** Get a replay's progress. The number of deliveries that the job covers, and how many have started a new round. */
  readonly "GET /internal/webhook/replays/:id": { readonly response: Replay }
  /** Cancel a replay. Rounds that have already started continue. The response is also 204 if the replay is over. */
  readonly "DELETE /internal/webhook/replays/:id": { readonly response: undefined }
  /** List events. Newest first. */
  readonly "GET /internal/events": { readonly query: InternalEventQuery; readonly response: Page<Event> }
  /** Get an event. In combined form, regardless of the webhook's envelope. */
  readonly "GET /internal/events/:id": { readonly response: Event }
  /**
   * List requests. Requests of API keys, newest first, and those of people that were to change something or were
   * refused; and the number of refused requests of API keys by reason, both from the answer's `since` on: the operator
   * sets how long requests are kept. A request appears about a second after its response. With a filter a page ends at
   * the latest after looking at 10,000 requests: it may hold fewer than `limit`, or none, even if more follow.
   */
  readonly "GET /internal/requests": { readonly query: RequestQuery; readonly response: RequestPage }
  /** Get a request. With the shape of its body: known names of fields, and the types and lengths of their values. */
  readonly "GET /internal/requests/:id": { readonly response: ApiRequestDetail }
  /**
   * See the values of a request. Of an API key's request that came while an owner had them switched on, for 24 hours
   * from then on: else 404. Each look is in the audit. One-time codes, passwords and what has the form of a key or a
   * token are never kept.
   */
  readonly "GET /internal/requests/:id/values": { readonly response: RequestValues }
  /** Get whether the values of requests are kept. They are kept only where an owner has switched them on. */
  readonly "GET /internal/settings/request-values": { readonly response: RequestValuesSettings }
  /**
   * Keep the values of requests, or no longer. Switched on, the values of the workspace's API requests are kept for the
   * next 24 hours, each request's for 24 hours. Switched on again, the 24 hours begin anew. Switched off, all that is
   * kept is deleted.
   */
  readonly "PUT /internal/settings/request-values": {
    readonly body: RequestValuesChange
    readonly response: RequestValuesSettings
  }
  /**
   * List changes. Changes, newest first: the person or the API key, the action, the resource, the time and the address.
   * `since` is the time before which changes are deleted, as the operator has set it.
   */
  readonly "GET /internal/audit": { readonly query: AuditQuery; readonly response: AuditPage }
  /** List alerts. Newest first. A problem is noticed within about a minute, and has one alert while it lasts. */
  readonly "GET /internal/alerts": { readonly query: AlertQuery; readonly response: InternalPage<Alert> }
  /** Get the recipients of alerts. Besides the dashboard. */
  readonly "GET /internal/alerts/settings": { readonly response: AlertSettings }
  /** Set the recipients of alerts. They get one mail and one post when a problem begins, and one when it is over. */
  readonly "PUT /internal/alerts/settings": { readonly body: AlertSettings; readonly response: AlertSettings }
  /** Get the state of the queue. How many messages wait, and whether they do until a person releases them. */
  readonly "GET /internal/queue": { readonly response: QueueState }
  /**
   * Release the queue after a restore. Messages that are due are sent at once, also those that were sent after the
   * backup was made, and those of the outbox (`enqueued`) once they are queued: check first. Releases the messages of
   * this workspace. Changes nothing if its queue is not held.
   */
  readonly "POST /internal/queue/release": { readonly response: QueueState }
  /** Get usage. Activity is counted about a second after it ends; a crash of the service can lose that second. */
  readonly "GET /internal/usage": { readonly query: UsageQuery; readonly response: Usage }
}
