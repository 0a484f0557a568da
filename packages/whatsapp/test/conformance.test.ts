import { Inbound, Provider, SenderCredentials } from "@wac/core"
import { ProviderSuite } from "@wac/testkit"
import { Effect, Layer, Redacted } from "effect"
import * as WhatsAppProvider from "../src/WhatsAppProvider.ts"
import { to } from "./samples.ts"
import { simulated } from "./simulation.ts"

const provider = Layer.effect(Provider.Provider, Effect.map(simulated(), ({ provider }) => provider))

/** The discard port of loopback, where nothing listens. */
const unreachable = WhatsAppProvider.layer({
  baseUrl: "http://127.0.0.1:9",
  apiVersion: "v25.0",
  accessToken: Redacted.make("token"),
  phoneNumberId: "1",
  businessAccountId: "2"
}, {}).pipe(
  Layer.provide([
    Layer.mock(Inbound.Inbound, { receive: () => Effect.succeed([]) }),
    Layer.mock(SenderCredentials.SenderCredentials, { of: () => Effect.undefined })
  ])
)

ProviderSuite.suite("WhatsApp on the simulated Cloud API", provider, { accepted: to, unreachable })
