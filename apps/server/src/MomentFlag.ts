/**
 * Flags of the command line whose value is a time.
 */
import type { Time } from "@wac/core"
import { Schema } from "effect"
import { Flag } from "effect/cli"

/** Reads a time that begins with a date; `undefined` for other text. */
export const read = (text: string): Time.Instant | undefined => {
  const time = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

const Moment = Schema.String.check(
  Schema.makeFilter((text: string) => read(text) !== undefined || "must be a time such as 2026-01-31T12:00:00Z")
)

/** A flag whose value is a time. */
export const make = (name: string, description: string): Flag.Flag<Time.Instant> =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(Moment), Flag.map((text) => read(text)!))
