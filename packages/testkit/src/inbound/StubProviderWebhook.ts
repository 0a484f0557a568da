/**
 * A `ProviderWebhook` whose posts are items as JSON, signed with HMAC under a fixed secret, for tests in which a
 * provider's own format does not matter.
 */
import { type InboundItem, ProviderWebhook } from "@wac/core"
import { Effect, Layer } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"

/** The provider's name, which is a part of the webhook's path. */
export const name = "stub"

/** The header with the signature. */
export const signatureHeader = "x-stub-signature"

const secret = "the secret of the stub"

/** The token of a valid handshake. */
export const handshakeToken = "the token of the stub"

/** Signs a body. */
export const sign = (body: string | Uint8Array): string => createHmac("sha256", secret).update(body).digest("hex")

/** The body of a post with those items. A different `nonce` makes it a different post. */
export const bodyOf = (items: ReadonlyArray<InboundItem.InboundItem>, nonce?: string): string =>
  JSON.stringify({ items, nonce })

const itemsIn = (body: Uint8Array): ReadonlyArray<InboundItem.InboundItem> => {
  const parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  if (!Array.isArray(parsed?.items)) throw new TypeError("no items")
  return parsed.items
}

/** The adapter. `reading` runs before each read of a post. */
export const make = (reading: Effect.Effect<void> = Effect.void): ProviderWebhook.ProviderWebhook => ({
  name,
  handshake: ({ challenge, token }) => token === handshakeToken ? challenge : undefined,
  verify: (body, header) =>
    Effect.sync(() => {
      const [expected, given] = [sign(body), header(signatureHeader) ?? ""].map((text) => Buffer.from(text))
      return expected!.length === given!.length && timingSafeEqual(expected!, given!)
    }),
  read: (body) =>
    Effect.andThen(
      reading,
      Effect.try({
        try: () => itemsIn(body),
        catch: () => new ProviderWebhook.UnreadablePost({ message: "it is not the stub's JSON" })
      })
    )
})

/** The adapter as a Layer. */
export const layer = (reading?: Effect.Effect<void>): Layer.Layer<never> =>
  Layer.succeed(ProviderWebhook.ProviderWebhook, make(reading))
