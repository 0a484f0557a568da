/**
 * `/internal/workspaces`, `/internal/sessions` and `/internal/password` (contract §12 *Members*): a person's own account.
 */
import { Member, Password, PlainText } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anybody, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { reading, writing } from "../ErrorBody.ts"
import { internalListOf, noQuery } from "../Lists.ts"
import { byId } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"
import { ChecksSecret, NamesThing } from "../Traits.ts"
import { Session } from "./SessionApi.ts"

/** A workspace of the person's. */
export const OwnWorkspace = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  role: Member.Role,
  isCurrent: Schema.Boolean.annotate({ description: "Whether the session is in it" })
}).annotate({ identifier: "OwnWorkspace" })

/** Which workspace the session moves to. */
export const SwitchWorkspace = Schema.Struct({ workspaceId: PlainText.between(1, 64) }).annotate({
  identifier: "SwitchWorkspace"
})

/** A session of the person's. */
export const OwnSession = Schema.Struct({
  id: Schema.String,
  createdAt: Timestamp,
  expiresAt: Timestamp.annotate({ description: "At the latest; earlier if it is not used" }),
  address: Schema.NullOr(Schema.String).annotate({ description: "The address that it was opened from" }),
  agent: Schema.NullOr(Schema.String).annotate({ description: "The browser that it was opened with" }),
  isCurrent: Schema.Boolean
}).annotate({ identifier: "OwnSession" })

/** The present password and the next. */
export const ChangePassword = Schema.Struct({
  current: Schema.RedactedFromValue(PlainText.between(1, 256)),
  new: Password.Password
}).annotate({ identifier: "ChangePassword" })

/** Whose password is to be reset. */
export const RequestPasswordReset = Schema.Struct({ email: PlainText.between(1, 254) }).annotate({
  identifier: "RequestPasswordReset"
})

/** The token of a link, and the next password. */
export const ResetPassword = Schema.Struct({
  token: Schema.RedactedFromValue(PlainText.between(1, 256)),
  password: Password.Password
}).annotate({ identifier: "ResetPassword" })

export class AccountApi extends HttpApiGroup.make("account").add(
  HttpApiEndpoint.get("workspaces", "/internal/workspaces", {
    query: noQuery,
    success: internalListOf(OwnWorkspace),
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "List your workspaces",
    description: "All that you are a member of, the one that you joined first at the beginning."
  })),
  HttpApiEndpoint.post("switchWorkspace", "/internal/session/workspace", {
    payload: SwitchWorkspace,
    success: Session,
    error: writing
  }).annotate(Access, session("member")).annotate(Audited, "session.switch").annotate(NamesThing, true).annotateMerge(
    OpenApi.annotations({
      summary: "Switch to another of your workspaces",
      description: "The session stays the same; from now on it is in that workspace, with your role there."
    })
  ),
  HttpApiEndpoint.get("sessions", "/internal/sessions", {
    query: noQuery,
    success: internalListOf(OwnSession),
    error: reading
  }).annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
    summary: "List your sessions",
    description: "Those that are live, newest first."
  })),
  HttpApiEndpoint.delete("endSession", "/internal/sessions/:id", {
    params: byId,
    query: noQuery,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("member")).annotate(Audited, "session.end").annotateMerge(OpenApi.annotations({
    summary: "End one of your sessions",
    description: "Effective at once."
  })),
  HttpApiEndpoint.put("changePassword", "/internal/password", {
    payload: ChangePassword,
    success: HttpApiSchema.NoContent,
    error: writing
  }).annotate(Access, session("member")).annotate(Audited, "password.change").annotate(ChecksSecret, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Change your password",
      description: "Ends your other sessions. Wrong passwords are limited per account."
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
    summary: "Ask for a link that resets a password",
    description:
      "Mails it, if there is such an account; the response does not tell. 404 where the service sends no mail."
  })),
  HttpApiEndpoint.post("reset", "/internal/password/reset", {
    payload: ResetPassword,
    success: HttpApiSchema.NoContent,
    error: writing
  }).annotate(Access, anybody).annotate(Audited, "password.reset").annotate(ChecksSecret, true).annotateMerge(
    OpenApi.annotations({
      summary: "Reset a password",
      description: "With the token of the link, which is good for an hour and once. Ends all sessions of the account."
    })
  )
).annotateMerge(
  OpenApi.annotations({ title: "Password reset (dashboard)", description: "Choosing another password by a link." })
) {}
