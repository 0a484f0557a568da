/**
 * What an endpoint is like beyond its schemas and beyond who may call it: annotations, read by the server, by the OpenAPI
 * document and by tests, so that nothing is guessed from an endpoint's name.
 */
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Access } from "./Access.ts"

/** Its requests must bring an Idempotency-Key, whose syntax is checked before the body is looked into. */
export const NeedsIdempotencyKey = Context.Reference<boolean>("@wac/api/Traits/NeedsIdempotencyKey", {
  defaultValue: () => false
})

/**
 * It sends: *accept* spends the workspace's token together with the limits of the number and the recipient, so
 * authentication spends none before it.
 */
export const Sends = Context.Reference<boolean>("@wac/api/Traits/Sends", { defaultValue: () => false })

/** It signs somebody in: its answer sets the session's cookie, and failures are limited per account and address. */
export const SignsIn = Context.Reference<boolean>("@wac/api/Traits/SignsIn", { defaultValue: () => false })

/** It takes a password or a one-time token, or is limited like one that does; failures are limited as in signing in. */
export const ChecksSecret = Context.Reference<boolean>("@wac/api/Traits/ChecksSecret", { defaultValue: () => false })

/** It is a list that is read page by page: `limit` and `cursor`. */
export const IsPaged = Context.Reference<boolean>("@wac/api/Traits/IsPaged", { defaultValue: () => false })

/** It answers 404 while the workspace has no webhook. */
export const NeedsWebhook = Context.Reference<boolean>("@wac/api/Traits/NeedsWebhook", { defaultValue: () => false })

/** Its body names a thing of the caller's by id: 404 for one that is not theirs. */
export const NamesThing = Context.Reference<boolean>("@wac/api/Traits/NamesThing", { defaultValue: () => false })

/** Its response goes on for as long as its caller listens. */
export const Streams = Context.Reference<boolean>("@wac/api/Traits/Streams", { defaultValue: () => false })

/** Whether it changes something. */
export const mutates = ({ method }: HttpApiEndpoint.Top): boolean => method !== "GET"

/** Whether its requests can be signed (specification §5): those of API keys that change something. */
export const takesSignature = (endpoint: HttpApiEndpoint.Top): boolean =>
  mutates(endpoint) && Context.getOrUndefined(endpoint.annotations, Access)?._tag === "ApiKey"

/** Whether an endpoint has a trait. */
export const has = (endpoint: HttpApiEndpoint.Top, trait: Context.Reference<boolean>): boolean =>
  Context.get(endpoint.annotations, trait)
