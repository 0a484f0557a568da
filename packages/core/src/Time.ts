/**
 * Points in time, as the domain and its stores pass them around.
 */
import { DateTime } from "effect"

/** Milliseconds since the Unix epoch, UTC. Fields that hold one end in `At`; `0` is a valid value. */
export type Instant = number

/** Writes an instant as ISO 8601 UTC with milliseconds: `2026-01-02T03:04:05.678Z` (contract §1). */
export const iso = (at: Instant): string => DateTime.formatIso(DateTime.makeUnsafe(at))

/** Like {@link iso}, but passes `null` through, as the wire does for a thing that has not happened. */
export const isoOrNull = (at: Instant | null): string | null => at === null ? null : iso(at)
