/**
 * The errors of the simulated Cloud API: each documented code with its HTTP status and its words, in the shapes of a
 * response and of a webhook.
 */
import type { Schema } from "effect"

interface Row {
  readonly http: number
  readonly title: string
  readonly details?: string
}

/**
 * As documented in December 2025; codes without a documented HTTP status have 400. Sources:
 * developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes; of 17, 102 and 341
 * developers.facebook.com/docs/graph-api/guides/error-handling; of 80008
 * developers.facebook.com/docs/graph-api/reference/whats-app-business-account/message_templates; of 131043 the older
 * table in github.com/MarcosNicolau/whatsapp-business-sdk; of 132018 github.com/netflie/whatsapp-cloud-api/issues/201
 * and support.beeoneten.com (132018); of 134100 to 134103
 * developers.facebook.com/docs/whatsapp/marketing-messages-lite-api/support.
 */
const table: { readonly [code: number]: Row } = {
  0: { http: 401, title: "AuthException", details: "We were unable to authenticate the app user." },
  1: { http: 400, title: "API Unknown", details: "Invalid request or possible server error." },
  2: { http: 503, title: "API Service", details: "Temporary due to downtime or due to being overloaded." },
  3: { http: 500, title: "API Method", details: "Capability or permissions issue." },
  4: { http: 400, title: "API Too Many Calls", details: "The app has reached its API call rate limit." },
  10: { http: 403, title: "Permission Denied", details: "Permission is either not granted or has been removed." },
  17: { http: 400, title: "User request limit reached", details: "The user has reached their API call rate limit." },
  33: { http: 400, title: "Parameter value is not valid", details: "The business phone number has been deleted." },
  100: { http: 400, title: "Invalid parameter" },
  102: { http: 401, title: "API Session", details: "The session is not valid any more." },
  190: { http: 401, title: "Access token has expired", details: "Your access token has expired." },
  200: { http: 403, title: "API Permission", details: "Permission is either not granted or has been removed." },
  341: { http: 400, title: "Application request limit reached" },
  368: { http: 403, title: "Temporarily blocked for policies violations" },
  613: { http: 429, title: "Calls to this api have exceeded the rate limit." },
  80007: {
    http: 400,
    title: "Rate limit issues",
    details: "The WhatsApp Business Account has reached its rate limit."
  },
  80008: {
    http: 400,
    title: "There have been too many calls to this WhatsApp Business account. Wait a bit and try again."
  },
  130429: { http: 400, title: "Rate limit hit", details: "Cloud API message throughput has been reached." },
  130472: {
    http: 400,
    title: "User's number is part of an experiment",
    details: "Failed to send message because this user's phone number is part of an experiment"
  },
  130497: { http: 403, title: "Business account is restricted from messaging users in this country." },
  131000: { http: 500, title: "Something went wrong", details: "Message failed to send due to an unknown error." },
  131005: { http: 403, title: "Access denied", details: "Permission is either not granted or has been removed." },
  131008: { http: 400, title: "Required parameter is missing" },
  131009: { http: 400, title: "Parameter value is not valid" },
  131016: { http: 500, title: "Service unavailable", details: "A service is temporarily unavailable." },
  131021: { http: 400, title: "Recipient cannot be sender", details: "Sender and recipient phone number is the same." },
  131026: { http: 400, title: "Message undeliverable", details: "Message Undeliverable." },
  131030: {
    http: 400,
    title: "Recipient phone number not in allowed list",
    details: "Recipient phone number not in allowed list: Add recipient phone number to recipient list and try again."
  },
  131031: { http: 403, title: "Business Account locked" },
  131037: { http: 400, title: "WhatsApp provided number needs display name approval before message can be sent." },
  131042: {
    http: 400,
    title: "Business eligibility payment issue",
    details: "Message failed to send because there were one or more errors related to your payment method."
  },
  131043: {
    http: 400,
    title: "Message expired",
    details: "Message was not sent during its Time To Live (TTL) duration."
  },
  131045: { http: 500, title: "Incorrect certificate", details: "Message failed to send due to a registration error." },
  131047: {
    http: 400,
    title: "Re-engagement message",
    details:
      "Message failed to send because more than 24 hours have passed since the customer last replied to this number."
  },
  131048: {
    http: 400,
    title: "Spam rate limit hit",
    details: "Message failed to send because there are restrictions on how many messages can be sent from this number."
  },
  131049: {
    http: 400,
    title: "This message was not delivered to maintain healthy ecosystem engagement.",
    details: "In order to maintain a healthy ecosystem engagement, the message failed to be delivered."
  },
  131050: {
    http: 400,
    title: "User has stopped receiving marketing messages",
    details: "Unable to deliver the message. This recipient has chosen to stop receiving marketing messages."
  },
  131051: { http: 400, title: "Unsupported message type", details: "Message type is currently not supported." },
  131052: { http: 400, title: "Media download error" },
  131053: { http: 400, title: "Media upload error" },
  131056: {
    http: 400,
    title: "(Business Account, Consumer Account) pair rate limit hit",
    details: "Message failed to send because there were too many messages sent to this user in a short period of time."
  },
  131057: { http: 500, title: "Account in maintenance mode", details: "Business Account is in maintenance mode" },
  131062: { http: 400, title: "Business-scoped user ID recipients are not supported for this message" },
  131063: { http: 400, title: "Marketing templates are disabled on Cloud API" },
  131064: { http: 400, title: "Messaging limited due to template classification violations" },
  132000: { http: 400, title: "Number of parameters does not match the expected number of params" },
  132001: { http: 404, title: "Template name does not exist in the translation" },
  132005: { http: 400, title: "Translated text too long" },
  132007: { http: 400, title: "Template format character policy violated" },
  132008: { http: 400, title: "Template parameter format mismatch" },
  132012: { http: 400, title: "Parameter format does not match format in the created template" },
  132015: {
    http: 400,
    title: "Template is paused",
    details: "Template is paused due to low quality so it cannot be sent in a template message."
  },
  132016: {
    http: 400,
    title: "Template is disabled",
    details: "Template has been paused too many times due to low quality and is now permanently disabled."
  },
  132018: { http: 400, title: "There's an issue with the parameters in your template" },
  132068: { http: 400, title: "Flow is blocked", details: "Flow is in blocked state." },
  132069: { http: 400, title: "Flow is throttled", details: "Flow is in throttled state." },
  133000: { http: 500, title: "Incomplete Deregistration" },
  133004: { http: 503, title: "Server Temporarily Unavailable" },
  133005: { http: 400, title: "Two step verification PIN Mismatch" },
  133006: { http: 400, title: "Phone number re-verification needed" },
  133008: { http: 400, title: "Too Many two step verification PIN Guesses" },
  133009: { http: 400, title: "Two step verification PIN Guessed Too Fast" },
  133010: { http: 400, title: "The account is not registered", details: "Phone number not registered on WhatsApp." },
  133015: { http: 400, title: "Please wait a few minutes before attempting to register this phone number" },
  133016: { http: 400, title: "Account register deregister rate limit exceeded" },
  134011: { http: 400, title: "WhatsApp Payments terms of service has not been accepted" },
  134100: { http: 400, title: "Only marketing messages supported" },
  134101: { http: 400, title: "Template is syncing", details: "Wait up to 10 minutes before sending." },
  134102: { http: 400, title: "Template unavailable for use" },
  134103: { http: 400, title: "Marketing Messages API is not available for this account" },
  135000: { http: 400, title: "Generic user error", details: "Message failed to send because of an unknown error." },
  2494100: { http: 400, title: "Account is in maintenance mode" }
}

/** Why a call is refused, or a message failed. Omitted fields have the values of the table. */
export interface Problem {
  readonly code: number
  readonly details?: string | undefined
  readonly http?: number | undefined
  readonly title?: string | undefined
  /**
   * The `is_transient` of the response: whether a later call may succeed. If omitted, the response has no such field.
   */
  readonly transient?: boolean | undefined
}

/** A refused call: the problem, or a body of another shape. */
export interface Refusal {
  readonly http: number
  readonly body: (traceId: string) => Schema.Json
}

const titleOf = (problem: Problem): string => problem.title ?? table[problem.code]?.title ?? "Unknown error"

const detailsOf = (problem: Problem): string => problem.details ?? table[problem.code]?.details ?? titleOf(problem)

/** The refusal of a call for this problem. */
export const refusal = (problem: Problem): Refusal => ({
  http: problem.http ?? table[problem.code]?.http ?? 400,
  body: (fbtrace_id) => ({
    error: {
      message: `(#${problem.code}) ${titleOf(problem)}`,
      type: "OAuthException",
      code: problem.code,
      ...(problem.transient === undefined ? {} : { is_transient: problem.transient }),
      error_data: { messaging_product: "whatsapp", details: detailsOf(problem) },
      fbtrace_id
    }
  })
})

/** The response to an invalid token: a Graph error, without `error_data`. */
export const badToken = (message: string): Refusal => ({
  http: 401,
  body: (fbtrace_id) => ({ error: { message, type: "OAuthException", code: 190, fbtrace_id } })
})

/** The response to a call on an object that is not the caller's: a Graph error with a subcode, as seen in practice. */
export const noObject = (method: string, id: string): Refusal => ({
  http: 400,
  body: (fbtrace_id) => ({
    error: {
      message:
        `Unsupported ${method.toLowerCase()} request. Object with ID '${id}' does not exist, cannot be loaded due to missing permissions, or does not support this operation. Please read the Graph API documentation at https://developers.facebook.com/docs/graph-api`,
      type: "GraphMethodException",
      code: 100,
      error_subcode: 33,
      fbtrace_id
    }
  })
})

/** The bare Graph error for a missing or invalid parameter: no `error_data`. */
export const badParameter = (message: string): Refusal => ({
  http: 400,
  body: (fbtrace_id) => ({ error: { message: `(#100) ${message}`, type: "OAuthException", code: 100, fbtrace_id } })
})

/** The error for a template: a Graph error with a subcode and words for people. */
export const badTemplate = (subcode: number, title: string, message: string): Refusal => ({
  http: 400,
  body: (fbtrace_id) => ({
    error: {
      message: "Invalid parameter",
      type: "OAuthException",
      code: 100,
      error_subcode: subcode,
      is_transient: false,
      error_user_title: title,
      error_user_msg: message,
      fbtrace_id
    }
  })
})

/** The problem in the shape of a webhook. */
export const inWebhook = (problem: Problem): Schema.JsonObject => ({
  code: problem.code,
  title: titleOf(problem),
  message: titleOf(problem),
  error_data: { details: detailsOf(problem) },
  href: "https://developers.facebook.com/docs/whatsapp/cloud-api/support/error-codes/"
})
