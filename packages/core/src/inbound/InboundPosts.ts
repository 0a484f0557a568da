/**
 * Taking in what a provider posts: verified, kept, and no more, so that it is answered within milliseconds
 * (`InboundRunner` processes it).
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"
import { Digest } from "effect/crypto"
import { Unauthorized } from "../Errors.ts"
import * as Metrics from "../Metrics.ts"
import type { StoreError } from "../StoreError.ts"
import { InboundPostStore } from "./InboundPostStore.ts"
import type { ProviderWebhook } from "./ProviderWebhook.ts"

/** Anybody can post nonsense; the log says so at most this often. */
const warnEvery = Duration.minutes(1)

export class InboundPosts extends Context.Service<InboundPosts, {
  /**
   * Verifies a post over the bytes as they came, and keeps it. Done when it will be processed whatever happens to this
   * process; one that was posted before is done at once. After a {@link StoreError} it may have been kept or not; the
   * provider posts it again. What is not signed by the provider changes nothing.
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
        const now = yield* Clock.currentTimeMillis
        if (now - warnedAt >= Duration.toMillis(warnEvery)) {
          warnedAt = now
          yield* Effect.logWarning(
            `a post to /providers/${name}/webhook is not signed with the secret that is configured; it was refused`
          )
        }
        return yield* new Unauthorized({
          reason: "invalid_signature",
          message: "the signature is missing, or is not that of these bytes under the secret we share"
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
