/**
 * Port: what a provider posts to us. Whoever sends has an address of ours for it, `/providers/<name>/webhook`; a provider
 * that tells by other ways, as the sandbox does, has none.
 */
import { Context, type Effect, Schema } from "effect"
import type { Instant } from "../Time.ts"
import type { InboundItem } from "./InboundItem.ts"

/** A post that is none of the provider's, although it was signed: not JSON, or of another kind altogether. */
export class UnreadablePost extends Schema.TaggedError<UnreadablePost>()("UnreadablePost", {
  /** What is wrong with it, in words that hold nothing of what is in it. */
  message: Schema.String
}) {}

export interface ProviderWebhook {
  /** The part of the address that is its own; lower-case letters. */
  readonly name: string
  /**
   * Judges a GET, by which the provider makes sure whom the address belongs to: the body to answer with, or `undefined`
   * when it does not come from where we are known. Nobody signs it.
   */
  readonly handshake: (query: { readonly [name: string]: string }) => string | undefined
  /** Whether the provider signed these bytes. Names of headers are in lower case. */
  readonly verify: (body: Uint8Array, header: (name: string) => string | undefined) => Effect.Effect<boolean>
  /**
   * What a post tells, in the order in which it does; whatever has no time of its own was so when the post came. The same
   * however late and often it is read. What it does not know is `Skipped` and never a failure, so that one new kind of
   * item does not take the others of its post along.
   */
  readonly read: (body: Uint8Array, receivedAt: Instant) => Effect.Effect<ReadonlyArray<InboundItem>, UnreadablePost>
}

export const ProviderWebhook = Context.Reference<ProviderWebhook | undefined>("@wac/core/ProviderWebhook", {
  defaultValue: () => undefined
})
