/**
 * How long each kind of record is kept (contract §8 `RETENTION`). Pure; `RetentionRunner` deletes what is older.
 */
import { Context, Duration, Schema } from "effect"
import type { Instant } from "./Time.ts"

/** The result of one step of a deletion. */
export interface Forgotten {
  /** How many records of the kind it deleted; what was deleted with them does not count. */
  readonly removed: number
  /** Whether more may be left. */
  readonly isMore: boolean
}

/** Sums the results of the steps that delete records of one kind. */
export const together = (steps: ReadonlyArray<Forgotten>): Forgotten => ({
  removed: steps.reduce((sum, { removed }) => sum + removed, 0),
  isMore: steps.some(({ isMore }) => isMore)
})

const Days = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 36_500 }))

/** How long records are kept, in days. */
export const Retention = Schema.Struct({
  /** Events, with their deliveries. What a paused webhook still holds stays until it is delivered or skipped. */
  events: Days,
  /** Attempts at deliveries. They go with their event at the latest. */
  attempts: Days,
  /** The log of API requests. */
  requests: Days,
  /** Messages that have ended, and the uploaded rows of campaigns that have ended. */
  messages: Days,
  /** The content of messages: `Message.withoutBody`. It goes with its message at the latest. */
  bodies: Days,
  /** Files, counted from their last use. */
  media: Days,
  /** The audit. */
  audit: Days,
  /** Processed posts of the provider, as received. */
  inbound: Days
})
export type Retention = typeof Retention.Type

/** A kind of record that has a retention of its own. */
export type Kind = keyof Retention

/** The defaults of the contract. */
export const standard: Retention = {
  events: 30,
  attempts: 30,
  requests: 7,
  messages: 400,
  bodies: 400,
  media: 30,
  audit: 365,
  inbound: 7
}

/** The retention in force. Every process of a storage should have the same one. */
export const CurrentRetention = Context.Reference<Retention>("@wac/core/Retention/CurrentRetention", {
  defaultValue: () => standard
})

/** How long records of this kind are kept. */
export const keptFor = (retention: Retention, kind: Kind): Duration.Duration => Duration.days(retention[kind])

/** The time before which records of this kind are deleted. */
export const horizon = (retention: Retention, kind: Kind, now: Instant): Instant =>
  now - Duration.toMillis(keptFor(retention, kind))
