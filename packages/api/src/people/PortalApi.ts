/**
 * `/internal/portal` (contract §12): a link of the host becomes a session in its customer's browser.
 */
import { PlainText } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anybody } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { writing } from "../ErrorBody.ts"
import { SignsIn } from "../Traits.ts"
import { Session } from "./SessionApi.ts"

/** What opening the portal takes. */
export const OpenPortal = Schema.Struct({ token: Schema.RedactedFromValue(PlainText.between(1, 256)) }).annotate({
  identifier: "OpenPortal"
})

/** The header by which a page of the portal says so: the workspace that it shows. */
export const header = "wac-portal"

export class PortalApi extends HttpApiGroup.make("portal").add(
  HttpApiEndpoint.post("open", "/internal/portal", { payload: OpenPortal, success: Session, error: writing })
    .annotate(Access, anybody).annotate(Audited, "portal.open").annotate(SignsIn, true).annotateMerge(
      OpenApi.annotations({
        summary: "Open the portal",
        description:
          "Takes the token of a link that the host made, once, and sets the cookie of a session of an hour: " +
          "`__Host-wac_portal`, for requests with the header `wac-portal: <workspace id>` alone. The session opens " +
          "API keys, the webhook, deliveries and replays of that workspace. Failures are limited per address."
      })
    )
).annotateMerge(
  OpenApi.annotations({ title: "Portal (dashboard)", description: "What the customers of a host see." })
) {}
