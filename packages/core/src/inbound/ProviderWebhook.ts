/**
 * Port: a provider's webhook, which receives the provider's posts at `/providers/<name>/webhook`. A provider that
 * reports in another way, such as the sandbox, has none.
 */
import { Context, type Effect, Schema } from "effect"
import type { Instant } from "../Time.ts"
import type { InboundItem } from "./InboundItem.ts"

/** A signed post that is not valid for the provider: not JSON, or of an unexpected shape. */
export class UnreadablePost extends Schema.TaggedError<UnreadablePost>()("UnreadablePost", {
  /** The fault, without quoting the content. */
  message: Schema.String
}) {}

/** How the service verifies and reads the posts of one provider. */
export interface ProviderWebhook {
  /** The provider's part of the webhook's address, in lower-case letters. */
  readonly name: string
  /**
   * Checks the unsigned GET with which the provider verifies who owns the address. Returns the response body, or
   * `undefined` if the handshake fails.
   */
  readonly handshake: (query: { readonly [name: string]: string }) => string | undefined
  /** Whether the provider signed these bytes. Header names are in lower case. */
  readonly verify: (body: Uint8Array, header: (name: string) => string | undefined) => Effect.Effect<boolean>
  /**
   * The items of a post, in its order; an item without a time gets the time the post arrived. The result is the same
   * however late or often the post is read. An unknown item is `Skipped`, never a failure, so that a new kind of item
   * does not block the others in its post.
   */
  readonly read: (body: Uint8Array, receivedAt: Instant) => Effect.Effect<ReadonlyArray<InboundItem>, UnreadablePost>
}

/** The webhook of the provider in use; `undefined` if the provider has none. */
export const ProviderWebhook = Context.Reference<ProviderWebhook | undefined>("@wac/core/ProviderWebhook", {
  defaultValue: () => undefined
})
