/**
 * `/internal/portal` (contract §12): a host's link opens a session in its customer's browser.
 */
import { PlainText } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, anybody } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SignsIn } from "../EndpointAnnotations.ts"
import { writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import { Session } from "./SessionApi.ts"

export const OpenPortal = Schema.Struct({ token: Schema.RedactedFromValue(PlainText.between(1, 256)) }).annotate({
  identifier: "OpenPortal",
  description: "The token of a host's link."
}).pipe(Example.shown({ token: "…" }))

/** The header that marks a request of a portal page; its value is the page's workspace. */
export const header = "wac-portal"

export class PortalApi extends HttpApiGroup.make("portal").add(
  HttpApiEndpoint.post("open", "/internal/portal", { payload: OpenPortal, success: Session, error: writing })
    .annotate(Access, anybody).annotate(Audited, "portal.open").annotate(SignsIn, true).annotateMerge(
      OpenApi.annotations({
        summary: "Open the portal",
        description: "Accepts the token of a host's link once, and sets the cookie of a session that lasts an hour: " +
          "`__Host-wac_portal`, valid only for requests with the header `wac-portal: <workspace id>`. The session gives " +
          "access to API keys, the webhook, deliveries and replays of that workspace. Failures are limited per address."
      })
    )
).annotateMerge(
  OpenApi.annotations({ title: "Portal (dashboard)", description: "The pages for a host's customers." })
) {}
