/**
 * The endpoint for Meta's posts: verifies the address and the signatures, and reads the posts.
 *
 * Meta verifies the address by an unsigned GET. Posts are signed with the app's secret, over the raw bytes: their JSON
 * escapes all text that is not ASCII, so JSON that was parsed and written again would have a different signature.
 */
import { type InboundItem, PlainJson, ProviderWebhook } from "@wac/core"
import { Effect, Layer, Redacted, Result } from "effect"
import { Mac } from "effect/crypto"
import { Hex } from "effect/encoding"
import * as Payload from "./Payload.ts"
import * as WebhookPost from "./WebhookPost.ts"

/** How many items are read, for some milliseconds, before other work of the process gets its turn. */
export const itemsAtOnce = 500

/** The secrets from the app's settings at Meta; neither is empty. */
export interface Agreed {
  /** The app's secret, which signs every post. */
  readonly appSecret: Redacted.Redacted
  /** Chosen by the operator and entered at Meta; proves that the GET comes from there. */
  readonly verifyToken: Redacted.Redacted
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** One signature, in hexadecimal of either case. A header of another form, or one that was sent twice, is refused. */
const signatureForm = /^sha256=([0-9a-f]{64})$/i

const signatureOf = (header: string | undefined): Uint8Array | undefined => {
  const [, hex] = signatureForm.exec(header ?? "") ?? []
  return hex === undefined ? undefined : Result.getOrUndefined(Hex.decode(hex))
}

/** Makes the webhook. Dies if a secret is empty. Comparisons with the secrets take constant time. */
export const make = Effect.fnUntraced(function*({ appSecret, verifyToken }: Agreed) {
  const mac = yield* Mac.Mac
  const key = yield* Effect.orDie(Mac.key(Mac.hmacSha256, bytes(Redacted.value(appSecret))))
  const token = bytes(Redacted.value(verifyToken))
  if (token.length === 0) return yield* Effect.die("the verify token is empty")

  const webhook: ProviderWebhook.ProviderWebhook = {
    name: "whatsapp",
    handshake: (query) =>
      query["hub.mode"] === "subscribe" && Mac.timingSafeEqual(bytes(query["hub.verify_token"] ?? ""), token)
        ? query["hub.challenge"]
        : undefined,
    verify: (body, header) => {
      const signature = signatureOf(header("x-hub-signature-256"))
      return signature === undefined ? Effect.succeed(false) : Effect.orDie(mac.verify(key, signature, body))
    },
    read: Effect.fnUntraced(function*(body, receivedAt) {
      // Meta puts at most 1,000 updates into a post, with some twenty values each
      if (PlainJson.hasTooMany(body)) {
        return yield* new ProviderWebhook.UnreadablePost({ message: `it has more than ${PlainJson.maxValues} values` })
      }
      const json = Payload.parseGiven(new TextDecoder().decode(body))
      if (json === undefined) return yield* new ProviderWebhook.UnreadablePost({ message: "it is not JSON" })
      // each pass over a long post takes some hundredths of a second
      yield* Effect.yieldNow
      const cleaned = Payload.clean(json)
      yield* Effect.yieldNow
      const found = WebhookPost.read(cleaned, receivedAt)
      if (found === undefined) {
        return yield* new ProviderWebhook.UnreadablePost({ message: "it is not a WhatsApp webhook" })
      }
      const items: Array<InboundItem.InboundItem> = []
      for (const item of found) {
        if (items.push(item) % itemsAtOnce === 0) yield* Effect.yieldNow
      }
      return items
    })
  }
  return webhook
})

/** Makes this the service's `ProviderWebhook`. */
export const layer = (agreed: Agreed): Layer.Layer<never, never, Mac.Mac> =>
  Layer.effect(ProviderWebhook.ProviderWebhook, make(agreed))
