/**
 * What statements are told of their asker's time (`StorageTime`): nothing, so that they are judged by the database's;
 * in tests that let time pass themselves, all.
 */
import { StorageTime, type Time } from "@wac/core"
import { Effect } from "effect"

/** The `now` of a command as statements take it. */
export type Asked = (now: Time.Instant) => Time.Instant | undefined

export const asked: Effect.Effect<Asked> = Effect.map(
  StorageTime.JudgedBy,
  (judge): Asked => judge === "asker" ? (now) => now : () => undefined
)
