/**
 * Annotations of endpoints: what their schemas and access do not express. The server, the OpenAPI document and tests
 * read them, so that nothing is guessed from an endpoint's name.
 */
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Access } from "./Access.ts"

/** Requests require an Idempotency-Key, whose syntax is checked before the body is read. */
export const NeedsIdempotencyKey = Context.Reference<boolean>("@wac/api/EndpointAnnotations/NeedsIdempotencyKey", {
  defaultValue: () => false
})

/**
 * The operation itself binds the key in its own step, as sends do, so its answer is not kept beside it (contract §14).
 */
export const BindsIdempotencyKey = Context.Reference<boolean>("@wac/api/EndpointAnnotations/BindsIdempotencyKey", {
  defaultValue: () => false
})

/**
 * The operation can be done again without further effect, because its parts bind keys of their own. Its answer is kept;
 * if the first request ended without an answer, a repetition does the operation again.
 */
export const IsRepeatable = Context.Reference<boolean>("@wac/api/EndpointAnnotations/IsRepeatable", {
  defaultValue: () => false
})

/** The fields of the response that are secrets: only the first response shows them, not a repetition under its key. */
export const ShownOnce = Context.Reference<ReadonlyArray<string>>("@wac/api/EndpointAnnotations/ShownOnce", {
  defaultValue: () => []
})

/**
 * The endpoint sends a message: *accept* spends the workspace's token together with the limits of the number and the
 * recipient, so authentication does not spend one.
 */
export const Sends = Context.Reference<boolean>("@wac/api/EndpointAnnotations/Sends", { defaultValue: () => false })

/**
 * The endpoint signs a person in: the response sets the session's cookie; failures are limited per account and address.
 */
export const SignsIn = Context.Reference<boolean>("@wac/api/EndpointAnnotations/SignsIn", { defaultValue: () => false })

/**
 * The endpoint checks a password or a one-time token, or is limited as if it did; failures are limited as in signing
 * in.
 */
export const ChecksSecret = Context.Reference<boolean>("@wac/api/EndpointAnnotations/ChecksSecret", {
  defaultValue: () => false
})

/** The endpoint checks a code of a second factor. */
export const ChecksCode = Context.Reference<boolean>("@wac/api/EndpointAnnotations/ChecksCode", {
  defaultValue: () => false
})

/** The endpoint checks a passkey of a second factor. */
export const ChecksPasskey = Context.Reference<boolean>("@wac/api/EndpointAnnotations/ChecksPasskey", {
  defaultValue: () => false
})

/** The body contains the challenge of a second factor, which may have expired. */
export const ChallengesFactor = Context.Reference<boolean>("@wac/api/EndpointAnnotations/ChallengesFactor", {
  defaultValue: () => false
})

/** The endpoint refuses a right password with a challenge if the person has a second factor. */
export const DemandsFactor = Context.Reference<boolean>("@wac/api/EndpointAnnotations/DemandsFactor", {
  defaultValue: () => false
})

/** The endpoint refuses people who are not a member of any workspace. */
export const NeedsMembership = Context.Reference<boolean>("@wac/api/EndpointAnnotations/NeedsMembership", {
  defaultValue: () => false
})

/** The endpoint is a list that is read page by page: `limit` and `cursor`. */
export const IsPaged = Context.Reference<boolean>("@wac/api/EndpointAnnotations/IsPaged", { defaultValue: () => false })

/** The endpoint returns 404 while the workspace has no webhook. */
export const NeedsWebhook = Context.Reference<boolean>("@wac/api/EndpointAnnotations/NeedsWebhook", {
  defaultValue: () => false
})

/** The body refers to a resource by id; the response is 404 if the resource does not belong to the caller. */
export const NamesThing = Context.Reference<boolean>("@wac/api/EndpointAnnotations/NamesThing", {
  defaultValue: () => false
})

/** The endpoint makes, shows or changes campaigns, so their status and, for a key, its numbers may forbid it. */
export const ActsOnCampaign = Context.Reference<boolean>("@wac/api/EndpointAnnotations/ActsOnCampaign", {
  defaultValue: () => false
})

/** The response continues until the caller disconnects. */
export const Streams = Context.Reference<boolean>("@wac/api/EndpointAnnotations/Streams", { defaultValue: () => false })

/** The media types of a body that is a file, which the handler reads as a stream; empty if the body is not a file. */
export const TakesFile = Context.Reference<ReadonlyArray<string>>("@wac/api/EndpointAnnotations/TakesFile", {
  defaultValue: () => []
})

/** The body may be left out, which is the same as `{}`. */
export const BodyIsOptional = Context.Reference<boolean>("@wac/api/EndpointAnnotations/BodyIsOptional", {
  defaultValue: () => false
})

/** The maximum size of a JSON body, in bytes, unless an endpoint has another one (contract §2). */
export const bodyLimit = 64 * 1024

/** The maximum size of a JSON body, in bytes (contract §2). */
export const BodyLimit = Context.Reference<number>("@wac/api/EndpointAnnotations/BodyLimit", {
  defaultValue: () => bodyLimit
})

/** The endpoint cancels a message, so the message's status may forbid it. */
export const CancelsMessage = Context.Reference<boolean>("@wac/api/EndpointAnnotations/CancelsMessage", {
  defaultValue: () => false
})

/** The body is one file, as `multipart/form-data`. It is streamed, and its signature is checked at its end. */
export const Uploads = Context.Reference<boolean>("@wac/api/EndpointAnnotations/Uploads", { defaultValue: () => false })

/** The response is a file of the workspace, which may have to be fetched from the provider first. */
export const ServesFile = Context.Reference<boolean>("@wac/api/EndpointAnnotations/ServesFile", {
  defaultValue: () => false
})

/**
 * Reasons with which the provider refuses a call of the endpoint, if it sends no message ({@link Sends} implies those of
 * sends).
 */
export const ProviderRefuses = Context.Reference<ReadonlyArray<string>>(
  "@wac/api/EndpointAnnotations/ProviderRefuses",
  { defaultValue: () => [] }
)

/** The reasons for which a provider refuses any call for a number: the number's state, a policy, too many calls. */
export const providerRefusals: ReadonlyArray<string> = ["sender_not_available", "provider_policy", "provider"]

/** Whether the endpoint changes something. */
export const mutates = ({ method }: HttpApiEndpoint.Top): boolean => method !== "GET"

/**
 * The use of an Idempotency-Key: the operation binds it, or the response is kept under it for 24 hours. Only POSTs take
 * a key, except POSTs that are public or check a secret: one-time tokens and passwords guard these, and nothing of a
 * password may be stored.
 */
export const useOfKey = (endpoint: HttpApiEndpoint.Top): "none" | "bound" | "kept" =>
  endpoint.method !== "POST" || Context.getOrUndefined(endpoint.annotations, Access)?._tag === "Public" ||
    has(endpoint, ChecksSecret)
    ? "none"
    : has(endpoint, BindsIdempotencyKey)
    ? "bound"
    : "kept"

/** Whether requests can be signed (specification §5): those with API keys that change something. */
export const takesSignature = (endpoint: HttpApiEndpoint.Top): boolean =>
  mutates(endpoint) && Context.getOrUndefined(endpoint.annotations, Access)?._tag === "ApiKey"

/** Whether an endpoint has an annotation. */
export const has = (
  endpoint: Pick<HttpApiEndpoint.Top, "annotations">,
  annotation: Context.Reference<boolean>
): boolean => Context.get(endpoint.annotations, annotation)
