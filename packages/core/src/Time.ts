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

/**
 * How far another machine's clock is certainly ahead of this one's, in milliseconds; negative if it is behind. It read
 * its clock at some moment between `begun` and `ended` of this one, and its time has a `resolution` (milliseconds). 0 if
 * both clocks may agree, however long the response took.
 */
export const certainLead = (
  read: { readonly at: Instant; readonly resolution: number },
  { begun, ended }: { readonly begun: Instant; readonly ended: Instant }
): number => Math.max(0, read.at - ended) + Math.min(0, read.at + read.resolution - begun)
