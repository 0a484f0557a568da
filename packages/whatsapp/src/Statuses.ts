/**
 * Meta's status reports about our messages (`statuses` of a post).
 */
import { Id, type InboundItem, type Message } from "@wac/core"
import { Predicate, Schema } from "effect"
import * as Classification from "./Classification.ts"
import * as Customers from "./Customers.ts"
import * as ErrorEffects from "./ErrorEffects.ts"
import * as GraphError from "./GraphError.ts"
import * as Payload from "./Payload.ts"
import { type PostSource, skipped, timeOf } from "./PostSource.ts"

const Status = Payload.shape({
  id: Payload.word,
  status: Payload.word,
  timestamp: Payload.instant,
  recipient_id: Customers.phone,
  recipient_user_id: Customers.userId,
  recipient_parent_user_id: Customers.userId,
  recipient_type: Payload.word,
  biz_opaque_callback_data: Payload.word,
  pricing: (json: Payload.Json | undefined) => json,
  errors: Payload.list
})

const played = "played"

const Pricing = Payload.shape({
  billable: Payload.flag,
  pricing_model: Payload.word,
  type: Payload.word,
  category: Payload.word
})

/** Whether a type of price is charged: Meta has deprecated the field `billable`, which reports it. */
const isBilled = (type: string | undefined): boolean | null =>
  type === "regular" ? true : type?.startsWith("free_") === true ? false : null

/**
 * Reads Meta's price; undefined without a category. A price without a type is regular, because older prices have none.
 */
const pricingOf = (json: Payload.Json | undefined): Message.Pricing | undefined => {
  const { billable, category, pricing_model, type } = Pricing(json)
  return category === undefined
    ? undefined
    : {
      billable: billable ?? isBilled(type?.toLowerCase()),
      model: pricing_model ?? "CBP",
      type: type ?? "regular",
      category
    }
}

const reported: ReadonlyMap<string, Message.Report["status"]> = new Map([
  ["sent", "sent"],
  ["delivered", "delivered"],
  ["read", "read"],
  // a voice message that was played was also read
  [played, "read"],
  ["failed", "failed"]
])

const isOurs = Schema.is(Id.MessageId)

/** The error of a failure for which Meta gives no reason. */
const unexplained: Message.MessageError = {
  code: "server_error",
  reason: "provider_error",
  message: "the provider reported that the message failed but gave no reason"
}

/** Reads a status report, and the effects of a failure's reason on later messages. */
export const read = (
  json: Payload.Json,
  customers: Customers.Directory,
  source: PostSource
): ReadonlyArray<InboundItem.InboundItem> => {
  const report = Status(json)
  const status = reported.get(report.status?.toLowerCase() ?? "")
  if (status === undefined) return [skipped("status", report.status)]
  const reference = report.biz_opaque_callback_data
  const ours = isOurs(reference) ? reference : null
  if (ours === null && report.id === undefined) return [skipped("status:unnamed")]
  if (source.numberId === undefined) return [skipped("status:without_number")]
  const at = timeOf(report.timestamp, source)
  const pricing = pricingOf(report.pricing)
  const errors = report.errors.map((error) => GraphError.read(error)).filter(Predicate.isNotUndefined)
  const error = status === "failed" ? errors[0] : undefined
  // messages to groups are not from this service, and a group cannot opt out of marketing
  const recipient = report.recipient_type === "group"
    ? undefined
    : customers.find(report.recipient_id, report.recipient_user_id, report.recipient_parent_user_id)
  const hasOptedOut = report.recipient_type !== "group" && errors.some(ErrorEffects.isOptOut)
  return [
    {
      _tag: "Status",
      providerNumberId: source.numberId,
      reference: ours,
      report: {
        status,
        at,
        providerMessageId: report.id ?? null,
        error: status !== "failed" ? null : error === undefined ? unexplained : Classification.messageErrorOf(error),
        ...(pricing === undefined ? {} : { pricing }),
        ...(report.status?.toLowerCase() === played ? { isPlayed: true } : {})
      },
      ...(recipient === undefined ? {} : { recipient }),
      ...(hasOptedOut ? { preference: "opt_out" as const } : {})
    },
    // the status above carries the opt-out, for the recipient of our message
    ...(status === "failed"
      ? errors.flatMap((error) => ErrorEffects.of(error, { ...source, at, customer: undefined, status: undefined }))
      : [])
  ]
}
