/**
 * The relying party of passkeys: the service under the domain name that the browser of a request uses.
 */
import { Errors, Passkey } from "@wac/core"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { IsGiven, PublicUrl } from "../PublicUrl.ts"

/**
 * Returns the effect that finds the relying party of a request, whose `Origin` must have been checked (`CrossSite`). It
 * fails with `not_found` if the service has no domain name there.
 */
export const make = Effect.gen(function*() {
  const publicUrl = yield* PublicUrl
  const isGiven = yield* IsGiven
  return Effect.gen(function*() {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const party = Passkey.relyingPartyOf({ publicUrl, isGiven, origin: headers["origin"] })
    return party ?? (yield* new Errors.NotFound({
      message:
        "passkeys need a domain name: the operator configures the service's public address, or open it at localhost"
    }))
  })
})
