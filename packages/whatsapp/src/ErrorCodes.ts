/**
 * The table of Meta's error codes: the error that the caller gets (contract §2), and the effects on later messages.
 *
 * For a documented code, only the code counts: Meta's HTTP statuses for the same code have changed over the years, and
 * the same codes come in responses to a send and in later reports of its failure. An undocumented code is judged by the
 * rest of the response (contract §13).
 */
import type { SenderBlock } from "@wac/core"
import { Duration } from "effect"

/** The subject of a code, as Meta's documentation groups them. */
export type Class =
  | "auth"
  | "permission"
  | "integrity"
  | "throttle"
  | "server"
  | "config"
  | "param"
  | "recipient"
  | "opt_out"
  | "window"
  | "media"
  | "template"
  | "unknown"

/**
 * The error for the caller. In a response to a send, the first two are final refusals, and with the others nothing was
 * sent.
 */
export type Verdict =
  | {
    readonly code: "invalid_body"
    readonly reason: "undeliverable" | "invalid_field" | "template_params_mismatch"
    readonly param?: string
  }
  | {
    readonly code: "forbidden"
    readonly reason:
      | "outside_service_window"
      | "template_not_found"
      | "template_not_approved"
      | "opted_out"
      | "sender_not_available"
      | "provider_policy"
  }
  | { readonly code: "rate_limited"; readonly reason: "provider" | "pair"; readonly retryAfter: Duration.Duration }
  | {
    readonly code: "server_error"
    readonly reason: "provider_error" | "provider_unavailable"
    readonly retryAfter?: Duration.Duration
  }

/** The effect of an error on later messages. */
export type ErrorEffect =
  /** The customer has opted out of marketing messages. */
  | { readonly _tag: "OptOut" }
  /** This number, or every number of its account, cannot send. */
  | { readonly _tag: "Block"; readonly scope: "number" | "account"; readonly reason: SenderBlock.SenderBlockReason }
  /** The template cannot be sent. */
  | { readonly _tag: "TemplateStatus"; readonly status: "paused" | "disabled" }
  /** The stored templates differ from Meta's. */
  | { readonly _tag: "TemplatesStale" }

/** One of Meta's codes, and what it means for a send. */
export interface ErrorCode {
  readonly class: Class
  /** A description after Meta's own title. */
  readonly title: string
  readonly verdict: Verdict
  /** The meaning in the response to an upload, if that differs. */
  readonly inUpload?: Verdict
  readonly effect?: ErrorEffect
}

/** The wait for throughput, which is counted per second. */
const aSecond = Duration.seconds(1)
/** The wait for the pair limit: one message every 6 seconds. */
const pairInterval = Duration.seconds(6)
/** The wait for a throughput upgrade, which takes up to a minute, and for limits of calls. */
const aMinute = Duration.minutes(1)
/** The wait for a template's sync with the marketing messages API, which takes up to ten minutes. */
const syncing = Duration.minutes(10)
/** The wait for a throttled flow: ten messages an hour. */
const flowInterval = Duration.minutes(6)
/** The wait for limits that upstream lifts after hours or days; the longest that a caller is asked to wait. */
export const longestRetryAfter = Duration.hours(1)

const notSendable: Verdict = { code: "forbidden", reason: "sender_not_available" }
const unreachable: Verdict = { code: "invalid_body", reason: "undeliverable", param: "to" }
const invalid: Verdict = { code: "invalid_body", reason: "invalid_field" }
const mismatch: Verdict = { code: "invalid_body", reason: "template_params_mismatch", param: "template.bodyParams" }
const policy: Verdict = { code: "forbidden", reason: "provider_policy" }
const notApproved: Verdict = { code: "forbidden", reason: "template_not_approved" }
const broken: Verdict = { code: "server_error", reason: "provider_error" }
const unavailable: Verdict = { code: "server_error", reason: "provider_unavailable" }
const tooFast = (retryAfter: Duration.Duration): Verdict => ({ code: "rate_limited", reason: "provider", retryAfter })

const block = (reason: SenderBlock.SenderBlockReason, scope: "number" | "account" = "number"): ErrorEffect => ({
  _tag: "Block",
  scope,
  reason
})
const stale: ErrorEffect = { _tag: "TemplatesStale" }

const auth = (title: string): ErrorCode => ({
  class: "auth",
  title,
  verdict: broken,
  effect: block("credentials")
})
// Meta says of them all that the app or the token lacks a permission, so they meet every message of the number
const permission = (title: string): ErrorCode => ({
  class: "permission",
  title,
  verdict: broken,
  effect: block("credentials")
})
const restricted = (title: string): ErrorCode => ({
  class: "integrity",
  title,
  verdict: notSendable,
  effect: block("restricted", "account")
})
const throttle = (title: string, retryAfter: Duration.Duration): ErrorCode => ({
  class: "throttle",
  title,
  verdict: tooFast(retryAfter)
})
const lowQuality = (title: string): ErrorCode => ({
  class: "throttle",
  title,
  verdict: tooFast(longestRetryAfter),
  effect: block("quality")
})
const server = (title: string, verdict: Verdict = unavailable): ErrorCode => ({ class: "server", title, verdict })
const config = (title: string, effect?: ErrorEffect): ErrorCode => ({
  class: "config",
  title,
  verdict: notSendable,
  ...(effect === undefined ? {} : { effect })
})
const param = (title: string): ErrorCode => ({ class: "param", title, verdict: invalid })
const recipient = (title: string, verdict: Verdict = unreachable): ErrorCode => ({
  class: "recipient",
  title,
  verdict
})
const template = (title: string, verdict: Verdict, effect?: ErrorEffect): ErrorCode => ({
  class: "template",
  title,
  verdict,
  ...(effect === undefined ? {} : { effect })
})
const media = (title: string): ErrorCode => ({ class: "media", title, verdict: broken, inUpload: invalid })

/** Every documented code. */
export const byCode: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [0, auth("the provider does not accept the access token")],
  [102, auth("the provider says that the session has ended")],
  [190, auth("the provider says that the access token has expired")],

  [3, permission("the provider lets this app or token not do that")],
  [10, permission("the provider denied permission, or took it back")],
  [131005, permission("the provider denied access")],

  [368, restricted("the provider has blocked the account for policy violations for a time")],
  [131031, restricted("the provider has locked the account")],
  [130497, {
    class: "integrity",
    title: "the provider lets this business not write to users in this country",
    verdict: policy
  }],

  [4, throttle("the provider takes no more calls of this app for now", aMinute)],
  [17, throttle("the provider takes no more calls of this user for now", aMinute)],
  [341, throttle("the provider takes no more calls of this app for now", aMinute)],
  [613, throttle("the provider takes no more calls for now", aMinute)],
  [80007, throttle("the provider takes no more calls for this account for now", aMinute)],
  [80008, throttle("the provider takes no more calls for this account for now", aMinute)],
  [130429, throttle("the provider takes no more messages from this number for now", aSecond)],
  [131056, {
    class: "throttle",
    title: "the provider takes no more messages from this number to this recipient for now",
    verdict: { code: "rate_limited", reason: "pair", retryAfter: pairInterval }
  }],
  [131048, lowQuality("the provider limits this number, as too many of its messages were blocked or reported")],
  [131064, lowQuality("the provider limits this number because of violations in the classification of templates")],
  [132069, throttle("the provider throttles the template's flow", flowInterval)],
  [133016, throttle("the number was registered or deregistered too often", longestRetryAfter)],

  [1, server("the provider had an unknown error", broken)],
  [2, server("the provider is down for a time")],
  [131000, server("something went wrong at the provider", broken)],
  [131016, server("the provider is not available for a time")],
  [131057, server("the provider has this account in maintenance", { ...unavailable, retryAfter: aMinute })],
  [133004, server("the provider's server is not available for a time")],
  [2494100, server("the provider has this number in maintenance", { ...unavailable, retryAfter: aMinute })],

  [33, config("the provider does not know this phone number, or lets the token not see it", block("registration"))],
  [131045, config("the phone number is not registered rightly with the provider", block("registration"))],
  [133010, config("the phone number is not registered with the provider", block("registration"))],
  [131037, config("the provider must approve the number's display name first", block("display_name"))],
  [131042, config("the account's payment with the provider must be put right first", block("payment", "account"))],
  [133000, config("an earlier deregistration has not ended")],
  [133005, config("the two-step PIN is wrong")],
  [133006, config("the number must be verified again")],
  [133008, config("the two-step PIN was guessed too often")],
  [133009, config("the two-step PIN was guessed too fast")],
  [133015, config("the number was deleted just now; wait before registering it again")],
  [134011, config("the terms of WhatsApp payments must be accepted first")],
  [134103, config("the account may not use the provider's marketing messages")],

  [100, param("a parameter is not valid")],
  [131008, param("a required parameter is missing")],
  [131009, param("the value of a parameter is not valid")],
  [131051, param("the type of message is not supported")],
  [135000, param("a parameter of the request is wrong")],

  [131021, recipient("the recipient is the sender")],
  [131026, recipient("the message cannot be delivered to this recipient")],
  [131030, recipient("the recipient is not on the list of this test number")],
  [131043, recipient("the message could not be delivered before its time to live was over")],
  [131062, recipient("the message cannot be sent to a user id")],
  [130472, recipient("the recipient takes part in an experiment of the provider's", policy)],
  [131049, recipient("the provider holds back marketing that this recipient is likely not to want", policy)],

  [131050, {
    class: "opt_out",
    title: "the recipient has stopped marketing messages",
    verdict: { code: "forbidden", reason: "opted_out" },
    effect: { _tag: "OptOut" }
  }],
  [131047, {
    class: "window",
    title: "more than 24 hours have passed since the customer last wrote",
    verdict: { code: "forbidden", reason: "outside_service_window" }
  }],

  [131052, media("the customer's media could not be downloaded")],
  [131053, media("the media could not be uploaded")],

  [131063, template("marketing templates are switched off", notApproved)],
  [132000, template("the number of values is not that of the template's placeholders", mismatch, stale)],
  [132001, template("there is no such approved template", { code: "forbidden", reason: "template_not_found" }, stale)],
  [132005, template("the template's text becomes too long with these values", mismatch)],
  [132007, template("a value breaks the rules for characters in templates", mismatch)],
  [132008, template("a value has not the form that the template asks for", mismatch, stale)],
  [132012, template("a value has not the form that the template asks for", mismatch, stale)],
  [132015, template("the template is paused", notApproved, { _tag: "TemplateStatus", status: "paused" })],
  [132016, template("the template is disabled", notApproved, { _tag: "TemplateStatus", status: "disabled" })],
  [132018, template("a value breaks the rules for values of templates", mismatch)],
  [132068, template("the template's flow is blocked", notApproved)],
  [134100, template("the provider takes marketing templates only in this way", notApproved)],
  [134101, template("the provider does not have the template ready yet", { ...unavailable, retryAfter: syncing })],
  [134102, template("the template cannot be used for marketing messages now", notApproved)]
])

const anyPermission = permission("the access token lacks a permission of the provider's")

/**
 * The meaning of a code; undefined for an undocumented code. 200 to 299 are all permissions. Code 100 with subcode 33
 * means that the object of the call, for a send the number, does not exist or is not accessible.
 */
export const of = (error: { readonly code: number; readonly subcode?: number | undefined }): ErrorCode | undefined =>
  error.code >= 200 && error.code <= 299
    ? anyPermission
    : byCode.get(error.code === 100 && error.subcode === 33 ? 33 : error.code)

/** The facts by which an undocumented error is judged. */
export interface Signs {
  /** The HTTP status of the response; undefined in a report. */
  readonly status: number | undefined
  /** Whether Meta says that a later call may succeed. */
  readonly isTransient: boolean
}

const refusal: ErrorCode = {
  class: "unknown",
  title: "the provider refused the message for a reason of its own",
  verdict: policy
}
const throttled = throttle("the provider takes no more calls for now", aMinute)
const unauthorized = auth("the provider does not accept the access token")
const passing = server("the provider says that it cannot do this for now")

/**
 * The meaning of an undocumented code, by the HTTP status, and then by whether Meta calls it transient. Only the rest
 * are final refusals.
 */
export const undocumented = ({ isTransient, status }: Signs): ErrorCode => {
  if (status === 429) return throttled
  if (status === 401) return unauthorized
  return isTransient || (status ?? 0) >= 500 ? passing : refusal
}
