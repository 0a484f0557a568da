/**
 * Every endpoint of the dashboard with its request and response. This table types the methods of the client, and a type
 * test compares it with the API definition.
 */
import type { Event, EventType } from "./Event.ts"
import type * as Wire from "./InternalWire.ts"
import type { CampaignRowQuery, EventQuery, ListQuery, TemplateQuery } from "./Routes.ts"
import type { MessageStatus, Page, SendMessage } from "./Wire.ts"

/** The filters of the list of messages. */
export interface InternalMessageQuery extends ListQuery {
  readonly status?: MessageStatus
  /** Any name of a customer; finds what was sent to each of their names. */
  readonly to?: string
  /** Exactly as given in the send. */
  readonly clientReference?: string
  /** The provider's id of the message. */
  readonly providerMessageId?: string
  /** Only messages created at or after this time. */
  readonly since?: string | Date
  /** Only messages created before this time. */
  readonly until?: string | Date
}

/** The filters of the list under `/v1`. */
export interface InternalEventQuery extends Omit<EventQuery, "order"> {
  /** Only events about this message. */
  readonly messageId?: string
}

/** The filters of the list. */
export interface ContactQuery extends ListQuery {
  readonly phoneNumberId?: string
}

/** The filters of the list. */
export interface DeliveryQuery extends ListQuery {
  readonly status?: Wire.DeliveryStatus
  readonly eventType?: EventType
  /** Only deliveries of events about this message. */
  readonly messageId?: string
  /** Only deliveries whose last attempt had this outcome. */
  readonly outcome?: Wire.Attempt["outcome"]
  /** Only deliveries whose last attempt got this status. */
  readonly statusCode?: number
  /** Only deliveries created at or after this time. */
  readonly since?: string | Date
  /** Only deliveries created before this time. */
  readonly until?: string | Date
}

/** What an upload says about its file of recipients. */
export interface UploadQuery {
  /** The country of the numbers without a country code, in ISO 3166-1 alpha-2. */
  readonly defaultCountry?: string
  /** Whether the file replaces all rows that the campaign has; if not, it adds to them. */
  readonly replace?: boolean
  /** The column of a CSV file with the phone numbers or user ids; defaults to `to`. */
  readonly toColumn?: string
}

/** The filters of the list of requests. */
export interface RequestQuery extends ListQuery {
  /** Only requests that were refused. */
  readonly refused?: boolean
  /** Only requests that were refused for this reason, or with this code if it has none. */
  readonly reason?: string
}

/** The filters of the list of alerts. */
export interface AlertQuery extends ListQuery {
  /** Only alerts that are still open. */
  readonly open?: boolean
}

/** The filters of the audit. */
export interface AuditQuery extends ListQuery {
  /** Only changes by this person. */
  readonly userId?: string
  /** Only changes of the resource with this id. */
  readonly target?: string
}

/** The period of a usage report. */
export interface UsageQuery {
  /** 1, 7, 30 or 90 days up to now; a week if omitted. */
  readonly period?: "day" | "week" | "month" | "quarter"
}

/** The endpoints by method and path. */
export interface InternalRoutes {
  readonly "POST /internal/session": { readonly body: Wire.SignIn; readonly response: Wire.Session }
  readonly "GET /internal/sign-in": { readonly response: Wire.SignInMethod }
  readonly "GET /internal/session": { readonly response: Wire.Session }
  readonly "DELETE /internal/session": { readonly response: undefined }
  readonly "POST /internal/setup": { readonly body: Wire.SetUp; readonly response: Wire.Session }
  readonly "GET /internal/members": { readonly response: Wire.InternalPage<Wire.Member> }
  readonly "POST /internal/members": { readonly body: Wire.InviteMember; readonly response: Wire.InvitedMember }
  readonly "PATCH /internal/members/:id": { readonly body: Wire.ChangeMember; readonly response: Wire.Member }
  readonly "DELETE /internal/members/:id": { readonly response: undefined }
  readonly "POST /internal/invitations/accept": {
    readonly body: Wire.AcceptInvitation
    readonly response: Wire.Session
  }
  readonly "POST /internal/portal": { readonly body: Wire.OpenPortal; readonly response: Wire.Session }
  readonly "GET /internal/workspaces": { readonly response: Wire.InternalPage<Wire.OwnWorkspace> }
  readonly "POST /internal/session/workspace": {
    readonly body: Wire.SwitchWorkspace
    readonly response: Wire.Session
  }
  readonly "POST /internal/session/confirm": {
    readonly body: Wire.ConfirmSession
    readonly response: undefined
  }
  readonly "GET /internal/sessions": { readonly response: Wire.InternalPage<Wire.OwnSession> }
  readonly "DELETE /internal/sessions": { readonly response: undefined }
  readonly "DELETE /internal/members/:id/sessions": { readonly response: undefined }
  readonly "DELETE /internal/sessions/:id": { readonly response: undefined }
  readonly "PUT /internal/password": { readonly body: Wire.ChangePassword; readonly response: undefined }
  readonly "POST /internal/password/reset-request": {
    readonly body: Wire.RequestPasswordReset
    readonly response: undefined
  }
  readonly "POST /internal/password/reset": { readonly body: Wire.ResetPassword; readonly response: undefined }
  readonly "GET /internal/api-keys": {
    readonly query: ListQuery
    readonly response: Wire.InternalPage<Wire.ListedApiKey>
  }
  readonly "GET /internal/api-keys/:id": { readonly response: Wire.ApiKey }
  readonly "POST /internal/api-keys": { readonly body: Wire.CreateApiKey; readonly response: Wire.CreatedApiKey }
  readonly "DELETE /internal/api-keys/:id": { readonly response: undefined }
  readonly "GET /internal/webhook": { readonly response: Wire.Webhook }
  readonly "PUT /internal/webhook": { readonly body: Wire.PutWebhook; readonly response: Wire.SetWebhook }
  readonly "DELETE /internal/webhook": { readonly response: undefined }
  readonly "POST /internal/webhook/rotate-secret": {
    readonly body: Wire.RotateSecret
    readonly response: Wire.RotatedSecret
  }
  readonly "POST /internal/webhook/test": { readonly response: Wire.Attempt }
  readonly "POST /internal/webhook/pause": { readonly response: Wire.WebhookStatus }
  readonly "POST /internal/webhook/resume": {
    readonly body: Wire.ResumeWebhook
    readonly response: Wire.ResumedWebhook
  }
  readonly "POST /internal/webhook/verify": {
    readonly body: Wire.VerifyDelivery
    readonly response: Wire.VerifiedDelivery
  }
  readonly "GET /internal/webhook/deliveries": {
    readonly query: DeliveryQuery
    readonly response: Wire.InternalPage<Wire.Delivery>
  }
  readonly "GET /internal/webhook/deliveries/:id": { readonly response: Wire.DeliveryDetail }
  readonly "POST /internal/webhook/deliveries/:id/retry": { readonly response: Wire.Delivery }
  readonly "POST /internal/webhook/replays": { readonly body: Wire.CreateReplay; readonly response: Wire.Replay }
  readonly "GET /internal/webhook/replays": {
    readonly query: ListQuery
    readonly response: Wire.InternalPage<Wire.Replay>
  }
  readonly "GET /internal/webhook/replays/:id": { readonly response: Wire.Replay }
  readonly "DELETE /internal/webhook/replays/:id": { readonly response: undefined }
  readonly "POST /internal/campaigns": { readonly body: Wire.CreateCampaign; readonly response: Wire.Campaign }
  readonly "GET /internal/campaigns": {
    readonly query: ListQuery
    readonly response: Wire.InternalPage<Wire.Campaign>
  }
  readonly "GET /internal/campaigns/:id": { readonly response: Wire.Campaign }
  readonly "PATCH /internal/campaigns/:id": { readonly body: Wire.EditCampaign; readonly response: Wire.Campaign }
  readonly "DELETE /internal/campaigns/:id": { readonly response: undefined }
  readonly "POST /internal/campaigns/:id/check": { readonly response: Wire.Campaign }
  readonly "POST /internal/campaigns/:id/start": { readonly response: Wire.Campaign }
  readonly "POST /internal/campaigns/:id/pause": { readonly response: Wire.Campaign }
  readonly "POST /internal/campaigns/:id/resume": { readonly response: Wire.Campaign }
  readonly "POST /internal/campaigns/:id/cancel": { readonly response: Wire.Campaign }
  readonly "PUT /internal/campaigns/:id/recipients": { readonly query: UploadQuery; readonly response: Wire.Campaign }
  readonly "GET /internal/campaigns/:id/recipients": {
    readonly query: CampaignRowQuery
    readonly response: Wire.InternalPage<Wire.CampaignRow>
  }
  readonly "GET /internal/events": { readonly query: InternalEventQuery; readonly response: Page<Event> }
  readonly "GET /internal/events/:id": { readonly response: Event }
  readonly "POST /internal/messages": { readonly body: SendMessage; readonly response: Wire.SentFromDashboard }
  readonly "GET /internal/messages": {
    readonly query: InternalMessageQuery
    readonly response: Wire.InternalPage<Wire.ListedMessage>
  }
  readonly "GET /internal/messages/:id": { readonly response: Wire.MessageDetail }
  readonly "GET /internal/contacts": {
    readonly query: ContactQuery
    readonly response: Wire.InternalPage<Wire.Contact>
  }
  readonly "GET /internal/contacts/:id": { readonly response: Wire.Contact }
  readonly "GET /internal/contacts/:id/messages": {
    readonly query: ListQuery
    readonly response: Wire.InternalPage<Wire.ConversationMessage>
  }
  readonly "PUT /internal/contacts/:id/opt-out": { readonly response: Wire.Contact }
  readonly "DELETE /internal/contacts/:id/opt-out": { readonly response: Wire.Contact }
  readonly "GET /internal/settings/opt-out": { readonly response: Wire.OptOutSettings }
  readonly "PUT /internal/settings/opt-out": {
    readonly body: Wire.OptOutWords
    readonly response: Wire.OptOutSettings
  }
  readonly "GET /internal/suppressions": { readonly response: Wire.Suppressions }
  readonly "PUT /internal/suppressions": { readonly response: Wire.ImportedOptOuts }
  readonly "GET /internal/phone-numbers": {
    readonly query: ListQuery
    readonly response: Wire.InternalPage<Wire.PhoneNumber>
  }
  readonly "GET /internal/templates": {
    readonly query: TemplateQuery
    readonly response: Wire.InternalPage<Wire.TemplateDetail>
  }
  readonly "POST /internal/templates": { readonly body: Wire.CreateTemplate; readonly response: Wire.TemplateDetail }
  readonly "PATCH /internal/templates/:id": {
    readonly body: Wire.EditTemplate
    readonly response: Wire.TemplateDetail
  }
  readonly "DELETE /internal/templates/:id": { readonly response: undefined }
  readonly "POST /internal/templates/sync": { readonly response: Wire.Synced }
  readonly "GET /internal/requests": { readonly query: RequestQuery; readonly response: Wire.RequestPage }
  readonly "GET /internal/alerts": {
    readonly query: AlertQuery
    readonly response: Wire.InternalPage<Wire.Alert>
  }
  readonly "GET /internal/alerts/settings": { readonly response: Wire.AlertSettings }
  readonly "PUT /internal/alerts/settings": {
    readonly body: Wire.AlertSettings
    readonly response: Wire.AlertSettings
  }
  readonly "GET /internal/audit": {
    readonly query: AuditQuery
    readonly response: Wire.InternalPage<Wire.AuditEntry>
  }
  readonly "GET /internal/usage": { readonly query: UsageQuery; readonly response: Wire.Usage }
}
