/**
 * Token buckets, one set for sends and all other requests.
 */
import type { Time } from "@wac/core"
import { ExpiringMap } from "../ExpiringMap.ts"

/** Buckets by key. The value is the instant at which the bucket is full. */
export type Buckets = ExpiringMap<string, Time.Instant>

/** Forgets full buckets, since a missing bucket counts as full. */
export const make = (): Buckets => new ExpiringMap((fullAt, now) => fullAt <= now)
