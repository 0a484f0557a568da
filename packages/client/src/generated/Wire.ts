/** The requests and responses of `/v1`. Written from the API definition; do not edit. */
import type { Json } from "../Json.ts"
import type { Page } from "../Page.ts"

export type SendMessage =
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly type: "template"
    readonly template: {
      readonly name: string
      readonly language: string
      readonly bodyParams?:
        | ReadonlyArray<
          | string
          | {
            readonly currency: {
              readonly fallback_value: string
              readonly code: string
              readonly amount_1000: number
            }
          }
          | {
            readonly date_time: {
              readonly fallback_value: string
              readonly calendar?: string
              readonly day_of_week?: number
              readonly year?: number
              readonly month?: number
              readonly day_of_month?: number
              readonly hour?: number
              readonly minute?: number
            }
          }>
        | {
          readonly [field: string]:
            | string
            | {
              readonly currency: {
                readonly fallback_value: string
                readonly code: string
                readonly amount_1000: number
              }
            }
            | {
              readonly date_time: {
                readonly fallback_value: string
                readonly calendar?: string
                readonly day_of_week?: number
                readonly year?: number
                readonly month?: number
                readonly day_of_month?: number
                readonly hour?: number
                readonly minute?: number
              }
            }
        }
      readonly header?: {
        readonly text?: string
        readonly image?: {
          readonly media?: string
          readonly link?: string
        }
        readonly video?: {
          readonly media?: string
          readonly link?: string
        }
        readonly document?: {
          readonly media?: string
          readonly link?: string
          readonly filename?: string
        }
        readonly location?: {
          readonly latitude: number
          readonly longitude: number
          readonly name?: string
          readonly address?: string
        }
      }
      readonly buttons?: ReadonlyArray<{
        readonly index: number
        readonly urlSuffix?: string
        readonly payload?: string
        readonly code?: string
        readonly flowToken?: string
        readonly flowData?: {
          readonly [field: string]: Json
        }
        readonly thumbnailProductRetailerId?: string
      }>
      readonly cards?: ReadonlyArray<{
        readonly header?: {
          readonly text?: string
          readonly image?: {
            readonly media?: string
            readonly link?: string
          }
          readonly video?: {
            readonly media?: string
            readonly link?: string
          }
          readonly document?: {
            readonly media?: string
            readonly link?: string
            readonly filename?: string
          }
          readonly location?: {
            readonly latitude: number
            readonly longitude: number
            readonly name?: string
            readonly address?: string
          }
        }
        readonly bodyParams?:
          | ReadonlyArray<
            | string
            | {
              readonly currency: {
                readonly fallback_value: string
                readonly code: string
                readonly amount_1000: number
              }
            }
            | {
              readonly date_time: {
                readonly fallback_value: string
                readonly calendar?: string
                readonly day_of_week?: number
                readonly year?: number
                readonly month?: number
                readonly day_of_month?: number
                readonly hour?: number
                readonly minute?: number
              }
            }>
          | {
            readonly [field: string]:
              | string
              | {
                readonly currency: {
                  readonly fallback_value: string
                  readonly code: string
                  readonly amount_1000: number
                }
              }
              | {
                readonly date_time: {
                  readonly fallback_value: string
                  readonly calendar?: string
                  readonly day_of_week?: number
                  readonly year?: number
                  readonly month?: number
                  readonly day_of_month?: number
                  readonly hour?: number
                  readonly minute?: number
                }
              }
          }
        readonly buttons?: ReadonlyArray<{
          readonly index: number
          readonly urlSuffix?: string
          readonly payload?: string
          readonly code?: string
          readonly flowToken?: string
          readonly flowData?: {
            readonly [field: string]: Json
          }
          readonly thumbnailProductRetailerId?: string
        }>
      }>
      readonly limitedTimeOffer?: {
        readonly expiresAt: string
      }
    }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "text"
    readonly text: {
      readonly body: string
      readonly preview_url?: boolean
    }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "image"
    readonly image: {
      readonly media?: string
      readonly link?: string
      readonly caption?: string
    }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "audio"
    readonly audio: {
      readonly media?: string
      readonly link?: string
      readonly voice?: boolean
    }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "video"
    readonly video: {
      readonly media?: string
      readonly link?: string
      readonly caption?: string
    }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "document"
    readonly document: {
      readonly media?: string
      readonly link?: string
      readonly caption?: string
      readonly filename?: string
    }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "sticker"
    readonly sticker: {
      readonly media?: string
      readonly link?: string
    }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "location"
    readonly location: {
      readonly latitude: number
      readonly longitude: number
      readonly name?: string
      readonly address?: string
    }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "contacts"
    readonly contacts: ReadonlyArray<{
      readonly name: {
        readonly formatted_name: string
        readonly first_name?: string
        readonly last_name?: string
        readonly middle_name?: string
        readonly suffix?: string
        readonly prefix?: string
      }
      readonly birthday?: string
      readonly addresses?: ReadonlyArray<{
        readonly street?: string
        readonly city?: string
        readonly state?: string
        readonly zip?: string
        readonly country?: string
        readonly country_code?: string
        readonly type?: string
      }>
      readonly emails?: ReadonlyArray<{
        readonly email?: string
        readonly type?: string
      }>
      readonly org?: {
        readonly company?: string
        readonly department?: string
        readonly title?: string
      }
      readonly phones?: ReadonlyArray<{
        readonly phone?: string
        readonly wa_id?: string
        readonly type?: string
      }>
      readonly urls?: ReadonlyArray<{
        readonly url?: string
        readonly type?: string
      }>
    }>
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly context?: {
      readonly message_id: string
    }
    readonly type: "interactive"
    readonly interactive:
      | {
        readonly type: "button"
        readonly header?:
          | {
            readonly type: "text"
            readonly text: string
          }
          | {
            readonly type: "image"
            readonly image: {
              readonly media?: string
              readonly link?: string
            }
          }
          | {
            readonly type: "video"
            readonly video: {
              readonly media?: string
              readonly link?: string
            }
          }
          | {
            readonly type: "document"
            readonly document: {
              readonly media?: string
              readonly link?: string
              readonly filename?: string
            }
          }
        readonly body: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly buttons: ReadonlyArray<{
            readonly type: "reply"
            readonly reply: {
              readonly id: string
              readonly title: string
            }
          }>
        }
      }
      | {
        readonly type: "list"
        readonly header?: {
          readonly type: "text"
          readonly text: string
        }
        readonly body: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly button: string
          readonly sections: ReadonlyArray<{
            readonly title?: string
            readonly rows: ReadonlyArray<{
              readonly id: string
              readonly title: string
              readonly description?: string
            }>
          }>
        }
      }
      | {
        readonly type: "cta_url"
        readonly header?:
          | {
            readonly type: "text"
            readonly text: string
          }
          | {
            readonly type: "image"
            readonly image: {
              readonly media?: string
              readonly link?: string
            }
          }
          | {
            readonly type: "video"
            readonly video: {
              readonly media?: string
              readonly link?: string
            }
          }
          | {
            readonly type: "document"
            readonly document: {
              readonly media?: string
              readonly link?: string
              readonly filename?: string
            }
          }
        readonly body: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly name: "cta_url"
          readonly parameters: {
            readonly display_text: string
            readonly url: string
          }
        }
      }
      | {
        readonly type: "flow"
        readonly header?:
          | {
            readonly type: "text"
            readonly text: string
          }
          | {
            readonly type: "image"
            readonly image: {
              readonly media?: string
              readonly link?: string
            }
          }
          | {
            readonly type: "video"
            readonly video: {
              readonly media?: string
              readonly link?: string
            }
          }
          | {
            readonly type: "document"
            readonly document: {
              readonly media?: string
              readonly link?: string
              readonly filename?: string
            }
          }
        readonly body: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly name: "flow"
          readonly parameters: {
            readonly flow_message_version: "3"
            readonly flow_id?: string
            readonly flow_name?: string
            readonly flow_token?: string
            readonly flow_cta: string
            readonly mode?: "draft" | "published"
            readonly flow_action?: "navigate" | "data_exchange"
            readonly flow_action_payload?: {
              readonly screen: string
              readonly data?: {
                readonly [field: string]: Json
              }
            }
          }
        }
      }
      | {
        readonly type: "location_request_message"
        readonly body: {
          readonly text: string
        }
        readonly action: {
          readonly name: "send_location"
        }
      }
      | {
        readonly type: "request_contact_info"
        readonly body: {
          readonly text: string
        }
        readonly action: {
          readonly name: "request_contact_info"
        }
      }
      | {
        readonly type: "product"
        readonly body?: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly catalog_id: string
          readonly product_retailer_id: string
        }
      }
      | {
        readonly type: "product_list"
        readonly header: {
          readonly type: "text"
          readonly text: string
        }
        readonly body: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly catalog_id: string
          readonly sections: ReadonlyArray<{
            readonly title?: string
            readonly product_items: ReadonlyArray<{
              readonly product_retailer_id: string
            }>
          }>
        }
      }
      | {
        readonly type: "catalog_message"
        readonly body: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly name: "catalog_message"
          readonly parameters?: {
            readonly thumbnail_product_retailer_id?: string
          }
        }
      }
      | {
        readonly type: "carousel"
        readonly body: {
          readonly text: string
        }
        readonly action: {
          readonly cards: ReadonlyArray<
            | {
              readonly card_index: number
              readonly type: "cta_url"
              readonly header:
                | {
                  readonly type: "image"
                  readonly image: {
                    readonly media?: string
                    readonly link?: string
                  }
                }
                | {
                  readonly type: "video"
                  readonly video: {
                    readonly media?: string
                    readonly link?: string
                  }
                }
              readonly body?: {
                readonly text: string
              }
              readonly action: {
                readonly name?: "cta_url"
                readonly parameters?: {
                  readonly display_text: string
                  readonly url: string
                }
                readonly buttons?: ReadonlyArray<{
                  readonly type: "quick_reply"
                  readonly quick_reply: {
                    readonly id: string
                    readonly title: string
                  }
                }>
              }
            }
            | {
              readonly card_index: number
              readonly type: "product"
              readonly action: {
                readonly product_retailer_id: string
                readonly catalog_id: string
              }
            }>
        }
      }
      | {
        readonly type: "order_details"
        readonly header?:
          | {
            readonly type: "text"
            readonly text: string
          }
          | {
            readonly type: "image"
            readonly image: {
              readonly media?: string
              readonly link?: string
            }
          }
          | {
            readonly type: "video"
            readonly video: {
              readonly media?: string
              readonly link?: string
            }
          }
          | {
            readonly type: "document"
            readonly document: {
              readonly media?: string
              readonly link?: string
              readonly filename?: string
            }
          }
        readonly body: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly name: "review_and_pay"
          readonly parameters: {
            readonly [field: string]: Json
          }
        }
      }
      | {
        readonly type: "order_status"
        readonly body: {
          readonly text: string
        }
        readonly footer?: {
          readonly text: string
        }
        readonly action: {
          readonly name: "review_order"
          readonly parameters: {
            readonly [field: string]: Json
          }
        }
      }
  }
  | {
    readonly to: string
    readonly from?: string
    readonly client_reference?: string
    readonly type: "reaction"
    readonly reaction: {
      readonly message_id: string
      readonly emoji: string
    }
  }

export interface SentMessage {
  readonly status: "sent"
  readonly message_id: string
  readonly provider_message_id: string
  readonly tenant_id: string
  readonly api_key_id: string
}

export interface MarkRead {
  readonly typing?: boolean
}

export interface ReadMessage {
  readonly message_id: string
  readonly status: "read"
}

/** In a conversation, a message that was sent has its content under the name of its type. */
export interface Message {
  readonly direction: "outbound"
  readonly status: "queued" | "sending" | "unknown" | "sent" | "failed" | "delivered" | "read" | "skipped"
  readonly message_id: string
  readonly provider_message_id: string | null
  readonly tenant_id: string
  /** null if a person sent it from the dashboard. */
  readonly api_key_id: string | null
  readonly to: string
  readonly from: string
  readonly type:
    | "template"
    | "text"
    | "image"
    | "audio"
    | "video"
    | "document"
    | "sticker"
    | "location"
    | "contacts"
    | "interactive"
    | "reaction"
  readonly created_at: string
  readonly sent_at: string | null
  readonly delivered_at: string | null
  readonly read_at: string | null
  readonly failed_at: string | null
  readonly error: {
    readonly code: string
    readonly reason?: string
    readonly message: string
    readonly provider?: ProviderDetail
  } | null
  readonly client_reference: string | null
  readonly pricing: Pricing | null
  readonly played_at: string | null
  readonly context?: {
    readonly message_id: string
  }
  readonly template?: Json
  readonly text?: Json
  readonly image?: Json
  readonly audio?: Json
  readonly video?: Json
  readonly document?: Json
  readonly sticker?: Json
  readonly location?: Json
  readonly contacts?: Json
  readonly interactive?: Json
  readonly reaction?: Json
}

/** The upstream provider's own error code and message. */
export interface ProviderDetail {
  readonly code: string
  readonly message: string
}

/** What the provider reported about the price. */
export interface Pricing {
  /** null if the provider says nothing of it. */
  readonly billable: boolean | null
  readonly model: string
  readonly type: string
  readonly category: string
}

/** Its content is under the name of its type, as in the event message.received. */
export interface InboundMessage {
  readonly direction: "inbound"
  readonly status: "received"
  readonly message_id: string
  readonly provider_message_id: string
  readonly tenant_id: string
  /** The customer's number, or user id if the number is not known. */
  readonly from: string
  readonly from_user_id: string | null
  readonly to: string
  readonly type: string
  /** What it quotes or answers; null if nothing. */
  readonly context: Json
  readonly received_at: string
  readonly [field: string]: unknown
}

export interface Media {
  readonly media_id: string
  /** As detected from the bytes. */
  readonly mime_type: string
  /** In bytes. */
  readonly size: number
  /** Of the bytes, in hexadecimal. */
  readonly sha256: string
  readonly filename: string | null
  /** When it is deleted unless it is used before. */
  readonly expires_at: string
}

export interface Template {
  readonly id: string
  readonly name: string
  readonly language: string
  readonly category: string
  readonly status: string
  readonly parameter_format: "positional" | "named"
  readonly components: ReadonlyArray<Json>
  readonly variables: ReadonlyArray<string>
  readonly quality: string | null
  readonly rejection_reason: string | null
  readonly provider_template_id: string
  readonly synced_at: string
}

export interface ChooseOptOut {
  /** The id of a phone number of the workspace; if omitted, all of its numbers. */
  readonly phone_number_id?: string
}

export interface OptOut {
  /** The name as it was given. */
  readonly contact: string
  readonly opted_out: boolean
  readonly opted_out_at: string | null
  /** Who opted the customer out; `null` if nobody did. */
  readonly source: OptOutSource | null
}

/** Who opted a customer out. */
export type OptOutSource = "customer" | "provider" | "api" | "person" | "import"

export interface Event {
  readonly id: string
  readonly object: "event"
  readonly type:
    | "message.sent"
    | "message.delivered"
    | "message.read"
    | "message.failed"
    | "message.received"
    | "message.echoed"
    | "campaign.completed"
    | "webhook.test"
  readonly created_at: string
  readonly tenant_id: string
  readonly data: {
    readonly [field: string]: Json
  }
}

/** The filters of the list of templates, which match exactly. */
export interface TemplateQuery {
  readonly status?: string
  readonly category?: string
  readonly language?: string
  readonly name?: string
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}

/** The endpoints by method and path. */
export interface Routes {
  readonly "POST /v1/messages": { readonly body: SendMessage; readonly response: SentMessage }
  readonly "POST /v1/messages/:id/read": { readonly body: MarkRead; readonly response: ReadMessage }
  readonly "GET /v1/messages": {
    readonly query: {
  readonly status?: "queued" | "sending" | "unknown" | "sent" | "failed" | "delivered" | "read" | "skipped"
  /** Any name of a customer; finds what was sent to each of their names. */
  readonly to?: string
  /** Only messages created at or after this time. */
  readonly since?: string | Date
  /** Only messages created before this time. */
  readonly until?: string | Date
  /** Exactly as given in the send. */
  readonly client_reference?: string
  /** Any name of a customer: lists the conversation with them, in both directions. */
  readonly contact?: string
  /** Only messages in this direction; without `contact`, `inbound` lists what any customer wrote. */
  readonly direction?: "inbound" | "outbound"
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
}
    readonly response: Page<Message | InboundMessage>
  }
  readonly "GET /v1/messages/:id": { readonly response: Message | InboundMessage }
  readonly "POST /v1/media": { readonly response: Media }
  readonly "GET /v1/media/:id": { readonly response: string }
  readonly "DELETE /v1/media/:id": { readonly response: undefined }
  readonly "GET /v1/templates": { readonly query: TemplateQuery; readonly response: Page<Template> }
  readonly "PUT /v1/contacts/:name/opt-out": { readonly body: ChooseOptOut; readonly response: OptOut }
  readonly "DELETE /v1/contacts/:name/opt-out": { readonly body: ChooseOptOut; readonly response: OptOut }
  readonly "GET /v1/events": {
    readonly query: {
  /** Only events recorded at or after this time. */
  readonly since?: string | Date
  readonly type?:
    | "message.sent"
    | "message.delivered"
    | "message.read"
    | "message.failed"
    | "message.received"
    | "message.echoed"
    | "campaign.completed"
    | "webhook.test"
  /** Items per page, 1 to 100; 25 by default. */
  readonly limit?: number
  /** `next_cursor` (`nextCursor`) of a page: continues after it. */
  readonly cursor?: string
  /** Which events come first; `oldest` if omitted. */
  readonly order?: "oldest" | "newest"
}
    readonly response: Page<Event>
  }
}
