/**
 * A `ProviderWebhook` whose posts are the items themselves, as JSON, signed by HMAC under a secret; for whatever is to be
 * tested about posts before a provider's own format matters.
 */
import { type InboundItem, ProviderWebhook } from "@wac/core"
import { Effect, Layer } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"

/** Its part of the address. */
export const name = "stub"

/** The header that the signature is in. */
export const signatureHeader = "x-stub-signature"

const secret = "the secret of the stub"

/** What a handshake is made with; any other token is a stranger's. */
export const handshakeToken = "the token of the stub"

/** The signature of a body. */
export const sign = (body: string | Uint8Array): string => createHmac("sha256", secret).update(body).digest("hex")

/** A post of those items. A different `nonce` makes it another post. */
export const bodyOf = (items: ReadonlyArray<InboundItem.InboundItem>, nonce?: string): string =>
  JSON.stringify({ items, nonce })

const itemsIn = (body: Uint8Array): ReadonlyArray<InboundItem.InboundItem> => {
  const parsed = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
  if (!Array.isArray(parsed?.items)) throw new TypeError("no items")
  return parsed.items
}

/** The adapter; `reading` is done each time before a post is read. */
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

/** The adapter, in place. */
export const layer = (reading?: Effect.Effect<void>): Layer.Layer<never> =>
  Layer.succeed(ProviderWebhook.ProviderWebhook, make(reading))
