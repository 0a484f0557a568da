/**
 * The commands `members list | invite | reset-password | reset-factor | unlink | portal-link`: the operator lists and
 * invites people, gives a new password to a person who has lost theirs, removes a lost second factor, lets a person
 * sign in with another identity at the issuer, and makes a link to the portal. The commands work on `DATABASE_URL`
 * directly, while servers run on it.
 */
import { SessionApi } from "@wac/api"
import {
  type Audit,
  Base62,
  EmailAddress,
  FactorStore,
  Mailer,
  MailTexts,
  Member,
  Members,
  MemberStore,
  Password,
  Portals,
  Time
} from "@wac/core"
import { Clock, Effect, Layer, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { SecureRandom } from "effect/crypto"
import * as LinkAddress from "./LinkAddress.ts"
import * as OperatorCommand from "./OperatorCommand.ts"
import { portalLink } from "./PortalLinkCommand.ts"
import * as WorkspaceChoice from "./WorkspaceChoice.ts"

/** The length of a generated password: 20 base62 characters have 119 bits. */
const generatedLength = 20

const list = Command.make(
  "list",
  {},
  Effect.fnUntraced(function*() {
    const all = yield* MemberStore.MemberStore.use((store) => store.list)
    yield* OperatorCommand.printed(
      {
        members: all.map(({ member: { email, role, userId }, workspace: { id, name } }) => ({
          id: userId,
          email,
          role,
          workspace: { id, name }
        }))
      },
      all.length === 0
        ? "there are no members yet: set up the first workspace"
        : all.map(({ member, workspace }) => `${member.email}  ${member.role} of ${workspace.id} ${workspace.name}`)
          .join("\n")
    )
  })
).pipe(Command.withDescription("List the people who can sign in, with role and workspace"))

/** The member with the given e-mail address; without one, the only member. */
const memberOf = Effect.fnUntraced(function*(email: Option.Option<string>) {
  const store = yield* MemberStore.MemberStore
  if (Option.isSome(email)) {
    const found = yield* store.findByEmail(EmailAddress.normalize(email.value))
    return Option.isSome(found)
      ? found.value.person
      : yield* new OperatorCommand.CannotDo({
        message: `there is no member ${email.value}: see \`wac members list\``
      })
  }
  const people = new Map((yield* store.list).map(({ member }) => [member.userId, member]))
  const all = [...people.values()]
  return all.length === 1 ? all[0]! : yield* new OperatorCommand.CannotDo({
    message: all.length === 0
      ? "there are no members yet: set up the first workspace"
      : "there are several members: name one by e-mail address (`wac members list`)"
  })
})

/** Records a change of a person's account in the audit of each of their workspaces. */
const audited = Effect.fnUntraced(function*(
  { userId }: Pick<Member.Person, "userId">,
  change: Pick<Audit.Change, "action" | "detail">
) {
  const account = yield* MemberStore.MemberStore.use((store) => store.findByUserId(userId))
  for (const { workspace } of Option.match(account, { onNone: () => [], onSome: ({ memberships }) => memberships })) {
    yield* OperatorCommand.audited(workspace.id, { ...change, target: userId })
  }
})

/**
 * Sends a person a mail about a change of their account, if there is a mailer. A failure of the mail is only logged.
 */
const notified = Effect.fnUntraced(function*(mail: Mailer.Mail) {
  const mailer = yield* Mailer.Mailer
  if (mailer === undefined) return
  yield* mailer.send(mail).pipe(
    Effect.catch(({ message }) => Effect.logWarning(`a mail could not be sent: ${message}`))
  )
})

/** The recipient and the time of such a mail, and no client's address: the operator has none. */
const circumstancesOf = ({ email: to }: Pick<Member.Person, "email">) =>
  Effect.map(Clock.currentTimeMillis, (at) => ({ to, at, address: undefined }))

const readPassword = Schema.decodeUnknownEffect(Password.Password)

const givenPassword = (source: string) =>
  OperatorCommand.secretFrom(source, "password").pipe(
    Effect.flatMap((given) => readPassword(Redacted.value(given))),
    Effect.catchTag("SchemaError", () =>
      Effect.fail(new OperatorCommand.CannotDo({ message: "the password must have 8 to 256 characters" })))
  )

const generated = Effect.flatMap(
  SecureRandom.SecureRandom,
  (random) => Effect.map(Base62.random(random, generatedLength), Redacted.make)
)

const emailOfMember = Argument.String("email").pipe(
  Argument.withDescription("The member; may be omitted if there is only one"),
  Argument.optional
)

const resetPassword = Command.make(
  "reset-password",
  {
    email: emailOfMember,
    passwordFrom: Flag.String("password-from").pipe(
      Flag.withDescription(
        "The source of the new password: - for standard input, or the name of a variable; if omitted, one is made " +
          "and shown"
      ),
      Flag.optional
    )
  },
  Effect.fnUntraced(function*({ email, passwordFrom }) {
    const member = yield* memberOf(email)
    const password = yield* Option.isSome(passwordFrom) ? givenPassword(passwordFrom.value) : generated
    const hash = yield* Password.Passwords.use((passwords) =>
      passwords.choose(password, { email: member.email, param: "password" })
    ).pipe(
      Effect.catchTag(
        "InvalidBody",
        ({ message }) => Effect.fail(new OperatorCommand.CannotDo({ message: `the password ${message}` }))
      )
    )
    const ended = yield* MemberStore.MemberStore.use((store) => store.setPassword(member.userId, hash))
    if (Option.isNone(ended)) {
      return yield* new OperatorCommand.CannotDo({ message: `${member.email} no longer exists` })
    }
    yield* audited(member, { action: "password.reset", detail: { email: member.email } })
    yield* notified(MailTexts.passwordNotice({ ...yield* circumstancesOf(member), by: "operator" }))
    const made = Option.isNone(passwordFrom) ? Redacted.value(password) : undefined
    yield* OperatorCommand.printed(
      { email: member.email, sessionsEnded: ended.value, password: made },
      `${member.email} has a new password; sessions ended: ${ended.value}` +
        (made === undefined ? "" : `\npassword, shown this once: ${made}`)
    )
  })
).pipe(Command.withDescription("Give a member a new password, and end all of their sessions"))

const resetFactor = Command.make(
  "reset-factor",
  { email: emailOfMember },
  Effect.fnUntraced(function*({ email }) {
    const member = yield* memberOf(email)
    if (!(yield* FactorStore.FactorStore.use((store) => store.remove(member.userId)))) {
      return yield* new OperatorCommand.CannotDo({ message: `${member.email} has no second factor` })
    }
    yield* audited(member, { action: "member.reset_factor", detail: { email: member.email } })
    yield* notified(MailTexts.factorNotice({ ...yield* circumstancesOf(member), change: { _tag: "Reset", by: null } }))
    yield* OperatorCommand.printed(
      { email: member.email },
      `${member.email} has no second factor any more: their password is enough, until they set up another`
    )
  })
).pipe(Command.withDescription("Remove the second factor of a member who has lost it"))

const unlink = Command.make(
  "unlink",
  { email: emailOfMember },
  Effect.fnUntraced(function*({ email }) {
    const member = yield* memberOf(email)
    const unlinked = yield* MemberStore.MemberStore.use((store) => store.unlink(member.userId))
    yield* audited(member, { action: "member.change", detail: { email: member.email, identity: "unlinked" } })
    yield* OperatorCommand.printed(
      { email: member.email, identitiesUnlinked: unlinked },
      `${member.email} has no identity at an issuer any more (there were ${unlinked}), and no sessions; the next person ` +
        "who signs in with this address, verified by the issuer, gets the account"
    )
  })
).pipe(Command.withDescription("Let a member sign in with another identity at the issuer, and end their sessions"))

const invite = Command.make(
  "invite",
  {
    email: Argument.String("email").pipe(
      Argument.withDescription("The person's address"),
      Argument.withSchema(SessionApi.SetUp.fields.email)
    ),
    role: Flag.Literals("role", Member.Role.literals).pipe(
      Flag.withDescription("What the person may do"),
      Flag.withDefault("member")
    ),
    workspace: WorkspaceChoice.flag
  },
  Effect.fnUntraced(function*({ email, role, workspace }) {
    const variables = yield* OperatorCommand.Variables
    if (variables["AUTH"] === "oidc") {
      return yield* new OperatorCommand.CannotDo({
        message: "AUTH: people sign in at the issuer, which assigns their roles; there are no invitations"
      })
    }
    const base = yield* LinkAddress.base
    const { id, name } = yield* WorkspaceChoice.chosen(workspace)
    const linkOf = (token: Redacted.Redacted) => `${base}/dashboard/invitation#token=${Redacted.value(token)}`
    const { invitation, token } = yield* Members.Members.use((members) =>
      members.invite(
        { operator: true, workspaceId: id, workspaceName: name },
        { email, role },
        linkOf
      )
    )
    yield* OperatorCommand.audited(id, {
      action: "member.invite",
      target: invitation.id,
      detail: { email: invitation.email, role }
    })
    const inviteUrl = linkOf(token)
    yield* OperatorCommand.printed(
      { id: invitation.id, inviteUrl, expiresAt: Time.iso(invitation.expiresAt) },
      `${invitation.email} can become ${role} of ${id} ${name} until ${
        Time.iso(invitation.expiresAt)
      } with:\n${inviteUrl}`
    )
    yield* LinkAddress.guessed
  })
).pipe(Command.withDescription("Make a link that lets a person join a workspace; it is not mailed"))

export const members = Command.make("members").pipe(
  Command.withDescription("The people who can sign in to the workspaces in the storage of DATABASE_URL"),
  Command.withSubcommands([
    Command.provide(list, OperatorCommand.unopened),
    Command.provide(
      Command.provide(invite, Layer.provide(Members.Members.layer, Password.Passwords.layer)),
      OperatorCommand.unopened
    ),
    Command.provide(
      Command.provide(resetPassword, Layer.merge(Password.Passwords.layer, OperatorCommand.mailing)),
      OperatorCommand.unopened
    ),
    Command.provide(Command.provide(resetFactor, OperatorCommand.mailing), OperatorCommand.unopened),
    Command.provide(unlink, OperatorCommand.unopened),
    Command.provide(Command.provide(portalLink, Portals.Portals.layer), OperatorCommand.unopened)
  ])
)
