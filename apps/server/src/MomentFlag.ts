/**
 * Flags of the command line whose value is a time, in the forms that requests take.
 */
import { Timestamp } from "@wac/api"
import type { Time } from "@wac/core"
import { DateTime, Option, Schema } from "effect"
import { Flag } from "effect/cli"

const decode = Schema.decodeUnknownOption(Timestamp.TimeGiven)

/** Reads a time; `undefined` for other text. */
export const read = (text: string): Time.Instant | undefined =>
  Option.getOrUndefined(Option.map(decode(text), DateTime.toEpochMillis))

const Moment = Schema.String.check(
  Schema.makeFilter((text: string) => read(text) !== undefined || "must be a time such as 2026-01-31T12:00:00Z")
)

/** A flag whose value is a time. */
export const make = (name: string, description: string): Flag.Flag<Time.Instant> =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(Moment), Flag.map((text) => read(text)!))
