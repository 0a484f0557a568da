/**
 * A Layer as an option of `createWac`. A Layer works only with the copy of Effect that built it, and the package `wac`
 * has a copy of its own, so only options that this copy made are accepted.
 */
import { Layer } from "effect"
import { badOption } from "./WacError.ts"

/** A Layer as an option. */
export interface LayerOption {
  readonly type: "layer"
  readonly layer: object
}

const made = new WeakSet<LayerOption>()

/** Makes an option of a Layer. */
export const make = (layer: object): LayerOption => {
  const option = { type: "layer", layer } as const
  made.add(option)
  return option
}

/** The Layer of an option. Throws if the option has no Layer, or was made for another copy of `createWac`. */
export const layerOf = (option: LayerOption, name: "provider" | "storage"): Layer.Layer<never, unknown, unknown> => {
  if (!made.has(option)) {
    throw badOption(
      `${name}.layer`,
      `${name}.layer needs Adapter.${name} of @wac/effect, and createWac of @wac/effect/promises`
    )
  }
  if (!Layer.isLayer(option.layer)) throw badOption(`${name}.layer`, `${name}.layer must be a Layer of Effect 4`)
  return option.layer as Layer.Layer<never, unknown, unknown>
}
