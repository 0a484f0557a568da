/**
 * For programs that use Effect: the service as Layers.
 */
import "./NodeVersion.ts"

export * as Adapter from "./Adapter.ts"
export * as Composition from "./Composition.ts"
export * as Host from "./people/Host.ts"
