/**
 * The service as the browser of a request knows it: passkeys are bound to its domain name.
 */
import { Errors, Passkey } from "@wac/core"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { IsGiven, PublicUrl } from "../PublicUrl.ts"

/** Makes the effect that finds it, within a request whose `Origin` was checked (`CrossSite`). */
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
