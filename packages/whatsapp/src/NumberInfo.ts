/**
 * Meta's state of a number: the number itself, its rating, throughput, messaging limit and state.
 */
import { type PhoneNumber, SenderBlock, type Time } from "@wac/core"
import { Duration, Effect } from "effect"
import * as AccountChanges from "./AccountChanges.ts"
import type { Access, Answer, CloudApi } from "./CloudApi.ts"
import * as Customers from "./Customers.ts"
import * as Payload from "./Payload.ts"
import { lower } from "./PostSource.ts"
import * as SendResponse from "./SendResponse.ts"

/** For all questions together; `Provider.firstNumber` may take 8 s. */
const timeout = Duration.millis(7_500)
const maxBytes = 64 * 1024

/** Versions of the API differ in which of these they know, and refuse a question that has another. */
const questions = [
  "display_phone_number,quality_rating,throughput,status,whatsapp_business_manager_messaging_limit",
  "display_phone_number,quality_rating,throughput,status,messaging_limit_tier",
  "display_phone_number,quality_rating"
]

/** How an answer says that the question was wrong. */
const invalidParameter = 100

/** Asks for it; the answer to the last question that was asked. */
export const ask = Effect.fnUntraced(
  function*(api: CloudApi, access: Access, numberId: string): Effect.fn.Return<Answer> {
    let answer: Answer = { _tag: "NotSent", why: "" }
    for (const fields of questions) {
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

/** Levels of throughput that have a tier of `Limits`. */
const tiers: ReadonlyMap<string, string> = new Map([["standard", "standard"], ["high", "high"]])

/** States in which nothing can be sent. Others have limits that the number's own answers tell of in time. */
const blocks: ReadonlyMap<string, SenderBlock.SenderBlockReason> = new Map([
  ["banned", "restricted"],
  ["deleted", "registration"],
  ["disconnected", "registration"],
  ["migrated", "registration"],
  ["unverified", "registration"]
])

export interface NumberInfo {
  readonly phoneNumber: PhoneNumber.E164 | undefined
  readonly change: PhoneNumber.NumberChange
}

/** The state in a response, at the time `at`. */
export const read = (json: Payload.Json | undefined, at: Time.Instant): NumberInfo => {
  const info = Info(json)
  const { display_phone_number, quality_rating, status = "", throughput } = info
  // null is unlimited
  const { messaging_limit_tier, whatsapp_business_manager_messaging_limit: limit = messaging_limit_tier } = info
  const tier = tiers.get(throughput.level ?? "")
  const reason = blocks.get(status)
  const provider = { code: status.toUpperCase(), message: `the number's status is ${status}` }
  return {
    phoneNumber: display_phone_number,
    change: {
      ...(tier === undefined ? {} : { tier }),
      ...(limit === undefined ? {} : { messagingLimit: limit }),
      ...(quality_rating === undefined ? {} : { quality: quality_rating }),
      ...(reason === undefined ? {} : { block: SenderBlock.of(reason, at, provider) })
    }
  }
}
