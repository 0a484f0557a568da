/**
 * Points in time and their wire format.
 */
import { DateTime } from "effect"

/** Milliseconds since the Unix epoch, UTC. Fields of this type end in `At`. `0` is a valid value. */
export type Instant = number

/** Formats an instant as ISO 8601 UTC with milliseconds: `2026-01-02T03:04:05.678Z` (contract §1). */
export const iso = (at: Instant): string => DateTime.formatIso(DateTime.makeUnsafe(at))

/** Like {@link iso}, but keeps `null`, which on the wire means that something has not happened. */
export const isoOrNull = (at: Instant | null): string | null => at === null ? null : iso(at)
