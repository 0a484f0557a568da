/**
 * Turns a foreign storage or provider, written as a Layer of Effect, into an option of `createWac` of
 * `@wac/effect/promises`. `createWac` of `wac` takes no Layers, since that package has its own copy of Effect.
 * `Composition.layer` takes the same Layers directly.
 */
import type { Ports, Provider } from "@wac/core"
import type { Layer } from "effect"
import type * as Composition from "./Composition.ts"
import * as LayerOption from "./LayerOption.ts"
import type { CustomProvider } from "./provider/CustomProvider.ts"
import { layerCustom, type LayerProvider } from "./provider/Provider.ts"
import type { LayerStorage } from "./Storage.ts"

/**
 * A storage: a Layer of every port, built once for each instance and closed with it. It must pass the suites of
 * `@wac/testkit`. If it cannot be opened, the Layer fails; `createWac` then rejects, with the reason
 * `storage_unavailable` for a `StoreError` of `@wac/core`.
 */
export const storage = (layer: Layer.Layer<Ports.Ports, unknown>): LayerStorage => LayerOption.make(layer)

/**
 * A provider: a Layer of the port `Provider` of `@wac/core`, and of `ProviderWebhook` if the provider posts to us. It
 * may use everything in `Composition.Beneath`. If it fails with a `ProviderError` of `@wac/core`, `createWac` rejects
 * with its reason and message.
 */
export const provider = (layer: Composition.Adapters<unknown>["provider"]): LayerProvider => LayerOption.make(layer)

/** A provider of `defineProvider` as a Layer of the port `Provider`, for the suite of providers and `Composition`. */
export const layerOf = (provider: CustomProvider): Layer.Layer<Provider.Provider> =>
  layerCustom(provider, (promise) => promise)
