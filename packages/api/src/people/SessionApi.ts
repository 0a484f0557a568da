/**
 * `/internal/session` and `/internal/setup` (contract §5 and §6).
 */
import { Member, Password, PlainText, Workspace } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anybody, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { always, asking, reading, writing } from "../ErrorBody.ts"
import { noQuery } from "../Lists.ts"
import { SignsIn } from "../Traits.ts"

/** Who is signed in, where, and as what. */
export const Session = Schema.Struct({
  userId: Schema.String,
  email: Schema.String,
  role: Member.Role,
  workspaceId: Schema.String,
  workspaceName: Schema.String
}).annotate({ identifier: "Session" })

/** An address that somebody can be reached at. */
export const Email = PlainText.between(3, 254).check(
  Schema.isPattern(/^[^\s@]+@[^\s@]+$/u, { message: "must be an e-mail address" })
)

/** What a person signs in with. */
export const SignIn = Schema.Struct({
  email: PlainText.between(1, 254),
  // no rule on what a password looks like here: a wrong one is a wrong one
  password: Schema.RedactedFromValue(PlainText.between(1, 256))
}).annotate({ identifier: "SignIn" })

/** What the first workspace and its owner are made of; the token is that of the link which the log shows. */
export const SetUp = Schema.Struct({
  token: Schema.RedactedFromValue(PlainText.between(1, 256)),
  email: Email,
  password: Password.Password,
  workspaceName: PlainText.trimmed(Workspace.maxNameLength)
}).annotate({ identifier: "SetUp" })

/** How people sign in. */
export const SignInMethod = Schema.Struct({
  method: Schema.Literals(["password", "oidc"]).annotate({
    description: "`oidc`: open `/internal/oidc/sign-in` in the browser"
  })
}).annotate({ identifier: "SignInMethod" })

/** `/internal/sign-in`: how people sign in at this server. */
export class SignInMethodApi extends HttpApiGroup.make("signInMethod").add(
  HttpApiEndpoint.get("get", "/internal/sign-in", { success: SignInMethod, error: always })
    .annotate(Access, anybody).annotateMerge(
      OpenApi.annotations({ summary: "How people sign in", description: "By password, or at an issuer." })
    )
).annotateMerge(
  OpenApi.annotations({ title: "Ways to sign in (dashboard)", description: "Which of them there is." })
) {}

/** Signing in and out, and the first owner. Answers that sign somebody in set the session's cookie. */
export class SignInApi extends HttpApiGroup.make("signIn").add(
  HttpApiEndpoint.post("signIn", "/internal/session", { payload: SignIn, success: Session, error: writing })
    .annotate(Access, anybody).annotate(Audited, "session.sign_in").annotate(SignsIn, true).annotateMerge(
      OpenApi.annotations({
        summary: "Sign in",
        description: "Sets the session's cookie. Failures are limited per account and per address."
      })
    ),
  HttpApiEndpoint.post("setUp", "/internal/setup", {
    payload: SetUp,
    success: Session.pipe(HttpApiSchema.status(201)),
    error: asking
  }).annotate(Access, anybody).annotate(Audited, "workspace.set_up").annotate(SignsIn, true).annotateMerge(
    OpenApi.annotations({
      summary: "Set up the first workspace",
      description:
        "Takes the one-time token of the link in the log, creates workspace and owner, and signs the owner in."
    })
  )
).annotateMerge(
  OpenApi.annotations({ title: "Sign-in (dashboard)", description: "Signing in, and the first owner." })
) {}

export class SessionApi extends HttpApiGroup.make("session").add(
  HttpApiEndpoint.get("get", "/internal/session", { query: noQuery, success: Session, error: reading })
    .annotate(Access, session("member")).annotateMerge(
      OpenApi.annotations({ summary: "Who is signed in", description: "The session that the cookie belongs to." })
    ),
  HttpApiEndpoint.delete("signOut", "/internal/session", {
    query: noQuery,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("member")).annotate(Audited, "session.sign_out").annotateMerge(
    OpenApi.annotations({ summary: "Sign out", description: "Ends the session and removes its cookie." })
  )
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Session (dashboard)", description: "The session under way." })
) {}
