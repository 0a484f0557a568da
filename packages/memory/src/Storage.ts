/**
 * The storage as a whole, in memory: always writable, and lost when the process ends.
 */
import { Storage, StorageTime } from "@wac/core"
import { Effect, Layer } from "effect"

export const layer = Layer.effect(
  Storage.Storage,
  Effect.map(StorageTime.ofProcess, (now) =>
    Storage.Storage.of({
      name: "memory",
      durable: false,
      ping: Effect.succeed("writable"),
      now: (asked) => Effect.sync(() => now(asked))
    }))
)
