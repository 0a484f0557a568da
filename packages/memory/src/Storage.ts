/**
 * The storage as a whole, in memory: always writable, and lost when the process ends.
 */
import { Storage } from "@wac/core"
import { Effect, Layer } from "effect"

export const layer = Layer.succeed(
  Storage.Storage,
  Storage.Storage.of({ name: "memory", durable: false, ping: Effect.succeed("writable") })
)
