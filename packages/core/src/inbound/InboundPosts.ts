/**
 * Receives provider posts: verifies and stores them, and does nothing else, so that the response takes milliseconds.
 * `InboundRunner` processes them.
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import * as Elapsed from "../Elapsed.ts"
import { Unauthorized } from "../Errors.ts"
import * as Metrics from "../Metrics.ts"
import type { StoreError } from "../StoreError.ts"
import { InboundPostStore } from "./InboundPostStore.ts"
import type { ProviderWebhook } from "./ProviderWebhook.ts"

/** How often the log reports invalid posts at most, because anyone can send them. */
const warnEvery = Duration.minutes(1)

export class InboundPosts extends Context.Service<InboundPosts, {
  /**
   * Verifies the signature over the raw bytes and stores the post. Once it succeeds, the post will be processed
   * whatever happens to this process; a repeated post succeeds immediately. After a {@link StoreError} the post may or
   * may not be stored, and the provider repeats it. A post without a valid signature changes nothing.
   */
  readonly receive: (
    webhook: ProviderWebhook,
    body: Uint8Array,
    header: (name: string) => string | undefined
  ) => Effect.Effect<void, Unauthorized | StoreError>
}>()("@wac/core/inbound/InboundPosts") {
  static readonly layer = Layer.effect(
    InboundPosts,
    Effect.gen(function*() {
      const store = yield* InboundPostStore
      const digest = yield* Digest.Digest
      let warnedAt = -Infinity

      const refuse = Effect.fnUntraced(function*({ name }: ProviderWebhook) {
        yield* Metrics.posted("refused")
        const now = yield* Elapsed.now
        if (now - warnedAt >= Duration.toMillis(warnEvery)) {
          warnedAt = now
          yield* Effect.logWarning(
            `a post to /providers/${name}/webhook is not signed with the configured secret and was refused`
          )
        }
        return yield* new Unauthorized({
          reason: "invalid_signature",
          message: "the signature is missing, or does not match the body and the configured secret"
        })
      })

      return InboundPosts.of({
        receive: Effect.fn("InboundPosts.receive")(function*(webhook, body, header) {
          if (!(yield* webhook.verify(body, header))) return yield* refuse(webhook)
          const kept = yield* store.keep({
            now: yield* Clock.currentTimeMillis,
            provider: webhook.name,
            digest: yield* digest.digestHex(Digest.sha256, body),
            body
          })
          yield* Metrics.posted(kept)
        })
      })
    })
  )
}
