/** Settings of the simulated Cloud API that can change while it runs: delays, random behaviour and limits. */
import { Schema, Struct } from "effect"
import * as Bill from "../messages/CloudApiBill.ts"

const Millis = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Rate = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** Durations are in milliseconds, rates between 0 and 1. */
export const Settings = Schema.Struct({
  /** From the acceptance of a message to each status. Null: the status is never reported. */
  sentAfter: Schema.NullOr(Millis),
  deliveredAfter: Schema.NullOr(Millis),
  readAfter: Schema.NullOr(Millis),
  /** How long a template message is held for a quality assessment. */
  heldFor: Millis,
  /** From the creation or a change of a template to its approval. Null: it stays pending. */
  reviewAfter: Schema.NullOr(Millis),
  /** How long a number's sends are refused with 131057 while its throughput is raised. Meta documents up to a minute. */
  upgradeFor: Millis,
  /** Whether the first status is posted, and that post answered, before the send gets its response. */
  statusBeforeResponse: Schema.Boolean,
  /** The rate of messages that are reported as read and never as delivered. */
  omitDelivered: Rate,
  /** The rate of updates that are reported twice. */
  duplicates: Rate,
  /** The maximum of a random additional delay of each update. Updates in one post are shuffled. */
  jitter: Millis,
  /** Each post that was answered with 200 is repeated after each of these delays. */
  repeatAfter: Schema.Array(Millis),
  /** The maximum number of updates in one post. Meta documents up to 1,000. */
  batchMost: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
  /** How long an update waits for others, to be posted with them. */
  batchLinger: Millis,
  /** The maximum number of posts in flight. With 1 they arrive in order; with more they race. */
  lanes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  /** Whether the updates of a post share a value, have a change each, or an entry each. Mixed: random. */
  batchShape: Schema.Literals(["value", "changes", "entries", "mixed"]),
  /** The delays before a post that was not answered with 200 is retried. The last one repeats for 7 days. */
  retryAfter: Schema.NonEmptyArray(Millis.check(Schema.isGreaterThan(0))),
  /** Whether statuses contain the `conversation` of versions before 24. */
  conversation: Schema.Boolean,
  /** The rate of timestamps that are JSON numbers. */
  numericTimestamps: Rate,
  /** The rate of messages and statuses without `contacts`. */
  omitContacts: Rate,
  /** The rate of prices without `billable`, which upstream has deprecated. */
  omitBillable: Rate,
  /** Whether each customer also has a business-scoped user id. */
  userIds: Schema.Boolean,
  /** The maximum number of messages per number and second; more get 130429. Null: by the number's throughput level. */
  throughput: Schema.NullOr(Schema.Int),
  /** Whether a number may send one message per 6 seconds to a customer, 45 at once; more get 131056. */
  pairLimit: Schema.Boolean,
  /** Whether text outside the 24-hour window fails with 131047. */
  window: Schema.Boolean,
  /** The only recipients (E.164) that numbers may write to; others get 131030. Null: everyone. */
  allowed: Schema.NullOr(Schema.Array(Schema.String)),
  /** The prices of messages. Without a rate, a message is free. */
  rates: Schema.Array(Bill.Rate)
})
export type Settings = typeof Settings.Type

/** A change of some settings. */
export const Patch = Settings.mapFields(Struct.map(Schema.optionalKey))
export type Patch = typeof Patch.Type

const seconds = 1000
const hours = 3600 * seconds

/** Short delays, no random behaviour, and the limits that do not depend on an account's history. */
export const initial: Settings = {
  sentAfter: 50,
  deliveredAfter: 250,
  readAfter: 600,
  heldFor: 2 * seconds,
  reviewAfter: 1 * seconds,
  upgradeFor: 0,
  statusBeforeResponse: false,
  omitDelivered: 0,
  duplicates: 0,
  jitter: 0,
  repeatAfter: [],
  batchMost: 10,
  batchLinger: 0,
  lanes: 1,
  batchShape: "mixed",
  retryAfter: [1 * seconds, 5 * seconds, 30 * seconds, 120 * seconds, 600 * seconds, 1 * hours, 6 * hours],
  conversation: false,
  numericTimestamps: 0,
  omitContacts: 0,
  omitBillable: 0,
  userIds: false,
  throughput: null,
  pairLimit: true,
  window: true,
  allowed: null,
  rates: []
}
