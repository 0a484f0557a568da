/**
 * `RateLimit-Policy` and `RateLimit`: structured fields of the current IETF draft (contract §7). A bucket is described
 * as a quota of its capacity over the time in which it fills up.
 */
import type { RateLimit } from "@wac/core"

const seconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1000))

const policy = ({ policy: { capacity, interval, name } }: RateLimit.Reading): string =>
  `"${name}";q=${Math.floor(capacity)};w=${seconds(capacity * interval)}`

const state = ({ policy: { name }, remaining, resetAfter }: RateLimit.Reading): string =>
  `"${name}";r=${remaining};t=${Math.ceil(resetAfter / 1000)}`

/** The headers for the limiters' readings, in the order of the readings; no headers without readings. */
export const of = (readings: ReadonlyArray<RateLimit.Reading>): { readonly [name: string]: string } =>
  readings.length === 0
    ? {}
    : { "ratelimit-policy": readings.map(policy).join(", "), "ratelimit": readings.map(state).join(", ") }
