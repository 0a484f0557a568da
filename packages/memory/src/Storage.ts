import { Storage } from "@wac/core"
import { Effect, Layer } from "effect"

export const layer = Layer.succeed(
  Storage.Storage,
  Storage.Storage.of({ name: "memory", durable: false, ping: Effect.succeed("writable") })
)
