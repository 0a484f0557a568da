/**
 * `GET|POST /providers/<name>/webhook`: the provider's posts (contract §8). There is no session, API key or rate limit:
 * the provider signs its posts, and repeats a post until the response is 200.
 */
import { Errors, InboundPosts, ProviderWebhook, StoreError } from "@wac/core"
import { ByteSize, Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as BodyRoom from "../bodies/BodyRoom.ts"
import * as ErrorResponse from "../ErrorResponse.ts"

/** The path to which a provider posts. */
export const path = (webhook: ProviderWebhook.ProviderWebhook): `/${string}` => `/providers/${webhook.name}/webhook`

/** The methods of the route: a GET is the handshake, a POST delivers reports. */
export const methods = ["GET", "POST"] as const

/** A provider post has up to 3 MiB. */
const maxSize = ByteSize.mebibytes(4)

const shakeHands = (webhook: ProviderWebhook.ProviderWebhook, { url }: HttpServerRequest.HttpServerRequest) => {
  const query = new URLSearchParams(url.split("?").slice(1).join("?"))
  const answer = webhook.handshake(Object.fromEntries(query))
  return answer === undefined
    ? ErrorResponse.of(
      new Errors.Forbidden({
        reason: "failed_handshake",
        message: "the handshake failed: this is not a valid verification request with the configured verify token"
      })
    )
    : Effect.succeed(HttpServerResponse.text(answer))
}

export const layer = HttpRouter.use((router) =>
  Effect.gen(function*() {
    const webhook = yield* ProviderWebhook.ProviderWebhook
    const posts = yield* InboundPosts.InboundPosts
    const room = yield* BodyRoom.make
    if (webhook === undefined) return
    yield* router.add(
      "GET",
      path(webhook),
      Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => shakeHands(webhook, request))
    )
    yield* router.add(
      "POST",
      path(webhook),
      Effect.gen(function*() {
        const request = yield* HttpServerRequest.HttpServerRequest
        yield* room.hold(
          request,
          maxSize,
          (body) => StoreError.orUnavailable(posts.receive(webhook, body, (name) => request.headers[name]))
        )
        return HttpServerResponse.empty({ status: 200 })
      }).pipe(Effect.catch(ErrorResponse.of))
    )
  })
)
