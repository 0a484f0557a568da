/** Who may work in the workspace, and as what. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { InvitedMember, InviteMember, Member, Role } from "@wac/client/internal"
import { useState } from "react"
import { roles } from "../generated/Names.ts"
import * as RoleOf from "../generated/RoleOf.ts"
import { sendsMail } from "../session/Document.ts"
import { useOnce } from "../session/Once.ts"
import { api } from "../session/Service.ts"
import { live, useRefusal, useSession } from "../session/Session.tsx"
import { useOpened } from "../shell/Opened.ts"
import { Button } from "../ui/Button.tsx"
import { Secret } from "../ui/Copy.tsx"
import { Confirm, Dialog } from "../ui/Dialog.tsx"
import { Failure, Notice } from "../ui/Failure.tsx"
import { Choices, elsewhere, TextField } from "../ui/Field.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Page } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { actions, Table } from "../ui/Table.tsx"
import { Time } from "../ui/Time.tsx"
import { capitalized } from "../ui/Words.ts"

const words: { readonly [Each in Role]: string } = {
  member: "Member: sees everything but secrets",
  developer: "Developer: also works with keys, the webhook, templates and messages",
  admin: "Admin: also manages members",
  owner: "Owner: also manages owners"
}

/** Roles that a person may give: owners only by owners. */
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
    onSettled: () => client.invalidateQueries()
  })
  const { data: invited, error } = invite
  return (
    <Dialog
      title={invited === undefined ? "Invite a person" : "The invitation’s link"}
      isOpen
      isDismissible={invited === undefined}
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
              type="email"
              required
              value={email}
              onChange={setEmail}
            />
            <Choices label="Role" value={role} onChange={setRole} choices={givenBy(session.role)} />
            <Failure error={elsewhere(error, "email")} />
            <div className="flex flex-wrap justify-end gap-2">
              <Button onClick={onClose}>Cancel</Button>
              <Button look="primary" type="submit" isPending={invite.isPending}>Invite</Button>
            </div>
          </form>
        )
        : (
          <div className="space-y-4">
            <p>
              Give this link to {email.trim()}. It is shown this once, works once, and ends{" "}
              <Time at={invited.expiresAt} />. {sendsMail ? "It is also mailed." : "This service sends no mail."}
            </p>
            {invited.inviteUrl === undefined
              ? (
                <Notice tone="warn" role="alert">
                  The response with the link was lost, and it is not shown again. Invite the person again for another.
                </Notice>
              )
              : <Secret label="Link" value={invited.inviteUrl} />}
            <div className="flex justify-end">
              <Button look="primary" onClick={onClose}>Done</Button>
            </div>
          </div>
        )}
    </Dialog>
  )
}

const RoleSelect = ({ member, refusal }: { readonly member: Member; readonly refusal: string | undefined }) => {
  const client = useQueryClient()
  const session = useSession()
  const change = useMutation({
    mutationFn: (role: Role) => api.members.change(member.id, { role }),
    onSettled: () => client.invalidateQueries()
  })
  const isFixed = refusal !== undefined || member.status === "invited" ||
    member.role === "owner" && session.role !== "owner"
  if (isFixed) return <>{capitalized(member.role)}</>
  return (
    <>
      <select
        aria-label={`Role of ${member.email}`}
        className="field w-auto"
        value={member.role}
        disabled={change.isPending}
        onChange={(event) => {
          const chosen = roles.find((role) => role === event.target.value)
          if (chosen !== undefined) change.mutate(chosen)
        }}
      >
        {givenBy(session.role).map(([role]) => <option key={role} value={role}>{capitalized(role)}</option>)}
      </select>
      <Failure error={change.error} />
    </>
  )
}

export const MembersPage = () => {
  const client = useQueryClient()
  const session = useSession()
  const refusal = useRefusal(RoleOf.membersList, RoleOf.membersInvite, RoleOf.membersChange, RoleOf.membersRemove)
  const [opened, setOpened] = useOpened(["invite"])
  const [removed, setRemoved] = useState<Member>()
  const [signedOut, setSignedOut] = useState<Member>()
  const [reset, setReset] = useState<Member>()
  const query = useQuery({
    queryKey: ["members"],
    queryFn: ({ signal }) => api.members.list({ limit: 100 }, { signal }).toArray(1000),
    enabled: refusal === undefined,
    ...live(10_000)
  })
  const remove = useMutation({
    mutationFn: (id: string) => api.members.remove(id),
    onSuccess: () => setRemoved(undefined),
    onSettled: () => client.invalidateQueries()
  })
  const endSessions = useMutation({
    mutationFn: (id: string) => api.members.endSessions(id),
    onSuccess: () => setSignedOut(undefined)
  })
  const resetFactor = useMutation({
    mutationFn: (id: string) => api.members.resetFactor(id),
    onSuccess: () => setReset(undefined)
  })
  return (
    <Page
      title="Members"
      lead={`Who may work in ${session.workspaceName}, and as what.`}
      actions={
        <Button look="primary" icon="members" refusal={refusal} onClick={() => setOpened("invite")}>
          Invite a person
        </Button>
      }
    >
      {refusal === undefined
        ? (
          <div className="card">
            <Loaded query={query}>
              {(data) => (
                <Table
                  label="Members"
                  items={data}
                  columns={[
                    {
                      name: "E-mail",
                      className: "font-medium break-words max-sm:break-all",
                      cell: ({ email, id, invitedBy, status }) => (
                        <>
                          {email}
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
                    { name: "Role", cell: (member) => <RoleSelect member={member} refusal={refusal} /> },
                    {
                      name: "Status",
                      from: "sm",
                      cell: ({ status }) =>
                        status === "active"
                          ? <Status tone="good">Active</Status>
                          : <Status tone="calm">Invited</Status>
                    },
                    {
                      name: "Since",
                      from: "md",
                      className: "text-muted",
                      cell: ({ createdAt }) => <Time at={createdAt} />
                    },
                    actions((member: Member) => (
                      <span className="space-x-2">
                        {member.status === "active" && member.id !== session.userId &&
                            (member.role !== "owner" || session.role === "owner")
                          ? (
                            <Button
                              small
                              aria-label={`End the sessions of ${member.email}`}
                              onClick={() => {
                                endSessions.reset()
                                setSignedOut(member)
                              }}
                            >
                              End sessions…
                            </Button>
                          )
                          : null}
                        {member.status === "active" && member.id !== session.userId && session.role === "owner"
                          ? (
                            <Button
                              small
                              aria-label={`Reset the second factor of ${member.email}`}
                              onClick={() => {
                                resetFactor.reset()
                                setReset(member)
                              }}
                            >
                              Reset second factor…
                            </Button>
                          )
                          : null}
                        <Button
                          small
                          look="danger"
                          aria-label={`${member.status === "active" ? "Remove" : "Withdraw"} ${member.email}`}
                          onClick={() => {
                            remove.reset()
                            setRemoved(member)
                          }}
                        >
                          {member.status === "active" ? "Remove…" : "Withdraw…"}
                        </Button>
                      </span>
                    ))
                  ]}
                />
              )}
            </Loaded>
          </div>
        )
        : <Notice>{refusal}</Notice>}
      {opened === "invite" && refusal === undefined ? <InviteDialog onClose={() => setOpened(undefined)} /> : null}
      {removed === undefined ? null : (
        <Confirm
          title={removed.status === "active"
            ? `Remove ${removed.email}?`
            : `Withdraw the invitation of ${removed.email}?`}
          action={removed.status === "active" ? "Remove member" : "Withdraw invitation"}
          isOpen
          isPending={remove.isPending}
          error={remove.error}
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove.mutate(removed.id)}
        >
          {removed.status === "active"
            ? "The person’s sessions in this workspace and the invitations that they made end, and alerts are no longer " +
              "mailed to them. What else they have created stays, API keys too."
            : "The link of the invitation ends."}
        </Confirm>
      )}
      {signedOut === undefined ? null : (
        <Confirm
          title={`End all sessions of ${signedOut.email}?`}
          action="End sessions"
          isOpen
          isPending={endSessions.isPending}
          error={endSessions.error}
          onClose={() => setSignedOut(undefined)}
          onConfirm={() => endSessions.mutate(signedOut.id)}
        >
          They are signed out everywhere, in other workspaces too, and can sign in again.
        </Confirm>
      )}
      {reset === undefined ? null : (
        <Confirm
          title={`Reset the second factor of ${reset.email}?`}
          action="Reset second factor"
          isOpen
          isPending={resetFactor.isPending}
          error={resetFactor.error}
          onClose={() => setReset(undefined)}
          onConfirm={() => resetFactor.mutate(reset.id)}
        >
          Make sure that it is they who ask: their password alone signs them in until they set up another. They are
          mailed about it if this service sends mail.
        </Confirm>
      )}
    </Page>
  )
}
