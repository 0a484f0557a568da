/**
 * Every endpoint of `/v1` with its request and response. This table types the client's methods. A type test compares it
 * with the API definition, so an endpoint or a field can neither be missing nor differ.
 */
import type { Campaign, CampaignOutcome, CampaignRow, CreateCampaign, EditCampaign } from "./Campaigns.ts"
import type { Event, EventType } from "./Event.ts"
import type {
  AnyMessage,
  ChooseOptOut,
  MarkRead,
  Media,
  MessageStatus,
  OptOut,
  Page,
  ReadMessage,
  SendMessage,
  SentMessage,
  Template
} from "./Wire.ts"

/** Query parameters of every list. */
export interface ListQuery {
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` of a page: continues after it. */
  readonly cursor?: string
}

/** The filters of the list of messages (contract §3). */
export interface MessageQuery extends ListQuery {
  /** Any name of a customer; finds what was sent to each of their names. */
  readonly to?: string
  readonly status?: MessageStatus
  readonly client_reference?: string
  /** Only messages created at or after this time. */
  readonly since?: string | Date
  /** Only messages created before this time. */
  readonly until?: string | Date
}

/** Which messages of conversations to list (contract §13). */
export interface ConversationQuery extends ListQuery {
  /** Any name of a customer; if omitted, and `direction` is `inbound`, what any customer wrote. */
  readonly contact?: string
  /** Only messages in this direction. */
  readonly direction?: "inbound" | "outbound"
}

/** The filters of the list of templates, which match exactly. */
export interface TemplateQuery extends ListQuery {
  readonly status?: string
  readonly category?: string
  readonly language?: string
  readonly name?: string
}

/** The filter of a campaign's rows. */
export interface CampaignRowQuery extends ListQuery {
  /** Only recipients with this outcome, or the rows that are not sent to. */
  readonly outcome?: CampaignOutcome | "left_out"
  /** Only recipients that failed or were skipped for this reason, and rows with this problem. */
  readonly reason?: string
}

/** What an upload says about its file of recipients. */
export interface RecipientQuery {
  /** The country of the numbers without a country code, in ISO 3166-1 alpha-2. */
  readonly default_country?: string
  /** Whether the file replaces all rows that the campaign has; if not, it adds to them. */
  readonly replace?: boolean
  /** The column of a CSV file with the phone numbers or user ids; defaults to `to`. */
  readonly to_column?: string
}

/** The filters of the list under `/v1`. */
export interface EventQuery extends ListQuery {
  /** Only events recorded at or after this time. */
  readonly since?: string | Date
  readonly type?: EventType
  /** `oldest` first by default. */
  readonly order?: "oldest" | "newest"
}

/** The endpoints by method and path. */
export interface Routes {
  readonly "POST /v1/messages": { readonly body: SendMessage; readonly response: SentMessage }
  readonly "POST /v1/messages/:id/read": { readonly body: MarkRead; readonly response: ReadMessage }
  readonly "GET /v1/messages": {
    readonly query: MessageQuery & ConversationQuery
    readonly response: Page<AnyMessage>
  }
  readonly "GET /v1/messages/:id": { readonly response: AnyMessage }
  readonly "POST /v1/media": { readonly response: Media }
  readonly "GET /v1/media/:id": { readonly response: undefined }
  readonly "DELETE /v1/media/:id": { readonly response: undefined }
  readonly "PUT /v1/contacts/:name/opt-out": { readonly body: ChooseOptOut; readonly response: OptOut }
  readonly "DELETE /v1/contacts/:name/opt-out": { readonly body: ChooseOptOut; readonly response: OptOut }
  readonly "POST /v1/campaigns": { readonly body: CreateCampaign; readonly response: Campaign }
  readonly "GET /v1/campaigns": { readonly query: ListQuery; readonly response: Page<Campaign> }
  readonly "GET /v1/campaigns/:id": { readonly response: Campaign }
  readonly "PATCH /v1/campaigns/:id": { readonly body: EditCampaign; readonly response: Campaign }
  readonly "DELETE /v1/campaigns/:id": { readonly response: undefined }
  readonly "PUT /v1/campaigns/:id/recipients": { readonly query: RecipientQuery; readonly response: Campaign }
  readonly "POST /v1/campaigns/:id/check": { readonly response: Campaign }
  readonly "POST /v1/campaigns/:id/start": { readonly response: Campaign }
  readonly "POST /v1/campaigns/:id/pause": { readonly response: Campaign }
  readonly "POST /v1/campaigns/:id/resume": { readonly response: Campaign }
  readonly "POST /v1/campaigns/:id/cancel": { readonly response: Campaign }
  readonly "GET /v1/campaigns/:id/recipients": {
    readonly query: CampaignRowQuery
    readonly response: Page<CampaignRow>
  }
  readonly "GET /v1/templates": { readonly query: TemplateQuery; readonly response: Page<Template> }
  readonly "GET /v1/events": { readonly query: EventQuery; readonly response: Page<Event> }
}
