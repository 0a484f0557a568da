/** What of the simulated Cloud API can be set while it runs: its pace, its bad habits and its limits. */
import { Schema, Struct } from "effect"
import * as Bill from "../messages/CloudApiBill.ts"

const Millis = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Rate = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** Times are in milliseconds, rates from 0 to 1. */
export const Settings = Schema.Struct({
  /** From the acceptance of a message to each word of it; null: that word never comes. */
  sentAfter: Schema.NullOr(Millis),
  deliveredAfter: Schema.NullOr(Millis),
  readAfter: Schema.NullOr(Millis),
  /** How long a template held for its quality is held. */
  heldFor: Millis,
  /** From the creation or a change of a template to its approval; null: it stays pending. */
  reviewAfter: Schema.NullOr(Millis),
  /** How long a number can send nothing while its throughput is raised: 131057; upstream says up to a minute. */
  upgradeFor: Millis,
  /** The first status is posted, and the post answered, before the send itself is answered. */
  statusBeforeResponse: Schema.Boolean,
  /** How many messages are told as read without having been told as delivered. */
  omitDelivered: Rate,
  /** How many updates are told twice. */
  duplicates: Rate,
  /** Each update waits for up to this long more, by the seed, and those of one post are shuffled. */
  jitter: Millis,
  /** Every post that was answered 200 comes once more after each of these times. */
  repeatAfter: Schema.Array(Millis),
  /** The most updates in one post; upstream says up to 1,000. */
  batchMost: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
  /** How long an update waits for others to share its post. */
  batchLinger: Millis,
  /** Posts on the wire at once. One by one they come in the order of the telling; several race. */
  lanes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 })),
  /** Whether the updates of a post share a value, or a change each, or an entry each; mixed: by the seed. */
  batchShape: Schema.Literals(["value", "changes", "entries", "mixed"]),
  /** Waits before a post that was not answered 200 is tried again; the last one holds until 7 days are over. */
  retryAfter: Schema.NonEmptyArray(Millis.check(Schema.isGreaterThan(0))),
  /** Statuses have the `conversation` that they had before version 24. */
  conversation: Schema.Boolean,
  /** How many timestamps are JSON numbers. */
  numericTimestamps: Rate,
  /** How many messages and statuses come without `contacts`. */
  omitContacts: Rate,
  /** Every customer is named by a business-scoped id too. */
  userIds: Schema.Boolean,
  /** The most messages of one number in a second: 130429. Null: as the throughput level of the number is. */
  throughput: Schema.NullOr(Schema.Int),
  /** One message in 6 seconds to one customer, 45 at once: 131056. */
  pairLimit: Schema.Boolean,
  /** Text outside the 24-hour window fails: 131047. */
  window: Schema.Boolean,
  /** The only recipients that a test number may write to, E.164: 131030. Null: every one. */
  allowed: Schema.NullOr(Schema.Array(Schema.String)),
  /** What messages cost; nothing where there is no rate. */
  rates: Schema.Array(Bill.Rate)
})
export type Settings = typeof Settings.Type

/** Some of them, to change. */
export const Patch = Settings.mapFields(Struct.map(Schema.optionalKey))
export type Patch = typeof Patch.Type

const seconds = 1000
const hours = 3600 * seconds

/** A quick and well-behaved upstream, with the limits that do not need an account's history. */
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
  userIds: false,
  throughput: null,
  pairLimit: true,
  window: true,
  allowed: null,
  rates: []
}
