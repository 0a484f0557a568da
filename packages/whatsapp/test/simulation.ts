/**
 * The provider on the simulated Cloud API, which knows Meta's documentation apart from us.
 */
import { Inbound, type InboundItem, Provider, SenderCredentials } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import { type Duration, Effect, Layer, Redacted } from "effect"
import * as WhatsAppProvider from "../src/WhatsAppProvider.ts"
import { sender } from "./samples.ts"

/** Neither limits nor lives of messages; what the provider tells is kept in `told`. */
export const simulated = Effect.fnUntraced(function*(
  options: { readonly sendTimeout?: Duration.Duration; readonly settings?: CloudApi.Options["settings"] } = {}
) {
  const { sendTimeout, settings } = options
  const api = yield* CloudApi.make({
    seed: 7,
    settings: {
      sentAfter: null,
      deliveredAfter: null,
      readAfter: null,
      throughput: 1_000_000,
      pairLimit: false,
      window: false,
      ...settings
    }
  })
  const { accessToken, account, numbers: [number] } = api.identity
  const told: Array<InboundItem.InboundItem> = []
  const context = yield* Layer.build(
    WhatsAppProvider.layer({
      baseUrl: api.url,
      apiVersion: "v25.0",
      accessToken: Redacted.make(accessToken),
      phoneNumberId: number.id,
      businessAccountId: account
    }, sendTimeout === undefined ? {} : { sendTimeout }).pipe(
      Layer.provide([
        Layer.mock(Inbound.Inbound, { receive: (items) => Effect.as(Effect.sync(() => told.push(...items)), []) }),
        Layer.mock(SenderCredentials.SenderCredentials, { of: () => Effect.undefined })
      ])
    )
  )
  const provider = yield* Effect.provide(Provider.Provider, context)
  return { api, told, provider, number: { ...sender, providerNumberId: number.id, providerAccountId: account } }
})
