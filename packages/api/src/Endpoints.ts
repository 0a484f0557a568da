/**
 * Every endpoint, by group.
 */
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"
import { AlertsApi } from "./alerts/AlertsApi.ts"
import { AuditApi } from "./audit/AuditApi.ts"
import { CampaignsApi, CampaignsDashboardApi } from "./campaigns/CampaignsApi.ts"
import { StreamApi } from "./changes/StreamApi.ts"
import { ContactsApi } from "./contacts/ContactsApi.ts"
import { OptOutsApi, SuppressionsApi } from "./contacts/OptOutsApi.ts"
import { EventsApi, EventsDashboardApi } from "./events/EventsApi.ts"
import { HealthApi } from "./HealthApi.ts"
import { ApiKeysApi } from "./keys/ApiKeysApi.ts"
import { MediaApi } from "./media/MediaApi.ts"
import { MessagesApi, MessagesDashboardApi } from "./messages/MessagesApi.ts"
import { PhoneNumbersApi } from "./numbers/PhoneNumbersApi.ts"
import { AccountApi, PasswordResetApi } from "./people/AccountApi.ts"
import { FactorApi, SignInFactorApi } from "./people/FactorApi.ts"
import { InvitationsApi, MembersApi } from "./people/MembersApi.ts"
import { PasskeyApi, SignInPasskeyApi } from "./people/PasskeyApi.ts"
import { PortalApi } from "./people/PortalApi.ts"
import { SessionApi, SignInApi, SignInMethodApi } from "./people/SessionApi.ts"
import { QueueApi } from "./queue/QueueApi.ts"
import { RequestsApi } from "./requests/RequestsApi.ts"
import { TemplatesApi, TemplatesDashboardApi } from "./templates/TemplatesApi.ts"
import { UsageApi } from "./usage/UsageApi.ts"
import { DeliveriesApi } from "./webhooks/DeliveriesApi.ts"
import { ReplaysApi } from "./webhooks/ReplaysApi.ts"
import { WebhookApi } from "./webhooks/WebhookApi.ts"

/** All groups of endpoints. A new group does not compile without handlers. */
export class Endpoints extends HttpApi.make("wac")
  .add(
    MessagesApi,
    MessagesDashboardApi,
    MediaApi,
    TemplatesApi,
    TemplatesDashboardApi,
    ApiKeysApi,
    SignInApi,
    SignInMethodApi,
    SignInFactorApi,
    SignInPasskeyApi,
    SessionApi,
    AccountApi,
    FactorApi,
    PasskeyApi,
    PasswordResetApi,
    MembersApi,
    InvitationsApi,
    PortalApi,
    PhoneNumbersApi,
    CampaignsApi,
    CampaignsDashboardApi,
    ContactsApi,
    OptOutsApi,
    SuppressionsApi,
    WebhookApi,
    DeliveriesApi,
    ReplaysApi,
    EventsApi,
    EventsDashboardApi,
    RequestsApi,
    AuditApi,
    AlertsApi,
    StreamApi,
    QueueApi,
    UsageApi,
    HealthApi
  )
{}

type Groups = (typeof Endpoints)["groups"][keyof (typeof Endpoints)["groups"]]

type IdIn<Group> = Group extends HttpApiGroup.Constraint
  ? `${HttpApiGroup.Identifier<Group>}.${HttpApiEndpoint.Identifier<HttpApiGroup.Endpoints<Group>>}`
  : never

/** The operation id of an endpoint, such as `messages.send`. */
export type OperationId = IdIn<Groups>

/** Each endpoint by its operation id. */
export const byOperation: ReadonlyMap<string, HttpApiEndpoint.Top> = new Map(
  Object.values(Endpoints.groups).flatMap((group) =>
    Object.values(group.endpoints).map((endpoint) => [`${group.identifier}.${endpoint.identifier}`, endpoint] as const)
  )
)
