/**
 * The address that Meta posts to: who may post there, and what the posts tell.
 *
 * Meta makes sure of the address by a GET that nobody signs. Posts are signed with the secret of the app, over the
 * bytes as they are sent: text that is not ASCII is escaped in them, so that JSON which was read and written again
 * would have another signature.
 */
import { type InboundItem, PlainJson, ProviderWebhook } from "@wac/core"
import { Effect, Layer, Redacted, Result } from "effect"
import { Mac } from "effect/crypto"
import { Hex } from "effect/encoding"
import * as Payload from "./Payload.ts"
import * as WebhookPost from "./WebhookPost.ts"

/** How many items are read before other work of the process gets its turn: some milliseconds. */
export const itemsAtOnce = 500

/** The secrets agreed on with Meta in the app's settings; neither is empty. */
export interface Agreed {
  /** Of the app; signs every post. */
  readonly appSecret: Redacted.Redacted
  /** Chosen by us; proves that the GET comes from where it was entered. */
  readonly verifyToken: Redacted.Redacted
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** One signature, in hex of either case. A header that came twice, or of another form, is none. */
const signatureForm = /^sha256=([0-9a-f]{64})$/i

const signatureOf = (header: string | undefined): Uint8Array | undefined => {
  const [, hex] = signatureForm.exec(header ?? "") ?? []
  return hex === undefined ? undefined : Result.getOrUndefined(Hex.decode(hex))
}

/** Makes it; dies of an empty secret or token. Comparisons with either take as long wherever they differ. */
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
      // Meta puts at most 1,000 updates into a post, which have some twenty values each
      if (PlainJson.hasTooMany(body)) {
        return yield* new ProviderWebhook.UnreadablePost({ message: `it has more than ${PlainJson.maxValues} values` })
      }
      const json = Payload.parseGiven(new TextDecoder().decode(body))
      if (json === undefined) return yield* new ProviderWebhook.UnreadablePost({ message: "it is not JSON" })
      // each walk through a long post takes some hundredths of a second
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

/** The provider's address at work. */
export const layer = (agreed: Agreed): Layer.Layer<never, never, Mac.Mac> =>
  Layer.effect(ProviderWebhook.ProviderWebhook, make(agreed))
