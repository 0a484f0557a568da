/**
 * Records what a person or an API key changed with a request, once the request succeeded (contract §12 *Audit*), and
 * notifies the people whom it concerns (contract §17).
 */
import { Audited } from "@wac/api"
import { Audit, Notices } from "@wac/core"
import { Context, Effect, Option } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { Exchange } from "../Exchange.ts"

/** The value of `:id` in a path. */
const idIn = ({ path }: HttpApiEndpoint.Top, url: string): string | undefined => {
  const place = path.split("/").indexOf(":id")
  const segment = place === -1 ? undefined : url.split("?", 1)[0]!.split("/")[place]
  return segment === undefined ? undefined : decodeURIComponent(segment)
}

/** Returns the function that records a completed request to an endpoint, and notifies of it. */
export const make = Effect.map(
  Effect.all([Audit.Audit, Notices.Notices]),
  ([audit, notices]) =>
    Effect.fnUntraced(function*(endpoint: HttpApiEndpoint.Top, response: HttpServerResponse.HttpServerResponse) {
      const action = Context.getOrUndefined(endpoint.annotations, Audited.Audited) ?? null
      const { actors, changed, isReplayed, ownId } = yield* Exchange
      if (action === null || isReplayed || response.status >= 400 || actors.length === 0) return
      const { remoteAddress, url } = yield* HttpServerRequest.HttpServerRequest
      const change = {
        action,
        target: changed.target ?? idIn(endpoint, url),
        detail: changed.detail,
        address: Option.getOrUndefined(remoteAddress),
        requestId: ownId
      }
      yield* audit.record(actors, change)
      yield* notices.ofChange(actors, change)
    })
)
