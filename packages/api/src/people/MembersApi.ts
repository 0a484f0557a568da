/**
 * `/internal/members` and `/internal/invitations` (contract §12 *Members*): the people of a workspace.
 */
import { EmailAddress, Member as Core, Password, PlainText } from "@wac/core"
import { Schema, Struct } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, anybody, NeedsFreshSession, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { SessionAuthentication } from "../Caller.ts"
import { described } from "../Described.ts"
import {
  ChallengesFactor,
  ChecksCode,
  ChecksPasskey,
  ChecksSecret,
  DemandsFactor,
  NeedsIdempotencyKey,
  ShownOnce,
  SignsIn
} from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, noQuery } from "../Lists.ts"
import { byId, idempotencyKey } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"
import { Code } from "./FactorApi.ts"
import { PasskeyAssertion } from "./PasskeyApi.ts"
import { Session } from "./SessionApi.ts"

export const Member = Schema.Struct({
  id: Schema.String.annotate({ description: "`usr_…` for a member, `inv_…` for an invitation" }),
  email: Schema.String,
  role: Core.Role,
  status: Schema.Literals(["active", "invited"]),
  createdAt: Timestamp,
  expiresAt: Schema.NullOr(Timestamp).annotate({ description: "When the invitation expires; `null` for a member" }),
  invitedBy: Schema.NullOr(Schema.Struct({ userId: Schema.String, email: Schema.String })).annotate({
    description: "Who made the invitation; `null` for a member, and for an invitation by the operator's command"
  })
}).annotate({ identifier: "Member", description: "A member of the workspace, or an invited person." }).pipe(
  Example.shown({
    id: ExampleValues.person.userId,
    email: ExampleValues.person.email,
    role: "owner",
    status: "active",
    createdAt: ExampleValues.times.start,
    expiresAt: null,
    invitedBy: null
  })
)

export const InviteMember = Schema.Struct({ email: EmailAddress.EmailAddress, role: Core.Role }).annotate({
  identifier: "InviteMember",
  description: "The person to invite."
}).pipe(Example.shown({ email: "ben@example.com", role: "developer" }))

export const InvitedMember = Schema.Struct({
  id: Schema.String,
  inviteUrl: Schema.optionalKey(
    Schema.String.annotate({ description: "Missing from a repeated response: invite again for another link" })
  ),
  expiresAt: Timestamp
}).annotate({ identifier: "InvitedMember", description: "An invitation. Only this response contains its link." }).pipe(
  Example.shown({
    id: "inv_01K8ZPZ0Q7F9G1H5J6K8M0N2VW",
    inviteUrl: "https://wac.example.com/dashboard/invitation#token=…",
    expiresAt: ExampleValues.times.nextWeek
  })
)

export const ChangeMember = Schema.Struct({ role: Core.Role }).annotate({
  identifier: "ChangeMember",
  description: "A member's new role."
}).pipe(Example.shown({ role: "admin" }))

export const AcceptInvitation = Schema.Struct({
  token: Schema.RedactedFromValue(PlainText.between(1, 256)),
  password: Schema.optionalKey(Password.Password.pipe(described("The password of the new or existing account"))),
  code: Schema.optionalKey(
    Code.pipe(
      described("With the password of an account that has a second factor: a code of the app or a recovery code")
    )
  ),
  credential: Schema.optionalKey(PasskeyAssertion)
}).annotate({
  identifier: "AcceptInvitation",
  description:
    "The request to accept an invitation. If the account has a second factor, the password comes with one proof: a code, " +
    "or a passkey that has signed the challenge of the error `second_factor_required`."
}).pipe(
  Example.shown({ token: "…", password: ExampleValues.password })
)

export const ShowInvitation = Schema.Struct({ token: AcceptInvitation.fields.token }).annotate({
  identifier: "ShowInvitation",
  description: "The invitation to show, by the token of its link."
}).pipe(Example.shown({ token: "…" }))

export const ShownInvitation = Schema.Struct({
  workspaceName: Schema.String,
  email: Schema.String,
  role: Core.Role,
  invitedBy: Schema.NullOr(Schema.String).annotate({
    description: "The e-mail of the person who made it; `null` for the operator"
  }),
  expiresAt: Timestamp
}).annotate({ identifier: "ShownInvitation", description: "An invitation, as its link shows it." }).pipe(Example.shown({
  workspaceName: "Acme",
  email: "ben@example.com",
  role: "developer",
  invitedBy: ExampleValues.person.email,
  expiresAt: "2026-01-22T03:04:05.678Z"
}))

const one = { params: byId, query: noQuery }

export class MembersApi extends HttpApiGroup.make("members").add(
  HttpApiEndpoint.get("list", "/internal/members", {
    query: noQuery,
    success: internalListOf(Member),
    error: reading
  }).annotate(Example.Shown, {
    response: Example.internalPage<typeof Member["Encoded"]>([
      Example.of(Member),
      {
        ...Example.of(InviteMember),
        ...Struct.pick(Example.of(InvitedMember), ["id", "expiresAt"]),
        status: "invited",
        createdAt: ExampleValues.times.recorded,
        invitedBy: ExampleValues.person
      }
    ])
  }).annotate(Access, session("admin")).annotateMerge(OpenApi.annotations({
    summary: "List members",
    description: "All members, oldest first, followed by the pending invitations and who made each."
  })),
  HttpApiEndpoint.post("invite", "/internal/members", {
    headers: idempotencyKey(),
    payload: InviteMember,
    success: InvitedMember.pipe(HttpApiSchema.status(201)),
    error: writing
  }).annotate(Access, session("admin")).annotate(Audited, "member.invite").annotate(NeedsFreshSession, true).annotate(
    NeedsIdempotencyKey,
    true
  )
    .annotate(ShownOnce, ["inviteUrl"]).annotateMerge(OpenApi.annotations({
      summary: "Invite a person",
      description: "The link works once, within 7 days, and replaces an earlier link to the same address. It is also " +
        "mailed if mail is set up. It ends with its maker: if they are removed, or may not give the role any more. Only " +
        "an owner can invite owners, and replace an owner's invitation. 404 if people sign in at an issuer."
    })),
  HttpApiEndpoint.patch("change", "/internal/members/:id", {
    ...one,
    payload: ChangeMember,
    success: Member,
    error: writing
  }).annotate(Example.Shown, Example.changed(Member, { role: "admin" })).annotate(Access, session("admin")).annotate(
    Audited,
    "member.change"
  ).annotate(NeedsFreshSession, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Change a member's role",
      description: "Only an owner can change owners. The last owner cannot be changed."
    })),
  HttpApiEndpoint.delete("remove", "/internal/members/:id", {
    ...one,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("admin")).annotate(Audited, "member.remove").annotate(NeedsFreshSession, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Remove a member, or withdraw an invitation",
      description:
        "Ends the member's sessions in the workspace and the invitations that they made, and takes their address out of " +
        "the alert settings. Only an owner can remove owners, and withdraw an owner's invitation. The last owner cannot " +
        "be removed."
    })),
  HttpApiEndpoint.delete("endSessions", "/internal/members/:id/sessions", {
    ...one,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("admin")).annotate(Audited, "member.end_sessions").annotateMerge(OpenApi.annotations({
    summary: "End all sessions of a member",
    description:
      "Also their sessions in other workspaces, because a session can switch to this one. The session of the " +
      "request stays. Only an owner can end owners' sessions."
  })),
  HttpApiEndpoint.delete("resetFactor", "/internal/members/:id/factor", {
    ...one,
    success: HttpApiSchema.NoContent,
    error: reading
  }).annotate(Access, session("owner")).annotate(Audited, "member.reset_factor").annotate(NeedsFreshSession, true)
    .annotateMerge(OpenApi.annotations({
      summary: "Remove the second factor of a member",
      description:
        "For a member who has lost it, with its passkeys: from then on their password is enough. Refused if they are also a member of a " +
        "workspace that you do not own. 404 if their second factor is not on."
    }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({ title: "Members (dashboard)", description: "The people who can use the workspace." })
) {}

export class InvitationsApi extends HttpApiGroup.make("invitations").add(
  HttpApiEndpoint.post("show", "/internal/invitations/show", {
    payload: ShowInvitation,
    success: ShownInvitation,
    error: writing
  }).annotate(Access, anybody).annotate(Audited, null).annotate(ChecksSecret, true).annotateMerge(
    OpenApi.annotations({
      summary: "Show an invitation",
      description:
        "Before it is accepted. 401 if it was accepted or withdrawn, if it has expired, or if its maker may not give " +
        "its role any more. Failures are limited per address. 404 if people sign in at an issuer."
    })
  ),
  HttpApiEndpoint.post("accept", "/internal/invitations/accept", {
    payload: AcceptInvitation,
    success: Session,
    error: writing
  }).annotate(Access, anybody).annotate(Audited, "member.join").annotate(SignsIn, true).annotate(DemandsFactor, true)
    .annotate(ChecksCode, true).annotate(ChecksPasskey, true).annotate(ChallengesFactor, true).annotateMerge(
      OpenApi.annotations({
        summary: "Accept an invitation",
        description:
          "Signs the person in. A new person chooses a password; a person with an account gives its password, and a " +
          "proof of its second factor if it has one, or is already signed in. Failures are limited per address and per " +
          "account. 404 if people sign in at an issuer."
      })
    )
).annotateMerge(
  OpenApi.annotations({ title: "Invitations (dashboard)", description: "Accept an invitation to a workspace." })
) {}
