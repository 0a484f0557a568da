/**
 * `RateLimitStore` in PostgreSQL: combines the operations of this folder (`Tokens`) and adds the short statements.
 */
import { RateLimitStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { Database } from "../Database.ts"
import * as Tokens from "./Tokens.ts"

export const layer = Layer.effect(
  RateLimitStore.RateLimitStore,
  Effect.gen(function*() {
    const { stepped } = yield* Database
    const spend = yield* stepped("RateLimitStore.spend", Tokens.spend)
    const giveBack = yield* stepped("RateLimitStore.giveBack", Tokens.giveBack)

    return RateLimitStore.RateLimitStore.of({
      spend: (buckets, now) => spend({ now, buckets }),
      giveBack: (buckets, now) => giveBack({ now, buckets })
    })
  })
)
