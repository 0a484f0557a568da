/**
 * Requests and reads Meta's state of a number: its digits, quality, throughput, messaging limit and status.
 */
import { type E164, type PhoneNumber, SenderBlock, type Time } from "@wac/core"
import { Duration, Effect } from "effect"
import * as AccountChanges from "./AccountChanges.ts"
import type { Access, Answer, CloudApi } from "./CloudApi.ts"
import * as Customers from "./Customers.ts"
import * as Payload from "./Payload.ts"
import { lower } from "./PostSource.ts"
import * as SendResponse from "./SendResponse.ts"

/** The timeout for all requests together; `Provider.firstNumber` may take 8 s. */
const timeout = Duration.millis(7_500)
const maxBytes = 64 * 1024

/**
 * The fields to request, tried in turn: versions of the API know different fields, and refuse a request with others.
 */
const fieldSets = [
  "display_phone_number,quality_rating,throughput,status,whatsapp_business_manager_messaging_limit",
  "display_phone_number,quality_rating,throughput,status,messaging_limit_tier",
  "display_phone_number,quality_rating"
]

/** Meta's error code for a request with an unknown field. */
const invalidParameter = 100

/** Requests the state of a number. Returns the response to the last request that was made. */
export const ask = Effect.fnUntraced(
  function*(api: CloudApi, access: Access, numberId: string): Effect.fn.Return<Answer> {
    let answer: Answer = { _tag: "NotSent", why: "" }
    for (const fields of fieldSets) {
      answer = yield* api.call(access, { method: "GET", path: [numberId], query: { fields }, timeout, maxBytes })
      const error = answer._tag === "Answered" ? SendResponse.errorOf(answer.json, []) : undefined
      if (error?.code !== invalidParameter || error.subcode !== undefined) break
    }
    return answer
  },
  Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.succeed<Answer>({ _tag: "Lost", why: "timeout" }) })
)

const Info = Payload.shape({
  display_phone_number: Customers.phone,
  quality_rating: lower,
  throughput: Payload.shape({ level: lower }),
  whatsapp_business_manager_messaging_limit: AccountChanges.messagingLimit,
  messaging_limit_tier: AccountChanges.messagingLimit,
  status: lower
})

/** The tiers of `Limits` by Meta's levels of throughput. */
const tiers: ReadonlyMap<string, string> = new Map([["standard", "standard"], ["high", "high"]])

/** The statuses in which a number cannot send. The limits of other statuses show in the responses to sends. */
const blocks: ReadonlyMap<string, SenderBlock.SenderBlockReason> = new Map([
  ["banned", "restricted"],
  ["deleted", "registration"],
  ["disconnected", "registration"],
  ["migrated", "registration"],
  ["unverified", "registration"]
])

export interface NumberInfo {
  readonly phoneNumber: E164.E164 | undefined
  readonly change: PhoneNumber.NumberChange
}

/**
 * Reads the state in a response that came at the time `at`. A connected number has no block `held` for its status any
 * more: no webhook reports this, and a number that nobody sends from has no accepted message either.
 */
export const read = (
  json: Payload.Json | undefined,
  at: Time.Instant,
  held: SenderBlock.SenderBlock | null = null
): NumberInfo => {
  const info = Info(json)
  const { display_phone_number, quality_rating, status = "", throughput } = info
  // null is unlimited
  const { messaging_limit_tier, whatsapp_business_manager_messaging_limit: limit = messaging_limit_tier } = info
  const tier = tiers.get(throughput.level ?? "")
  const reason = blocks.get(status)
  const isOver = status === "connected" && blocks.has(held?.provider?.code.toLowerCase() ?? "")
  const provider = { code: status.toUpperCase(), message: `the number's status is ${status}` }
  return {
    phoneNumber: display_phone_number,
    change: {
      ...(tier === undefined ? {} : { tier }),
      ...(limit === undefined ? {} : { messagingLimit: limit }),
      ...(quality_rating === undefined ? {} : { quality: quality_rating }),
      ...(isOver && held !== null ? { lifts: held.reason } : {}),
      ...(reason === undefined ? {} : { block: SenderBlock.of(reason, at, provider) })
    }
  }
}
