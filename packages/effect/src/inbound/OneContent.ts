import type { ReceivedContentByType } from "../generated/Event.ts"

/** Exactly one content, under the name of its type. */
export type OneContent = {
  readonly [Type in keyof ReceivedContentByType]: { readonly [Field in Type]: ReceivedContentByType[Type] }
}[keyof ReceivedContentByType]
