import {
  type E164,
  Id,
  Inbound,
  type InboundItem,
  MessageReferences,
  PhoneNumber,
  Provider,
  type StoreError
} from "@wac/core"
import { Clock, Context, Effect, Layer, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { firstNumber, layer } from "../src/SandboxProvider.ts"

/** An item that `Inbound` got, and when. */
export interface Heard {
  readonly at: number
  readonly item: InboundItem.InboundItem
}

type Receive = Inbound.Inbound["Service"]["receive"]

export const sender = PhoneNumber.fresh({
  ...firstNumber,
  id: Id.PhoneNumberId.make("pn_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
  workspaceId: Id.WorkspaceId.make("ws_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
  provider: "sandbox",
  isDefault: true
})

export const messageId = Id.MessageId.make("msg_01ARZ3NDEKTSV4RRFFQ69G5FAV")

export const command = (to: E164.E164): Provider.ProviderSend => ({
  messageId,
  sender,
  message: { type: "text", to, text: { body: "hello" } },
  template: undefined,
  refers: MessageReferences.none
})

/** The sandbox over an `Inbound` that records items. `before` runs first and can fail. */
export const start = (
  before: Effect.Effect<void, StoreError.StoreError> = Effect.void
): Effect.Effect<
  { readonly provider: Provider.Provider["Service"]; readonly heard: Array<Heard> },
  never,
  Scope.Scope
> =>
  Effect.gen(function*() {
    const heard: Array<Heard> = []
    const receive: Receive = (items) =>
      Effect.andThen(
        before,
        Effect.map(Clock.currentTimeMillis, (at) => {
          for (const item of items) heard.push({ at, item })
          return []
        })
      )
    const services = yield* Layer.build(
      layer.pipe(Layer.provide([Layer.mock(Inbound.Inbound, { receive }), SecureRandom.layerWebCrypto]))
    )
    return { provider: Context.get(services, Provider.Provider), heard }
  })
