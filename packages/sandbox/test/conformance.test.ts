import { Inbound } from "@wac/core"
import { ProviderSuite } from "@wac/testkit"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { numbers } from "../src/Behaviour.ts"
import { layer } from "../src/SandboxProvider.ts"

const sandbox = layer.pipe(
  Layer.provide([Layer.mock(Inbound.Inbound, { receive: () => Effect.succeed([]) }), SecureRandom.layerWebCrypto])
)

ProviderSuite.suite("the sandbox", sandbox, {
  accepted: "+15551234567",
  refused: numbers.undeliverable,
  throttled: numbers.throttled,
  broken: numbers.outcomeUnknown
})
