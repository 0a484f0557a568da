/** The page of the person's own account: workspaces, sessions, password and second factor. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import type { OwnSession, OwnWorkspace } from "@wac/client/internal"
import { useState } from "react"
import * as MinLength from "../generated/MinLength.ts"
import { pages } from "../session/Document.ts"
import { PasswordForm } from "../session/PasswordForm.tsx"
import { live } from "../session/Refetching.ts"
import { api } from "../session/Service.ts"
import { useSession } from "../session/Session.tsx"
import { methodQuery } from "../session/SignIn.tsx"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, TextField } from "../ui/Field.tsx"
import { Empty, Loaded } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Page, Section } from "../ui/Page.tsx"
import { Status } from "../ui/Status.tsx"
import { actions, Table } from "../ui/Table.tsx"
import { exactly, Time } from "../ui/Time.tsx"
import { capitalized } from "../ui/Words.ts"
import { SecondFactor } from "./SecondFactor.tsx"

const Workspaces = () => {
  const query = useQuery({
    queryKey: ["workspaces"],
    queryFn: ({ signal }) => api.account.workspaces({ signal }),
    ...live(30_000)
  })
  const move = useMutation({
    mutationFn: (workspaceId: string) => api.account.switchWorkspace({ workspaceId }),
    // a full load, so that nothing of the previous workspace stays on the page
    onSuccess: () => location.assign(pages)
  })
  return (
    <Section flush title="Workspaces" description="Each has its own messages, keys and members.">
      <div className="px-4">
        <Failure error={move.error} />
      </div>
      <Loaded query={query} lines={2}>
        {({ data }) => (
          <Table
            label="Your workspaces"
            items={data}
            columns={[
              { name: "Name", className: "font-medium break-words", cell: ({ name }) => name },
              { name: "Role", cell: ({ role }) => capitalized(role) },
              actions(({ id, isCurrent, name }: OwnWorkspace) =>
                isCurrent
                  ? <Status tone="good">Open</Status>
                  : (
                    <Button
                      small
                      aria-label={`Open ${name}`}
                      isPending={move.isPending}
                      onClick={() => move.mutate(id)}
                    >
                      Open
                    </Button>
                  )
              )
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

const Password = () => {
  const client = useQueryClient()
  const { email } = useSession()
  const [current, setCurrent] = useState("")
  const [next, setNext] = useState("")
  const change = useMutation({
    mutationFn: () => api.account.changePassword({ current, new: next }),
    onSuccess: () => {
      setCurrent("")
      setNext("")
    },
    onSettled: () => client.invalidateQueries()
  })
  return (
    <Section title="Password" description="A new password ends your other sessions.">
      <div className="max-w-sm">
        <PasswordForm isPending={change.isPending} onSubmit={() => change.mutate()}>
          <input type="hidden" name="username" autoComplete="username" value={email} />
          <TextField
            label="Current password"
            error={change.error}
            param="current"
            type="password"
            required
            autoComplete="current-password"
            value={current}
            onChange={setCurrent}
          />
          <TextField
            label="New password"
            hint={`At least ${MinLength.changePasswordNew} characters.`}
            error={change.error}
            param="new"
            type="password"
            required
            minLength={MinLength.changePasswordNew}
            autoComplete="new-password"
            value={next}
            onChange={setNext}
          />
          <Failure error={elsewhere(change.error, "current", "new")} />
          {change.isSuccess && current === "" && next === ""
            ? <Notice tone="good" role="status">Your password was changed.</Notice>
            : null}
          <Button type="submit" isPending={change.isPending}>Change password</Button>
        </PasswordForm>
      </div>
    </Section>
  )
}

const Sessions = () => {
  const client = useQueryClient()
  const query = useQuery({
    queryKey: ["sessions"],
    queryFn: ({ signal }) => api.account.sessions({ signal }),
    ...live(15_000)
  })
  const end = useMutation({
    mutationFn: (id: string) => api.account.endSession(id),
    onSettled: () => client.invalidateQueries()
  })
  const endOthers = useMutation({
    mutationFn: () => api.account.endOtherSessions(),
    onSettled: () => client.invalidateQueries()
  })
  return (
    <Section
      flush
      title="Sessions"
      description="Where you are signed in."
      actions={(query.data?.data.length ?? 0) > 1
        ? (
          <Button small isPending={endOthers.isPending} onClick={() => endOthers.mutate()}>
            End all other sessions
          </Button>
        )
        : null}
    >
      <div className="px-4">
        <Failure error={end.error ?? endOthers.error} />
      </div>
      <Loaded query={query} lines={2}>
        {({ data }) =>
          data.length === 0
            ? <Empty title="You are signed in by the application that embeds this service" />
            : (
              <Table
                label="Your sessions"
                items={data}
                columns={[
                  { name: "Browser", className: "break-words", cell: ({ agent }) => agent ?? "Not known" },
                  {
                    name: "Address",
                    from: "sm",
                    className: "text-muted tabular-nums",
                    cell: ({ address }) => address ?? "Not known"
                  },
                  { name: "Began", className: "text-muted", cell: ({ createdAt }) => <Time at={createdAt} /> },
                  actions(({ address, agent, createdAt, id, isCurrent }: OwnSession) =>
                    isCurrent
                      ? <Status tone="good">This one</Status>
                      : (
                        <Button
                          small
                          aria-label={`End the session of ${agent ?? "a browser that is not known"} at ${
                            address ?? "an address that is not known"
                          }, which began ${exactly(createdAt)}`}
                          isPending={end.isPending}
                          onClick={() => end.mutate(id)}
                        >
                          End
                        </Button>
                      )
                  )
                ]}
              />
            )}
      </Loaded>
    </Section>
  )
}

export const AccountPage = () => {
  const { email } = useSession()
  const { data: signIn } = useQuery(methodQuery)
  return (
    <Page title="Your account" lead={email}>
      <Workspaces />
      <Sessions />
      {signIn?.method === "password"
        ? (
          <>
            <Password />
            <SecondFactor />
          </>
        )
        : null}
    </Page>
  )
}
