/**
 * The requests and responses of the dashboard's endpoints under `/internal`. Times are ISO 8601 in UTC. Written from
 * the API definition; do not edit.
 */
import type { Json } from "../Json.ts"
import type { InternalPage, Page } from "../Page.ts"
import type { MessageStatus, MessageType, SendMessage, TemplateContent, TemplateQuery } from "./Wire.ts"
import type { Event, EventType, MessageFailure, ProviderDetail } from "./Event.ts"

export interface SentFromDashboard {
  readonly status: "sent"
  readonly messageId: string
  readonly providerMessageId: string
  readonly tenantId: string
  readonly apiKeyId: null
}

export interface ListedMessage {
  readonly id: string
  readonly status: MessageStatus
  readonly providerMessageId: string | null
  /** null if a person sent it from the dashboard. */
  readonly apiKeyId: string | null
  readonly to: string
  readonly from: string
  readonly type: MessageType
  readonly createdAt: string
}

export interface MessageDetail {
  readonly id: string
  readonly status: MessageStatus
  readonly providerMessageId: string | null
  /** null if a person sent it from the dashboard. */
  readonly apiKeyId: string | null
  readonly to: string
  readonly from: string
  readonly type: MessageType
  readonly createdAt: string
  readonly sentAt: string | null
  readonly deliveredAt: string | null
  readonly readAt: string | null
  readonly failedAt: string | null
  readonly error: MessageFailure | null
  readonly clientReference: string | null
}

export interface TemplateDetail {
  readonly id: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameterFormat: "positional" | "named"
  readonly components: ReadonlyArray<Json>
  readonly variables: ReadonlyArray<string>
  readonly unfillable: string | null
  readonly quality: string | null
  readonly rejectionReason: string | null
  readonly providerTemplateId: string
  readonly syncedAt: string
}

export interface CreateTemplate {
  readonly name: string
  readonly language: string
  readonly category: "marketing" | "utility" | "authentication"
  readonly parameterFormat?: "positional" | "named"
  readonly components: ReadonlyArray<
    | {
      readonly type: "HEADER"
      readonly format: "TEXT" | "IMAGE" | "VIDEO" | "GIF" | "DOCUMENT" | "LOCATION"
      readonly text?: string
      readonly example?: {
        readonly header_text?: ReadonlyArray<string>
        readonly header_text_named_params?: ReadonlyArray<{
          readonly param_name: string
          readonly example: string
        }>
        readonly header_handle?: ReadonlyArray<string>
        readonly media?: string
      }
    }
    | {
      readonly type: "BODY"
      readonly text?: string
      readonly example?: {
        readonly body_text?: ReadonlyArray<ReadonlyArray<string>>
        readonly body_text_named_params?: ReadonlyArray<{
          readonly param_name: string
          readonly example: string
        }>
      }
      readonly add_security_recommendation?: boolean
    }
    | {
      readonly type: "FOOTER"
      readonly text?: string
      readonly code_expiration_minutes?: number
    }
    | {
      readonly type: "BUTTONS"
      readonly buttons: ReadonlyArray<
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
        }>
    }
    | {
      readonly type: "LIMITED_TIME_OFFER"
      readonly limited_time_offer: {
        readonly text: string
        readonly has_expiration?: boolean
      }
    }
    | {
      readonly type: "CAROUSEL"
      readonly cards: ReadonlyArray<{
        readonly components: ReadonlyArray<
          | {
            readonly type: "HEADER"
            readonly format: "TEXT" | "IMAGE" | "VIDEO" | "GIF" | "DOCUMENT" | "LOCATION"
            readonly text?: string
            readonly example?: {
              readonly header_text?: ReadonlyArray<string>
              readonly header_text_named_params?: ReadonlyArray<{
                readonly param_name: string
                readonly example: string
              }>
              readonly header_handle?: ReadonlyArray<string>
              readonly media?: string
            }
          }
          | {
            readonly type: "BODY"
            readonly text?: string
            readonly example?: {
              readonly body_text?: ReadonlyArray<ReadonlyArray<string>>
              readonly body_text_named_params?: ReadonlyArray<{
                readonly param_name: string
                readonly example: string
              }>
            }
            readonly add_security_recommendation?: boolean
          }
          | {
            readonly type: "BUTTONS"
            readonly buttons: ReadonlyArray<
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
              }>
          }>
      }>
    }>
  readonly messageSendTtlSeconds?: number
  readonly phoneNumberId?: string
}

export interface EditTemplate {
  readonly category?: "marketing" | "utility" | "authentication"
  readonly components?: ReadonlyArray<
    | {
      readonly type: "HEADER"
      readonly format: "TEXT" | "IMAGE" | "VIDEO" | "GIF" | "DOCUMENT" | "LOCATION"
      readonly text?: string
      readonly example?: {
        readonly header_text?: ReadonlyArray<string>
        readonly header_text_named_params?: ReadonlyArray<{
          readonly param_name: string
          readonly example: string
        }>
        readonly header_handle?: ReadonlyArray<string>
        readonly media?: string
      }
    }
    | {
      readonly type: "BODY"
      readonly text?: string
      readonly example?: {
        readonly body_text?: ReadonlyArray<ReadonlyArray<string>>
        readonly body_text_named_params?: ReadonlyArray<{
          readonly param_name: string
          readonly example: string
        }>
      }
      readonly add_security_recommendation?: boolean
    }
    | {
      readonly type: "FOOTER"
      readonly text?: string
      readonly code_expiration_minutes?: number
    }
    | {
      readonly type: "BUTTONS"
      readonly buttons: ReadonlyArray<
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
        }>
    }
    | {
      readonly type: "LIMITED_TIME_OFFER"
      readonly limited_time_offer: {
        readonly text: string
        readonly has_expiration?: boolean
      }
    }
    | {
      readonly type: "CAROUSEL"
      readonly cards: ReadonlyArray<{
        readonly components: ReadonlyArray<
          | {
            readonly type: "HEADER"
            readonly format: "TEXT" | "IMAGE" | "VIDEO" | "GIF" | "DOCUMENT" | "LOCATION"
            readonly text?: string
            readonly example?: {
              readonly header_text?: ReadonlyArray<string>
              readonly header_text_named_params?: ReadonlyArray<{
                readonly param_name: string
                readonly example: string
              }>
              readonly header_handle?: ReadonlyArray<string>
              readonly media?: string
            }
          }
          | {
            readonly type: "BODY"
            readonly text?: string
            readonly example?: {
              readonly body_text?: ReadonlyArray<ReadonlyArray<string>>
              readonly body_text_named_params?: ReadonlyArray<{
                readonly param_name: string
                readonly example: string
              }>
            }
            readonly add_security_recommendation?: boolean
          }
          | {
            readonly type: "BUTTONS"
            readonly buttons: ReadonlyArray<
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
              }>
          }>
      }>
    }>
  readonly messageSendTtlSeconds?: number
}

export interface Synced {
  readonly count: number
  readonly syncedAt: string
}

export interface ListedApiKey {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<"messages:send" | "messages:read" | "media:write" | "contacts:write" | "campaigns:write">
  readonly lastUsedAt: string | null
}

export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly scopes: ReadonlyArray<"messages:send" | "messages:read" | "media:write" | "contacts:write" | "campaigns:write">
  readonly lastUsedAt: string | null
  readonly prefix: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly requireSignature: boolean
  /** The only phone numbers that the key may send from; null: all of the workspace. */
  readonly phoneNumberIds: ReadonlyArray<string> | null
  /** The only networks that the key may be used from; null: anywhere. */
  readonly allowedCidrs: ReadonlyArray<string> | null
}

export interface CreateApiKey {
  /** 1 to 100 characters, not counting white space around them. */
  readonly name: string
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly expiresAt?: string
  /** Whether mutating requests with the key must be signed. */
  readonly requireSignature?: boolean
  /**
   * What the key may do, in any order; `messages:send` is always added. If omitted: `messages:send`, `messages:read`,
   * `media:write`.
   */
  readonly scopes?: ReadonlyArray<"messages:send" | "messages:read" | "media:write" | "contacts:write" | "campaigns:write">
  /** The ids of the only phone numbers of the workspace that the key may send from; if omitted, all. */
  readonly phoneNumberIds?: ReadonlyArray<string>
  /**
   * The only networks that the key may be used from, as CIDRs like `203.0.113.0/24` or single addresses; if omitted,
   * anywhere. From elsewhere, the key is answered as if it did not exist.
   */
  readonly allowedCidrs?: ReadonlyArray<string>
}

export interface CreatedApiKey {
  readonly id: string
  readonly name: string
  readonly prefix: string
  readonly apiKey?: string
  readonly signingSecret?: string
  readonly scopes: ReadonlyArray<"messages:send" | "messages:read" | "media:write" | "contacts:write" | "campaigns:write">
  readonly createdAt: string
}

export interface SignIn {
  readonly email: string
  readonly password: string
}

export interface Session {
  readonly userId: string
  readonly email: string
  readonly role: "member" | "developer" | "admin" | "owner"
  readonly workspaceId: string
  readonly workspaceName: string
}

export interface SetUp {
  readonly token: string
  readonly email: string
  readonly password: string
  readonly workspaceName: string
}

export interface SignInMethod {
  /** `oidc`: open `/internal/oidc/sign-in` in the browser. */
  readonly method: "password" | "oidc"
}

export interface OwnWorkspace {
  readonly id: string
  readonly name: string
  readonly role: "member" | "developer" | "admin" | "owner"
  /** Whether the session is in this workspace. */
  readonly isCurrent: boolean
}

export interface SwitchWorkspace {
  readonly workspaceId: string
}

export interface ConfirmSession {
  readonly password: string
}

export interface OwnSession {
  readonly id: string
  readonly createdAt: string
  readonly expiresAt: string
  /** The address from which the session was opened. */
  readonly address: string | null
  /** The browser with which the session was opened. */
  readonly agent: string | null
  readonly isCurrent: boolean
}

export interface ChangePassword {
  readonly current: string
  readonly new: string
}

export interface RequestPasswordReset {
  readonly email: string
}

export interface ResetPassword {
  readonly token: string
  readonly password: string
}

export interface Member {
  /** `usr_…` for a member, `inv_…` for an invitation. */
  readonly id: string
  readonly email: string
  readonly role: "member" | "developer" | "admin" | "owner"
  readonly status: "active" | "invited"
  readonly createdAt: string
  /** When the invitation expires; null for a member. */
  readonly expiresAt: string | null
  /** Who made the invitation; null for a member, and for an invitation by the operator's command. */
  readonly invitedBy: {
    readonly userId: string
    readonly email: string
  } | null
}

export interface InviteMember {
  readonly email: string
  readonly role: "member" | "developer" | "admin" | "owner"
}

export interface InvitedMember {
  readonly id: string
  /** Missing from a repeated response: invite again for another link. */
  readonly inviteUrl?: string
  readonly expiresAt: string
}

export interface ChangeMember {
  readonly role: "member" | "developer" | "admin" | "owner"
}

export interface AcceptInvitation {
  readonly token: string
  readonly password?: string
}

export interface OpenPortal {
  readonly token: string
}

export interface PhoneNumber {
  readonly id: string
  readonly phoneNumber: string
  readonly isDefault: boolean
  readonly provider: string
  readonly providerNumberId: string
  readonly providerAccountId: string
  readonly portfolioId: string | null
  readonly status: "available" | "blocked" | "disabled"
  readonly block: SenderBlock | null
  readonly tier: string
  readonly messagesPerSecond: number
  readonly messagingLimit: number | null
  readonly quality: string | null
}

export interface SenderBlock {
  readonly reason: "quality" | "restricted" | "credentials" | "registration" | "payment" | "display_name"
  readonly scope: "all" | "outside_window"
  readonly message: string
  readonly since: string
  readonly until: string | null
  readonly provider: ProviderDetail | null
}

export interface CreateCampaign {
  readonly name: string
  /** The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template: TemplateContent
  /** A second variant of the template: half of the customers, chosen by chance, get it. */
  readonly templateB?: TemplateContent
  /** A phone number of the workspace, by id or in E.164; defaults to the default number. */
  readonly from?: string
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly startAt?: string
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly notAfter?: string
  readonly quietHours?: QuietHours
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** The share of failures in its last 1,000 messages above which it pauses itself; defaults to 0.2. */
  readonly maxFailureRate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

/** The daily period, by each recipient's own clock, in which nothing is sent: times of day as `HH:MM`. */
export interface QuietHours {
  readonly from: string
  readonly to: string
}

export interface Campaign {
  readonly id: string
  readonly name: string
  readonly status:
    | "draft"
    | "checking"
    | "ready"
    | "scheduled"
    | "running"
    | "paused"
    | "completed"
    | "cancelled"
  readonly pausedReason:
    | "person"
    | "template_not_approved"
    | "template_category"
    | "sender_not_available"
    | "quota_exhausted"
    | "failure_rate"
    | "provider_policy"
    | "restored" | null
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
  readonly rows: number
  readonly checked: number
  readonly problems: number
  readonly forecast: CampaignForecast | null
  readonly counts: CampaignCounts
  readonly reasons: ReadonlyArray<{
    readonly outcome: "failed" | "skipped"
    readonly reason: string
    readonly recipients: number
  }>
  /** The result by variant of the template: `a` is `template`. `null` without `templateB`. */
  readonly comparison: CampaignComparison | null
}

export interface CampaignForecast {
  readonly messages: number
  readonly limitedCustomers: number
  readonly messagingLimit: number | null
  readonly days: number | null
  readonly seconds: number
  /** The messages by the price that they are expected to have, by market, category and type. */
  readonly lines: ReadonlyArray<UsageLine>
  /** The sum of `lines` in each currency; empty if the operator has loaded no rate card. */
  readonly costs: ReadonlyArray<{
    readonly currency: string
    readonly amount: string
  }>
}

export interface UsageLine {
  /** The customer's country, ISO 3166-1 alpha-2; `ZZ` if not known. */
  readonly market: string
  /** As the provider reported it, such as `marketing`. */
  readonly category: string
  /** As the provider reported it, such as `regular` or `free_customer_service`. */
  readonly type: string
  /** null if the provider says nothing of it; then `cost` is what the messages cost if they are charged. */
  readonly billable: boolean | null
  readonly messages: number
  /** null if nothing is charged, or if the operator has loaded no rate for it. */
  readonly cost: {
    readonly currency: string
    /** A decimal number, such as `12.3456`. */
    readonly amount: string
    /** The day from which the rates used are valid. */
    readonly ratesFrom: string
  } | null
}

export interface CampaignCounts {
  readonly total: number
  readonly queued: number
  readonly sent: number
  readonly delivered: number
  readonly read: number
  readonly failed: number
  readonly held: number
  readonly unknown: number
  readonly skipped: number
}

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

export interface CampaignDifference {
  readonly a: number
  readonly b: number
  readonly difference: number
  readonly low: number
  readonly high: number
  /** Whether the difference can be told from chance: the interval from `low` to `high` does not contain 0. */
  readonly isDistinguishable: boolean
}

export interface EditCampaign {
  readonly name?: string
  /** The template, as in a send. `{{name}}` in a value is replaced by each recipient's variable of that name. */
  readonly template?: TemplateContent
  readonly templateB?: TemplateContent | null
  readonly from?: string | null
  readonly startAt?: string | null
  readonly notAfter?: string | null
  readonly quietHours?: QuietHours | null
  /** The share of the phone number's rate that it may use; defaults to 0.5. */
  readonly share?: number
  /** The share of failures in its last 1,000 messages above which it pauses itself; defaults to 0.2. */
  readonly maxFailureRate?: number
  /** The share of its customers, chosen by chance, who get nothing, for comparison; defaults to 0. */
  readonly holdout?: number
}

export interface CampaignRow {
  readonly row: number
  readonly problem: {
    readonly reason:
      | "malformed"
      | "duplicate"
      | "opted_out"
      | "phone_number_required"
      | "template_params_mismatch"
    readonly message: string
    readonly line: number | null
    /** What the file has in the place of what is wrong, else of the customer's name. */
    readonly value: string | null
  } | null
  readonly messageId: string | null
  readonly to: string | null
  readonly variant: "a" | "b" | null
  readonly status: MessageStatus | null
  readonly outcome: "queued" | "sent" | "delivered" | "read" | "failed" | "held" | "unknown" | "skipped" | null
  readonly error: {
    readonly code: string
    readonly reason?: string
    readonly message: string
  } | null
}

export interface Contact {
  readonly id: string
  readonly phoneNumberId: string
  readonly phone: string | null
  readonly userId: string | null
  readonly lastInboundAt: string | null
  readonly windowOpenUntil: string | null
  readonly optedOut: boolean
  readonly preferenceAt: string | null
}

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
    | "received"
  readonly from: string
  readonly to: string
  readonly type: string
  /** What it said; {} once that was deleted. */
  readonly content: Json
  /** What it quotes or answers; null if nothing. */
  readonly context: Json
  readonly at: string
}

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

export interface OptOutWords {
  /** Words that opt out, typed or on a button, besides the defaults. */
  readonly stopWords: ReadonlyArray<string>
  /** Words that opt in, besides the defaults. */
  readonly startWords: ReadonlyArray<string>
  /** Defaults that do not count. */
  readonly removed: ReadonlyArray<string>
}

export interface Suppressions {
  /** Further names that are opted out, of customers who were erased. */
  readonly others: number
  readonly names: ReadonlyArray<{
    readonly name: string
    /** null for every number of the workspace. */
    readonly phoneNumberId: string | null
    readonly optedOutAt: string
    /** null if the customer or the provider opted them out. */
    readonly source: "customer" | "provider" | "api" | "person" | "import" | null
  }>
}

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

export interface Webhook {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: "combined" | "a" | "b"
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: {
    readonly at: string
    readonly message: string
  } | null
  readonly pausesAt: string | null
  readonly heldCount: number
  readonly oldestHeldAt: string | null
}

export interface PutWebhook {
  /**
   * An https URL whose host is a name or a public address, without a user name. An operator can allow http and private
   * addresses.
   */
  readonly url: string
  readonly envelope?: "combined" | "a" | "b"
  /** Defaults to all types. */
  readonly eventTypes?: ReadonlyArray<EventType>
}

export interface SetWebhook {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: "combined" | "a" | "b"
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
  readonly signingSecret?: string
}

export interface RotateSecret {
  /** How long the old secret still signs besides the new one; defaults to a day; 0 ends it immediately. */
  readonly overlapSeconds?: number
}

export interface RotatedSecret {
  /** Missing from a repeated response: rotate again for another secret. */
  readonly signingSecret?: string
  readonly previousExpiresAt: string
}

export interface Attempt {
  readonly id: string
  readonly number: number
  readonly trigger: "automatic" | "manual" | "replay" | "test" | "probe"
  readonly startedAt: string
  readonly durationMs: number
  readonly outcome:
    | "delivered"
    | "dns"
    | "connect"
    | "tls"
    | "timeout"
    | "status"
    | "redirect"
    | "blocked_address"
  readonly statusCode: number | null
  readonly message: string
  readonly timings: {
    readonly lookupMs: number | null
    readonly connectMs: number | null
    readonly tlsMs: number | null
    readonly firstByteMs: number | null
    readonly bodyMs: number | null
  } | null
  readonly request: {
    readonly url: string
    readonly address: string | null
    readonly headers: {
      readonly [field: string]: string
    }
    readonly body: string
  }
  readonly response: {
    readonly headers: {
      readonly [field: string]: string
    }
    readonly body: string
  } | null
}

export interface WebhookStatus {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: "combined" | "a" | "b"
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: {
    readonly at: string
    readonly message: string
  } | null
}

export interface ResumeWebhook {
  /** The held events to deliver; defaults to all. The others are skipped. */
  readonly replay?:
    | "all" | "none"
    | {
      /** ISO 8601, to the day or finer; UTC if it has no offset. */
      readonly since: string
    }
  /** Resume without a probe. */
  readonly force?: boolean
}

export interface ResumedWebhook {
  readonly id: string
  readonly url: string
  readonly status: "active" | "paused"
  readonly envelope: "combined" | "a" | "b"
  readonly eventTypes: ReadonlyArray<EventType>
  readonly createdAt: string
  readonly updatedAt: string
  readonly failingSince: string | null
  readonly pausedAt: string | null
  readonly lastFailure: {
    readonly at: string
    readonly message: string
  } | null
  readonly probe: Attempt | null
}

export interface VerifyDelivery {
  /** The value of X-Service-Signature as the receiver got it, or lines of `Name: value` from its log. */
  readonly header: string
  /** The raw body as the receiver got it, before parsing. */
  readonly body: string
}

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

export interface Delivery {
  readonly id: string
  readonly eventId: string
  readonly eventType: EventType
  readonly status: "pending" | "held" | "delivered" | "exhausted" | "skipped"
  readonly attemptCount: number
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly completedAt: string | null
}

export interface DeliveryDetail {
  readonly id: string
  readonly eventId: string
  readonly eventType: EventType
  readonly status: "pending" | "held" | "delivered" | "exhausted" | "skipped"
  readonly attemptCount: number
  readonly nextAttemptAt: string | null
  readonly createdAt: string
  readonly completedAt: string | null
  readonly attempts: ReadonlyArray<Attempt>
  readonly curl: string | null
}

export interface CreateReplay {
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly since: string
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly until?: string
  /** Only deliveries that ended with this status; if omitted, all that have ended. */
  readonly status?: "delivered" | "exhausted" | "skipped"
}

export interface Replay {
  readonly id: string
  readonly state: "running" | "completed" | "cancelled"
  readonly since: string
  readonly until: string
  readonly status: "delivered" | "exhausted" | "skipped" | null
  readonly total: number | null
  readonly replayed: number
  readonly createdAt: string
  readonly completedAt: string | null
}

export interface RequestPage {
  readonly data: ReadonlyArray<ApiRequest>
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly since: string
  /** The number of requests in this period, refused or not. */
  readonly total: number
  /** The refused requests by reason, most requests first. */
  readonly groups: ReadonlyArray<RequestGroup>
}

export interface ApiRequest {
  readonly id: string
  readonly apiKeyId: string
  readonly method: string
  /** The route's template, such as `/v1/messages/:id`. */
  readonly route: string
  readonly status: number
  /** The error's code; null if the request was not refused. */
  readonly code: string | null
  readonly reason: string | null
  readonly at: string
  readonly durationMs: number
}

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

export interface AuditEntry {
  readonly id: string
  readonly at: string
  readonly action:
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
  /** The id of the changed resource. */
  readonly target: string | null
  /** null if an operator's command made the change. */
  readonly by: {
    readonly userId: string
    readonly email: string
  } | null
  readonly address: string | null
  readonly requestId: string | null
  /** Never contains a secret. */
  readonly detail: {
    readonly [field: string]: string
  } | null
}

export interface Alert {
  readonly id: string
  readonly kind:
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
  /** The id of the affected resource, or the month of a quota. */
  readonly subject: string
  /** For people. */
  readonly message: string
  readonly openedAt: string
  /** null while the problem lasts. */
  readonly closedAt: string | null
}

export interface AlertSettings {
  /** Addresses that get a mail, if mail is set up. */
  readonly emails: ReadonlyArray<string>
  /** The URL to which alerts are posted, signed with the webhook's secret like events; null for none. */
  readonly url: string | null
}

export interface Usage {
  /** The current calendar month (UTC), such as `2026-01`. */
  readonly month: string
  /** Messages that count against this month's quota. */
  readonly used: number
  /** Messages a month; null if there is no limit. */
  readonly quota: number | null
  /** The workspace's rate limit. */
  readonly requestsPerSecond: number
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
    readonly amount: string
  }>
  readonly since: string
  /** 3600 for up to a week, 86400 for longer periods. */
  readonly stepSeconds: number
  /** Oldest first, without gaps; the last step is not over yet. */
  readonly steps: ReadonlyArray<UsageStep>
}

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
  /** Attempts at webhook deliveries that failed. */
  readonly attemptsFailed: number
}

/** The endpoints by method and path. */
export interface InternalRoutes {
  readonly "POST /internal/messages": { readonly body: SendMessage; readonly response: SentFromDashboard }
  readonly "GET /internal/messages": {
    readonly query: {
  readonly status?: MessageStatus
  readonly to?: string
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly since?: string | Date
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly until?: string | Date
  /** Exactly as given in the send. */
  readonly clientReference?: string
  /** The provider's id of the message. */
  readonly providerMessageId?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<ListedMessage>
  }
  readonly "GET /internal/messages/:id": { readonly response: MessageDetail }
  readonly "GET /internal/templates": { readonly query: TemplateQuery; readonly response: InternalPage<TemplateDetail> }
  readonly "POST /internal/templates": { readonly body: CreateTemplate; readonly response: TemplateDetail }
  readonly "PATCH /internal/templates/:id": { readonly body: EditTemplate; readonly response: TemplateDetail }
  readonly "DELETE /internal/templates/:id": { readonly response: undefined }
  readonly "POST /internal/templates/sync": { readonly response: Synced }
  readonly "GET /internal/api-keys": {
    readonly query: {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<ListedApiKey>
  }
  readonly "GET /internal/api-keys/:id": { readonly response: ApiKey }
  readonly "POST /internal/api-keys": { readonly body: CreateApiKey; readonly response: CreatedApiKey }
  readonly "DELETE /internal/api-keys/:id": { readonly response: undefined }
  readonly "POST /internal/session": { readonly body: SignIn; readonly response: Session }
  readonly "POST /internal/setup": { readonly body: SetUp; readonly response: Session }
  readonly "GET /internal/sign-in": { readonly response: SignInMethod }
  readonly "GET /internal/session": { readonly response: Session }
  readonly "DELETE /internal/session": { readonly response: undefined }
  readonly "GET /internal/workspaces": { readonly response: InternalPage<OwnWorkspace> }
  readonly "POST /internal/session/workspace": { readonly body: SwitchWorkspace; readonly response: Session }
  readonly "POST /internal/session/confirm": { readonly body: ConfirmSession; readonly response: undefined }
  readonly "GET /internal/sessions": { readonly response: InternalPage<OwnSession> }
  readonly "DELETE /internal/sessions/:id": { readonly response: undefined }
  readonly "DELETE /internal/sessions": { readonly response: undefined }
  readonly "PUT /internal/password": { readonly body: ChangePassword; readonly response: undefined }
  readonly "POST /internal/password/reset-request": {
    readonly body: RequestPasswordReset
    readonly response: undefined
  }
  readonly "POST /internal/password/reset": { readonly body: ResetPassword; readonly response: undefined }
  readonly "GET /internal/members": { readonly response: InternalPage<Member> }
  readonly "POST /internal/members": { readonly body: InviteMember; readonly response: InvitedMember }
  readonly "PATCH /internal/members/:id": { readonly body: ChangeMember; readonly response: Member }
  readonly "DELETE /internal/members/:id": { readonly response: undefined }
  readonly "DELETE /internal/members/:id/sessions": { readonly response: undefined }
  readonly "POST /internal/invitations/accept": { readonly body: AcceptInvitation; readonly response: Session }
  readonly "POST /internal/portal": { readonly body: OpenPortal; readonly response: Session }
  readonly "GET /internal/phone-numbers": {
    readonly query: {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<PhoneNumber>
  }
  readonly "POST /internal/campaigns": { readonly body: CreateCampaign; readonly response: Campaign }
  readonly "GET /internal/campaigns": {
    readonly query: {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<Campaign>
  }
  readonly "GET /internal/campaigns/:id": { readonly response: Campaign }
  readonly "PATCH /internal/campaigns/:id": { readonly body: EditCampaign; readonly response: Campaign }
  readonly "DELETE /internal/campaigns/:id": { readonly response: undefined }
  readonly "PUT /internal/campaigns/:id/recipients": {
    readonly query: {
  /** The country of the numbers without a country code, in ISO 3166-1 alpha-2. */
  readonly defaultCountry?: string
  /** Whether the file replaces all rows that the campaign has; if not, it adds to them. */
  readonly replace?: boolean
  /** The column of a CSV file with the phone numbers or user ids; defaults to `to`. */
  readonly toColumn?: string
}
    readonly response: Campaign
  }
  readonly "POST /internal/campaigns/:id/check": { readonly response: Campaign }
  readonly "POST /internal/campaigns/:id/start": { readonly response: Campaign }
  readonly "POST /internal/campaigns/:id/pause": { readonly response: Campaign }
  readonly "POST /internal/campaigns/:id/resume": { readonly response: Campaign }
  readonly "POST /internal/campaigns/:id/cancel": { readonly response: Campaign }
  readonly "GET /internal/campaigns/:id/recipients": {
    readonly query: {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
  /** Only recipients with this outcome, or the rows that are not sent to. */
  readonly outcome?:
    | "queued"
    | "sent"
    | "delivered"
    | "read"
    | "failed"
    | "held"
    | "unknown"
    | "skipped"
    | "left_out"
  /** Only recipients that failed or were skipped for this reason, and rows with this problem. */
  readonly reason?: string
}
    readonly response: InternalPage<CampaignRow>
  }
  readonly "GET /internal/contacts": {
    readonly query: {
  /** Only contacts of this phone number. */
  readonly phoneNumberId?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<Contact>
  }
  readonly "GET /internal/contacts/:id": { readonly response: Contact }
  readonly "GET /internal/contacts/:id/messages": {
    readonly query: {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<ConversationMessage>
  }
  readonly "PUT /internal/contacts/:id/opt-out": { readonly response: Contact }
  readonly "DELETE /internal/contacts/:id/opt-out": { readonly response: Contact }
  readonly "GET /internal/settings/opt-out": { readonly response: OptOutSettings }
  readonly "PUT /internal/settings/opt-out": { readonly body: OptOutWords; readonly response: OptOutSettings }
  readonly "GET /internal/suppressions": { readonly response: Suppressions }
  readonly "PUT /internal/suppressions": { readonly response: ImportedOptOuts }
  readonly "GET /internal/webhook": { readonly response: Webhook }
  readonly "PUT /internal/webhook": { readonly body: PutWebhook; readonly response: SetWebhook }
  readonly "DELETE /internal/webhook": { readonly response: undefined }
  readonly "POST /internal/webhook/rotate-secret": { readonly body: RotateSecret; readonly response: RotatedSecret }
  readonly "POST /internal/webhook/test": { readonly response: Attempt }
  readonly "POST /internal/webhook/pause": { readonly response: WebhookStatus }
  readonly "POST /internal/webhook/resume": { readonly body: ResumeWebhook; readonly response: ResumedWebhook }
  readonly "POST /internal/webhook/verify": { readonly body: VerifyDelivery; readonly response: VerifiedDelivery }
  readonly "GET /internal/webhook/deliveries": {
    readonly query: {
  readonly status?: "pending" | "held" | "delivered" | "exhausted" | "skipped"
  readonly eventType?: EventType
  /** Only deliveries of events about this message. */
  readonly messageId?: string
  /** Only deliveries whose last attempt had this outcome. */
  readonly outcome?:
    | "delivered"
    | "dns"
    | "connect"
    | "tls"
    | "timeout"
    | "status"
    | "redirect"
    | "blocked_address"
  readonly statusCode?: number
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly since?: string | Date
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly until?: string | Date
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<Delivery>
  }
  readonly "GET /internal/webhook/deliveries/:id": { readonly response: DeliveryDetail }
  readonly "POST /internal/webhook/deliveries/:id/retry": { readonly response: Delivery }
  readonly "POST /internal/webhook/replays": { readonly body: CreateReplay; readonly response: Replay }
  readonly "GET /internal/webhook/replays": {
    readonly query: {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<Replay>
  }
  readonly "GET /internal/webhook/replays/:id": { readonly response: Replay }
  readonly "DELETE /internal/webhook/replays/:id": { readonly response: undefined }
  readonly "GET /internal/events": {
    readonly query: {
  /** ISO 8601, to the day or finer; UTC if it has no offset. */
  readonly since?: string | Date
  readonly type?: EventType
  /** Only events about this message. */
  readonly messageId?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: Page<Event>
  }
  readonly "GET /internal/events/:id": { readonly response: Event }
  readonly "GET /internal/requests": {
    readonly query: {
  /** Only requests that were refused. */
  readonly refused?: boolean
  /** Only requests that were refused for this reason, or with this code if it has none. */
  readonly reason?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: RequestPage
  }
  readonly "GET /internal/audit": {
    readonly query: {
  /** Only changes by this person. */
  readonly userId?: string
  /** Only changes of the resource with this id. */
  readonly target?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<AuditEntry>
  }
  readonly "GET /internal/alerts": {
    readonly query: {
  /** Only alerts that are still open. */
  readonly open?: boolean
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of the previous page. */
  readonly cursor?: string
}
    readonly response: InternalPage<Alert>
  }
  readonly "GET /internal/alerts/settings": { readonly response: AlertSettings }
  readonly "PUT /internal/alerts/settings": { readonly body: AlertSettings; readonly response: AlertSettings }
  readonly "GET /internal/stream": {
    readonly query: {
  /** Also stream the events that are recorded from now on. */
  readonly receive?: "events"
}
    readonly response: undefined
  }
  readonly "GET /internal/usage": {
    readonly query: {
  /** 1, 7, 30 or 90 days up to now; a week if omitted. */
  readonly period?: "day" | "week" | "month" | "quarter"
}
    readonly response: Usage
  }
}
