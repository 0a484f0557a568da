/**
 * `/internal/session`, `/internal/sign-in` and `/internal/setup` (contract §5 and §6): how people sign in and out, and
 * create the first workspace.
 */
import { EmailAddress, Member, Password, PlainText, Workspace } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anybody, OpenToPortal, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { DemandsFactor, NeedsMembership, SignsIn } from "../EndpointAnnotations.ts"
import { always, reading, writing, writingProvider } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { noQuery } from "../Lists.ts"

export const Session = Schema.Struct({
  userId: Schema.String,
  email: Schema.String,
  role: Member.Role,
  workspaceId: Schema.String,
  workspaceName: Schema.String
}).annotate({ identifier: "Session", description: "The signed-in person, with the workspace and role." }).pipe(
  Example.shown({
    ...ExampleValues.person,
    role: "owner",
    workspaceId: ExampleValues.workspace,
    workspaceName: "Ana's flowers"
  })
)

/** The header by which a page says whose session it was loaded with; its value is {@link pageOf} that session. */
export const header = "wac-session"

/**
 * The workspace and the person of a session, as the value of {@link header}. A host's ids of people may have any
 * characters, which a header cannot hold.
 */
export const pageOf = (
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string }
): string => [workspaceId, userId].map(encodeURIComponent).join(" ")

export const SignIn = Schema.Struct({
  email: PlainText.between(1, 254),
  // no rule on the form of a password here: any wrong password is simply wrong
  password: Schema.RedactedFromValue(PlainText.between(1, 256))
}).annotate({ identifier: "SignIn", description: "The credentials with which a person signs in." }).pipe(
  Example.shown({ email: ExampleValues.person.email, password: ExampleValues.password })
)

export const SetUp = Schema.Struct({
  token: Schema.RedactedFromValue(PlainText.between(1, 256)),
  email: EmailAddress.EmailAddress,
  password: Password.Password,
  workspaceName: PlainText.trimmed(Workspace.maxNameLength)
}).annotate({
  identifier: "SetUp",
  description: "The request to create the first workspace and its owner; the token is from the link in the log."
}).pipe(Example.shown({
  token: "…",
  ...Example.of(SignIn),
  workspaceName: Example.of(Session).workspaceName
}))

export const SignInMethod = Schema.Struct({
  method: Schema.Literals(["password", "oidc"]).annotate({
    description: "`oidc`: open `/internal/oidc/sign-in` in the browser"
  })
}).annotate({ identifier: "SignInMethod", description: "The method by which people sign in." }).pipe(
  Example.shown({ method: "password" })
)

/** `/internal/sign-in`: the method by which people sign in at this server. */
export class SignInMethodApi extends HttpApiGroup.make("signInMethod").add(
  HttpApiEndpoint.get("get", "/internal/sign-in", { success: SignInMethod, error: always })
    .annotate(Access, anybody).annotateMerge(
      OpenApi.annotations({
        summary: "Get the sign-in method",
        description: "People sign in by password or at an issuer."
      })
    )
).annotateMerge(
  OpenApi.annotations({ title: "Ways to sign in (dashboard)", description: "The method by which people sign in." })
) {}

/** Sign-in and set-up. A response that signs a person in sets the session's cookie. */
export class SignInApi extends HttpApiGroup.make("signIn").add(
  HttpApiEndpoint.post("signIn", "/internal/session", { payload: SignIn, success: Session, error: writing })
    .annotate(Access, anybody).annotate(Audited, "session.sign_in").annotate(SignsIn, true)
    .annotate(DemandsFactor, true).annotate(NeedsMembership, true).annotateMerge(
      OpenApi.annotations({
        summary: "Sign in",
        description:
          "Sets the session's cookie. If the account has a second factor, a right password is refused with a challenge, " +
          "which `POST /internal/session/factor` takes. Failures are limited per account and per address."
      })
    ),
  HttpApiEndpoint.post("setUp", "/internal/setup", {
    payload: SetUp,
    success: Session.pipe(HttpApiSchema.status(201)),
    error: writingProvider
  }).annotate(Access, anybody).annotate(Audited, "workspace.set_up").annotate(SignsIn, true).annotateMerge(
    OpenApi.annotations({
      summary: "Set up the first workspace",
      description:
        "Requires the one-time token of the link in the log. Creates the workspace and its owner, and signs the owner in."
    })
  )
).annotateMerge(
  OpenApi.annotations({ title: "Sign-in (dashboard)", description: "Sign in, and create the first owner." })
) {}

export class SessionApi extends HttpApiGroup.make("session").add(
  HttpApiEndpoint.get("get", "/internal/session", { query: noQuery, success: Session, error: reading })
    .annotate(Access, session("member")).annotateMerge(
      OpenApi.annotations({
        summary: "Get the session",
        description:
          "Returns the session of the cookie. Another tab can switch its workspace or sign somebody else in. " +
          "So a request under `/internal` may carry `wac-session: <workspace id> <user id>`: in a session of another " +
          "workspace or person it is refused with 401 `missing_session`."
      })
    ),
  HttpApiEndpoint.delete("signOut", "/internal/session", {
    query: noQuery,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("member")).annotate(Audited, "session.sign_out").annotateMerge(
    OpenApi.annotations({ summary: "Sign out", description: "Ends the session and removes its cookie." })
  )
).annotateEndpoints(OpenToPortal, true).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Session (dashboard)", description: "The current session." })
) {}
