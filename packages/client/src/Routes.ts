/**
 * Every endpoint of `/v1` with its request and response. This table types the client's methods. A type test compares it
 * with the API definition, so an endpoint or a field can neither be missing nor differ.
 */
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
  readonly "GET /v1/templates": { readonly query: TemplateQuery; readonly response: Page<Template> }
  readonly "GET /v1/events": { readonly query: EventQuery; readonly response: Page<Event> }
}
