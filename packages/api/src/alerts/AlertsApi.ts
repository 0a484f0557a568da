/**
 * `/internal/alerts` (contract §12 *Alerts*): problems that a person should look at, and who is notified of them.
 */
import { Alert as Core, EmailAddress } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, NeedsFreshSession, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { IsPaged } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, noQuery, pageQuery } from "../Lists.ts"
import { Timestamp } from "../Timestamp.ts"
import { Url } from "../webhooks/WebhookApi.ts"

export const Alert = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(Core.kinds).annotate({ identifier: "AlertKind", description: "The kinds of alerts." }),
  subject: Schema.String.annotate({ description: "The id of what it is about, or the month of a quota" }),
  message: Schema.String.annotate({ description: "For people" }),
  openedAt: Timestamp,
  closedAt: Schema.NullOr(Timestamp).annotate({ description: "`null` as long as it lasts" })
}).annotate({ identifier: "Alert", description: "A problem that a person should look at, current or past." }).pipe(
  Example.shown({
    id: "alr_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
    kind: "quota_high",
    subject: "2026-01",
    message: "8000 of 10000 messages of this month are used.",
    openedAt: "2026-01-22T03:04:05.678Z",
    closedAt: null
  })
)

export const AlertSettings = Schema.Struct({
  emails: Schema.Array(EmailAddress.EmailAddress).check(Schema.isMaxLength(Core.maxEmails)).annotate({
    description: `Addresses that get a mail, if mail is set up; at most ${Core.maxEmails}`
  }),
  url: Schema.NullOr(Url).annotate({
    description: "The URL to which alerts are posted, signed with the webhook's secret like events; `null` for none"
  })
}).annotate({ identifier: "AlertSettings", description: "The recipients of alerts besides the dashboard." }).pipe(
  Example.shown({ emails: [ExampleValues.person.email], url: "https://alerts.example.com/wac" })
)

const query = Schema.Struct({
  open: Schema.optionalKey(Schema.Boolean.annotate({ description: "Only alerts that are still open" })),
  ...pageQuery
}).annotate({ identifier: "AlertQuery", description: "The filters of the list of alerts." })

export class AlertsApi extends HttpApiGroup.make("alerts").add(
  HttpApiEndpoint.get("list", "/internal/alerts", {
    query,
    success: internalListOf(Alert),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List alerts",
    description: "Newest first. A problem is noticed within about a minute, and has one alert while it lasts."
  })),
  HttpApiEndpoint.get("settings", "/internal/alerts/settings", {
    query: noQuery,
    success: AlertSettings,
    error: reading
  }).annotate(Access, session("admin")).annotateMerge(
    OpenApi.annotations({ summary: "Get the recipients of alerts", description: "Besides the dashboard." })
  ),
  HttpApiEndpoint.put("configure", "/internal/alerts/settings", {
    payload: AlertSettings,
    success: AlertSettings,
    error: writing
  }).annotate(Access, session("admin")).annotate(Audited, "alert_settings.change").annotate(NeedsFreshSession, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Set the recipients of alerts",
      description: "They get one mail and one post when a problem begins, and one when it is over."
    }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Alerts (dashboard)", description: "Problems that a person should look at." })
) {}
