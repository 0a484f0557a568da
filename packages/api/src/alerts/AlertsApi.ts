/**
 * `/internal/alerts` (contract §12 *Alerts*).
 */
import { Alert as Core } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading, writing } from "../ErrorBody.ts"
import { internalListOf, noQuery, pageQuery } from "../Lists.ts"
import { Email } from "../people/SessionApi.ts"
import { Timestamp } from "../Timestamp.ts"
import { IsPaged } from "../Traits.ts"
import { Url } from "../webhooks/WebhookApi.ts"

/** Something that is, or was, the matter. */
export const Alert = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literals(Core.kinds),
  subject: Schema.String.annotate({ description: "The id of what it is about, or the month of a quota" }),
  message: Schema.String.annotate({ description: "For people" }),
  openedAt: Timestamp,
  closedAt: Schema.NullOr(Timestamp).annotate({ description: "null as long as it lasts" })
}).annotate({ identifier: "Alert" })

/** Who is told of alerts, beside the dashboard. */
export const AlertSettings = Schema.Struct({
  emails: Schema.Array(Email).check(Schema.isMaxLength(Core.maxEmails)).annotate({
    description: "Mailed, where mail is set up"
  }),
  url: Schema.NullOr(Url).annotate({
    description: "Where alerts are posted, signed with the webhook's secret as events are; null for nowhere"
  })
}).annotate({ identifier: "AlertSettings" })

export class AlertsApi extends HttpApiGroup.make("alerts").add(
  HttpApiEndpoint.get("list", "/internal/alerts", {
    query: {
      open: Schema.optionalKey(Schema.Boolean.annotate({ description: "Only those that go on" })),
      ...pageQuery
    },
    success: internalListOf(Alert),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List alerts",
    description: "Newest first. A matter is noticed within about a minute, and has one alert as long as it lasts."
  })),
  HttpApiEndpoint.get("settings", "/internal/alerts/settings", {
    query: noQuery,
    success: AlertSettings,
    error: reading
  }).annotate(Access, session("admin")).annotateMerge(
    OpenApi.annotations({ summary: "Get who is told of alerts", description: "Beside the dashboard." })
  ),
  HttpApiEndpoint.put("configure", "/internal/alerts/settings", {
    payload: AlertSettings,
    success: AlertSettings,
    error: writing
  }).annotate(Access, session("admin")).annotate(Audited, "alert_settings.change").annotateMerge(OpenApi.annotations({
    summary: "Set who is told of alerts",
    description: "One mail and one post when a matter begins, and one when it is over."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Alerts (dashboard)", description: "What a person should look at." })
) {}
