/** The page that lists the members of the workspace with their roles, and manages them. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { InvitedMember, InviteMember, Member, Role } from "@wac/client/internal"
import { useState } from "react"
import { roles } from "../generated/Names.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { hasAccounts, sendsMail } from "../session/Document.ts"
import { useOnce } from "../session/Once.ts"
import { api } from "../session/Service.ts"
import { useRefusal, useSession } from "../session/Session.tsx"
import { methodQuery } from "../session/SignIn.tsx"
import { useOpened } from "../shell/Opened.ts"
import { AskBeforeLeaving } from "../ui/AskBeforeLeaving.tsx"
import { Button } from "../ui/Button.tsx"
import { Secret } from "../ui/Copy.tsx"
import { Confirm, Dialog } from "../ui/Dialog.tsx"
import { Failure } from "../ui/Failure.tsx"
import { Choices, elsewhere, emailInput, TextField } from "../ui/Field.tsx"
import { ListPage, useList } from "../ui/List.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Status } from "../ui/Status.tsx"
import { actions, idInFile } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized } from "../ui/Words.ts"

const words: { readonly [Each in Role]: string } = {
  member: "Member: sees everything but secrets and campaigns",
  developer: "Developer: also works with keys, the webhook, templates, messages and campaigns",
  admin: "Admin: also manages members",
  owner: "Owner: also manages owners"
}

/** The roles that a person with this role may give, with their descriptions: only owners may make owners. */
const givenBy = (role: Role) =>
  roles.filter((each) => role === "owner" || each !== "owner").map((each) => [each, words[each]] as const)

const InviteDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const client = useQueryClient()
  const session = useSession()
  const [email, setEmail] = useState("")
  const [role, setRole] = useState<Role>("developer")
  const once = useOnce<InviteMember>()
  const invite = useMutation<InvitedMember>({
    mutationFn: () => once([email, role], () => ({ email: email.trim(), role }), api.members.invite),
    onSettled: () => void client.invalidateQueries()
  })
  const { data: invited, error } = invite
  return (
    <Dialog
      title={invited === undefined ? "Invite a person" : "The invitation’s link"}
      isDismissible={invited === undefined && !invite.isPending}
      onClose={onClose}
    >
      {invited === undefined
        ? (
          <form
            className="space-y-5"
            onSubmit={(event) => {
              event.preventDefault()
              if (!invite.isPending) invite.mutate()
            }}
          >
            <TextField
              label="E-mail"
              error={error}
              param="email"
              {...emailInput}
              required
              value={email}
              onChange={setEmail}
            />
            <Choices label="Role" value={role} onChange={setRole} choices={givenBy(session.role)} />
            <Failure error={elsewhere(error, "email")} />
            <div className="flex flex-wrap justify-end gap-2">
              <Button isPending={invite.isPending} onClick={onClose}>Cancel</Button>
              <Button look="primary" type="submit" isPending={invite.isPending}>Invite</Button>
            </div>
          </form>
        )
        : (
          <div className="space-y-4">
            {invited.inviteUrl === undefined
              ? (
                <Notice tone="warn" role="alert">
                  The response with the link was lost, and it is not shown again. Invite the person again for another.
                </Notice>
              )
              : (
                <>
                  <AskBeforeLeaving />
                  <p>
                    Give this link to {email.trim()}. It is shown this once, works once, and ends{" "}
                    <Time at={invited.expiresAt} />. {sendsMail ? "It is also mailed." : "This service sends no mail."}
                  </p>
                  <Secret label="Link" value={invited.inviteUrl} />
                </>
              )}
            <div className="flex justify-end">
              <Button look="primary" onClick={onClose}>Done</Button>
            </div>
          </div>
        )}
    </Dialog>
  )
}

const ChangeRole = ({ member, onClose }: { readonly member: Member; readonly onClose: () => void }) => {
  const session = useSession()
  const [role, setRole] = useState(member.role)
  return (
    <Confirm
      title={`Change the role of ${member.email}`}
      action="Change role"
      look="primary"
      refusal={role === member.role ? "Choose another role first." : undefined}
      act={() => api.members.change(member.id, { role })}
      onClose={onClose}
    >
      <Choices label="Role" value={role} onChange={setRole} choices={givenBy(session.role)} />
    </Confirm>
  )
}

/** Whether a person with this role may change the member's role. */
const isChangeable = (role: Role, member: Member): boolean =>
  member.status === "active" && (member.role !== "owner" || role === "owner")

/** A member, and the action on them that the person has to confirm. */
interface Asked {
  readonly what: "change" | "endSessions" | "remove" | "resetFactor"
  readonly member: Member
}

/** The dialog that confirms the action. */
const Question = (
  { asked: { member, what }, onClose }: { readonly asked: Asked; readonly onClose: () => void }
) => {
  const { email, id, status } = member
  switch (what) {
    case "change":
      return <ChangeRole member={member} onClose={onClose} />
    case "remove":
      return (
        <Confirm
          title={status === "active" ? `Remove ${email}?` : `Withdraw the invitation of ${email}?`}
          action={status === "active" ? "Remove member" : "Withdraw invitation"}
          act={() => api.members.remove(id)}
          onClose={onClose}
        >
          {status === "active"
            ? "The person’s sessions in this workspace and the invitations that they made end, and alerts are no longer " +
              "mailed to them. What else they have created stays, API keys too."
            : "The link of the invitation ends."}
        </Confirm>
      )
    case "endSessions":
      return (
        <Confirm
          title={`End all sessions of ${email}?`}
          action="End sessions"
          act={() => api.members.endSessions(id)}
          onClose={onClose}
        >
          They are signed out everywhere, in other workspaces too, and can sign in again.
        </Confirm>
      )
    case "resetFactor":
      return (
        <Confirm
          title={`Reset the second factor of ${email}?`}
          action="Reset second factor"
          act={() => api.members.resetFactor(id)}
          onClose={onClose}
        >
          Make sure that it is they who ask: their password alone signs them in until they set up another. They are
          mailed about it if this service sends mail.
        </Confirm>
      )
  }
}

/** An e-mail address whose line may break before its `@`. */
const EmailAddress = ({ address }: { readonly address: string }) => {
  const at = address.lastIndexOf("@")
  return (
    <>
      {address.slice(0, at)}
      <wbr />
      {address.slice(at)}
    </>
  )
}

export const MembersPage = () => {
  const session = useSession()
  const refusal = useRefusal(RoleOf.membersList, RoleOf.membersInvite, RoleOf.membersChange, RoleOf.membersRemove)
  const signIn = useQuery({ ...methodQuery, enabled: hasAccounts })
  const atIssuer = signIn.data?.method === "oidc"
  const inviteRefusal = refusal ??
    (hasAccounts
      ? undefined
      : "People sign in at the application that embeds this service, so nobody is invited here.") ??
    (atIssuer ? "People sign in at the issuer, which gives them their roles, so nobody is invited here." : undefined)
  const [opened, setOpened] = useOpened(["invite"])
  const [asked, setAsked] = useState<Asked>()
  const list = useList("members", {}, api.members.list, { every: 10_000, enabled: refusal === undefined })
  return (
    <ListPage
      title="Members"
      lead={`Who may work in ${session.workspaceName}, and as what.`}
      actions={
        <Button look="primary" icon="members" refusal={inviteRefusal} onClick={() => setOpened("invite")}>
          Invite a person
        </Button>
      }
      refusal={refusal}
      list={list}
      what="member"
      columns={[
        {
          name: "E-mail",
          text: ({ email }) => email,
          className: "font-medium break-words",
          cell: ({ email, id, invitedBy, status }) => (
            <>
              <EmailAddress address={email} />
              {id === session.userId ? <span className="text-muted">{" "}(you)</span> : null}
              {status === "invited"
                ? (
                  <span className="block text-[13px] font-normal text-muted">
                    Invited by {invitedBy?.email ?? "the operator"}
                  </span>
                )
                : null}
            </>
          )
        },
        {
          name: "Role",
          text: ({ role }) => role,
          cell: (member) => (
            <span className="flex flex-wrap items-center gap-2">
              {capitalized(member.role)}
              {isChangeable(session.role, member)
                ? (
                  <Button
                    small
                    aria-label={`Change the role of ${member.email}`}
                    onClick={() => setAsked({ what: "change", member })}
                  >
                    Change…
                  </Button>
                )
                : null}
            </span>
          )
        },
        {
          name: "Status",
          text: ({ status }) => status,
          from: "sm",
          cell: ({ status }) =>
            status === "active" ? <Status tone="good">Active</Status> : <Status tone="calm">Invited</Status>
        },
        { name: "Invited by", text: ({ invitedBy }) => invitedBy?.email ?? null, cell: null },
        {
          name: "Since",
          text: ({ createdAt }) => createdAt,
          from: "md",
          className: "text-muted",
          cell: ({ createdAt }) => <Time at={createdAt} />
        },
        idInFile,
        actions((member: Member) => (
          <span className="space-x-2">
            {member.status === "active" && member.id !== session.userId &&
                (member.role !== "owner" || session.role === "owner")
              ? (
                <Button
                  small
                  aria-label={`End the sessions of ${member.email}`}
                  onClick={() => setAsked({ what: "endSessions", member })}
                >
                  End sessions…
                </Button>
              )
              : null}
            {member.status === "active" && member.id !== session.userId && session.role === "owner" && !atIssuer
              ? (
                <Button
                  small
                  aria-label={`Reset the second factor of ${member.email}`}
                  onClick={() => setAsked({ what: "resetFactor", member })}
                >
                  Reset second factor…
                </Button>
              )
              : null}
            <Button
              small
              look="danger"
              aria-label={`${member.status === "active" ? "Remove" : "Withdraw"} ${member.email}`}
              onClick={() => setAsked({ what: "remove", member })}
            >
              {member.status === "active" ? "Remove…" : "Withdraw…"}
            </Button>
          </span>
        ))
      ]}
      none={{ title: "There is no member" }}
    >
      {opened === "invite" && inviteRefusal === undefined
        ? <InviteDialog onClose={() => setOpened(undefined)} />
        : null}
      {asked === undefined ? null : <Question asked={asked} onClose={() => setAsked(undefined)} />}
    </ListPage>
  )
}
