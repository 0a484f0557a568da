/**
 * `/internal/workspaces`, `/internal/sessions` and `/internal/password` (contract §12 *Members*): a person's own
 * account.
 */
import { Member, Password, PlainText } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anybody, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { ChallengesFactor, ChecksCode, ChecksPasskey, ChecksSecret, NamesThing } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, noQuery } from "../Lists.ts"
import { byId } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"
import { Code } from "./FactorApi.ts"
import { PasskeyAssertion } from "./PasskeyApi.ts"
import { Session } from "./SessionApi.ts"

export const OwnWorkspace = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  role: Member.Role,
  isCurrent: Schema.Boolean.annotate({ description: "Whether the session is in this workspace" })
}).annotate({ identifier: "OwnWorkspace", description: "A workspace that the person is a member of." }).pipe(
  Example.shown({
    id: ExampleValues.workspace,
    name: Example.of(Session).workspaceName,
    role: "owner",
    isCurrent: true
  })
)

export const SwitchWorkspace = Schema.Struct({ workspaceId: PlainText.between(1, 64) }).annotate({
  identifier: "SwitchWorkspace",
  description: "The workspace to switch to."
}).pipe(Example.shown({ workspaceId: ExampleValues.workspace }))

export const ConfirmSession = Schema.Struct({
  password: Schema.optionalKey(Schema.RedactedFromValue(PlainText.between(1, 256))),
  code: Schema.optionalKey(Code),
  credential: Schema.optionalKey(PasskeyAssertion)
}).annotate({
  identifier: "ConfirmSession",
  description:
    "One proof that the person is present: their password, a code of their second factor, or a passkey that has signed " +
    "the challenge of `PUT /internal/session/confirm/options`."
}).pipe(Example.shown({ password: ExampleValues.password }))

export const OwnSession = Schema.Struct({
  id: Schema.String,
  createdAt: Timestamp,
  expiresAt: Timestamp.annotateKey({ description: "The latest end; an unused session ends earlier" }),
  address: Schema.NullOr(Schema.String).annotate({ description: "The address from which the session was opened" }),
  agent: Schema.NullOr(Schema.String).annotate({ description: "The browser with which the session was opened" }),
  isCurrent: Schema.Boolean
}).annotate({ identifier: "OwnSession", description: "A session of the person." }).pipe(Example.shown({
  id: "ses_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
  createdAt: ExampleValues.times.start,
  expiresAt: ExampleValues.times.nextWeek,
  address: ExampleValues.address,
  agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
  isCurrent: true
}))

export const ChangePassword = Schema.Struct({
  current: Schema.RedactedFromValue(PlainText.between(1, 256)),
  new: Password.Password
}).annotate({ identifier: "ChangePassword", description: "The current and the new password." }).pipe(
  Example.shown({ current: ExampleValues.password, new: "another horse battery" })
)

export const RequestPasswordReset = Schema.Struct({ email: PlainText.between(1, 254) }).annotate({
  identifier: "RequestPasswordReset",
  description: "The account whose password is to be reset."
}).pipe(Example.shown({ email: ExampleValues.person.email }))

export const ResetPassword = Schema.Struct({
  token: Schema.RedactedFromValue(PlainText.between(1, 256)),
  password: Password.Password
}).annotate({ identifier: "ResetPassword", description: "The token of a reset link, and the new password." }).pipe(
  Example.shown({ token: "…", password: "another horse battery" })
)

export class AccountApi extends HttpApiGroup.make("account").add(
  HttpApiEndpoint.get("workspaces", "/internal/workspaces", {
    query: noQuery,
    success: internalListOf(OwnWorkspace),
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "List your workspaces",
    description: "All workspaces that you are a member of, in the order in which you joined them."
  })),
  HttpApiEndpoint.post("switchWorkspace", "/internal/session/workspace", {
    payload: SwitchWorkspace,
    success: Session,
    error: writing
  }).annotate(Access, session("member")).annotate(Audited, "session.switch").annotate(NamesThing, true).annotateMerge(
    OpenApi.annotations({
      summary: "Switch to another of your workspaces",
      description: "The session continues in that workspace, with your role there."
    })
  ),
  HttpApiEndpoint.post("confirmSession", "/internal/session/confirm", {
    payload: ConfirmSession,
    success: HttpApiSchema.NoContent,
    error: writing
  }).annotate(Access, session("member")).annotate(Audited, null).annotate(ChecksSecret, true).annotate(ChecksCode, true)
    .annotate(ChecksPasskey, true).annotate(ChallengesFactor, true).annotateMerge(
      OpenApi.annotations({
        summary: "Confirm that you are present",
        description:
          "By your password or, if your second factor is on, by a code or a passkey. For 10 minutes, the session is fresh again, as " +
          "after a sign-in, and its cookie is replaced. Wrong proofs are limited per session."
      })
    ),
  HttpApiEndpoint.get("sessions", "/internal/sessions", {
    query: noQuery,
    success: internalListOf(OwnSession),
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "List your sessions",
    description: "All current sessions, newest first."
  })),
  HttpApiEndpoint.delete("endSession", "/internal/sessions/:id", {
    params: byId,
    query: noQuery,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("member")).annotate(Audited, "session.end").annotateMerge(OpenApi.annotations({
    summary: "End one of your sessions",
    description: "Takes effect immediately."
  })),
  HttpApiEndpoint.delete("endOtherSessions", "/internal/sessions", {
    query: noQuery,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("member")).annotate(Audited, "session.end_all").annotateMerge(OpenApi.annotations({
    summary: "End all of your other sessions",
    description: "Takes effect immediately. The session of the request stays."
  })),
  HttpApiEndpoint.put("changePassword", "/internal/password", {
    payload: ChangePassword,
    success: HttpApiSchema.NoContent,
    error: writing
  }).annotate(Access, session("member")).annotate(Audited, "password.change").annotate(ChecksSecret, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Change your password",
      description:
        "Ends your other sessions, and replaces the cookie of this one. Wrong passwords are limited per session."
    }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Account (dashboard)", description: "Your own workspaces, sessions and password." })
) {}

export class PasswordResetApi extends HttpApiGroup.make("passwordReset").add(
  HttpApiEndpoint.post("request", "/internal/password/reset-request", {
    payload: RequestPasswordReset,
    success: HttpApiSchema.Empty(202),
    error: writing
  }).annotate(Access, anybody).annotate(Audited, null).annotate(ChecksSecret, true).annotateMerge(OpenApi.annotations({
    summary: "Request a link that resets a password",
    description:
      "Mails the link if the account exists; the response does not reveal it. 404 if the service sends no mail."
  })),
  HttpApiEndpoint.post("reset", "/internal/password/reset", {
    payload: ResetPassword,
    success: HttpApiSchema.NoContent,
    error: writing
  }).annotate(Access, anybody).annotate(Audited, "password.reset").annotate(ChecksSecret, true).annotateMerge(
    OpenApi.annotations({
      summary: "Reset a password",
      description: "Requires the token of the link, which works once, within an hour. Ends all sessions of the account."
    })
  )
).annotateMerge(
  OpenApi.annotations({ title: "Password reset (dashboard)", description: "Choose a new password with a link." })
) {}
