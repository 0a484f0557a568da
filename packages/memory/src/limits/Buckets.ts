/**
 * Token buckets: one state for the sends and for everything else.
 */
import type { Time } from "@wac/core"
import { ForgetfulMap } from "../ForgetfulMap.ts"

/** Buckets by name, each as the instant at which it is full. */
export type Buckets = ForgetfulMap<string, Time.Instant>

/** A bucket that is full is as good as one never seen. */
export const make = (): Buckets => new ForgetfulMap((fullAt, now) => fullAt <= now)
