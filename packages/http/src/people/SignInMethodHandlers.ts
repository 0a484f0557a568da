/**
 * The handler of `/internal/sign-in`: the method by which people sign in at this server.
 */
import { Api } from "@wac/api"
import { Issuer } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const issuer = yield* Issuer.CurrentIssuer
    const method = issuer === undefined ? "password" as const : "oidc" as const
    return HttpApiBuilder.group(
      Api,
      "signInMethod",
      (handlers) => handlers.handleAll({ get: () => Effect.succeed({ method }) })
    )
  })
)
