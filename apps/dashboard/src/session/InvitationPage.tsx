/** The page on which a person becomes a member of a workspace, opened by the link of an invitation. */
import { useMutation, useQuery } from "@tanstack/react-query"
import { type Session, type ShownInvitation, WacError } from "@wac/client/internal"
import * as MinLength from "../generated/MinLength.ts"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field } from "../ui/Field.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { pages } from "./Document.ts"
import { challengeIn, FactorForm, type Proof } from "./FactorForm.tsx"
import { tokenOfLink } from "./Link.ts"
import { PasswordForm } from "./PasswordForm.tsx"
import { api } from "./Service.ts"
import { Outside } from "./SignIn.tsx"

const withArticle = (role: ShownInvitation["role"]): string => `${/^[aeio]/.test(role) ? "an" : "a"} ${role}`

const isGone = (error: unknown): boolean => error instanceof WacError && error.param === "token"

const JoinForm = (
  { invitation, onDone }: { readonly invitation: ShownInvitation; readonly onDone: (session: Session) => void }
) => {
  const join = (password: string, proof: Proof = {}) =>
    api.members.accept({ token: tokenOfLink(), ...(password === "" ? {} : { password }), ...proof })
  const onJoined = (session: Session) => {
    history.replaceState(null, "", pages)
    onDone(session)
  }
  const accept = useMutation({ mutationFn: (password: string) => join(password), onSuccess: onJoined })
  const challenge = challengeIn(accept.error)
  if (challenge !== undefined) {
    return (
      <FactorForm
        challenge={challenge}
        // one request has all proofs, because a person without a workspace cannot sign in first
        send={(proof) => join(accept.variables ?? "", proof)}
        onBack={() => accept.reset()}
        onDone={onJoined}
      />
    )
  }
  return (
    <>
      <p className="text-muted">
        {invitation.invitedBy ?? "The operator"} invites you ({invitation.email}) to become{" "}
        {withArticle(invitation.role)} of {invitation.workspaceName}. The link works once.
      </p>
      <PasswordForm isPending={accept.isPending} onSubmit={(form) => accept.mutate(String(form.get("password")))}>
        <Field
          label="Password"
          hint={`Choose one, of at least ${MinLength.acceptInvitationPassword} characters. If you have an account here already, this is its password; leave it empty if you are signed in.`}
          error={accept.error}
          param="password"
        >
          {(control) => (
            <input {...control} name="password" type="password" autoComplete="current-password" className="field" />
          )}
        </Field>
        <Failure error={elsewhere(accept.error, "password")} />
        <Button look="primary" type="submit" isPending={accept.isPending} className="w-full">Join</Button>
      </PasswordForm>
    </>
  )
}

export const InvitationPage = ({ onDone }: { readonly onDone: (session: Session) => void }) => {
  const query = useQuery({
    queryKey: ["invitation"],
    queryFn: ({ signal }) => api.members.showInvitation({ token: tokenOfLink() }, { signal }),
    // each request with an invalid token counts against the client's address
    staleTime: Number.POSITIVE_INFINITY,
    retry: false
  })
  return (
    <Outside title="Join a workspace">
      {isGone(query.error)
        ? (
          <Notice tone="warn" role="alert">
            This invitation is no longer valid: it was used or withdrawn, or it has expired. Ask for another, or{" "}
            <a href={pages} className="underline">sign in</a>.
          </Notice>
        )
        : (
          <Loaded query={query} lines={3}>
            {(invitation) => <JoinForm invitation={invitation} onDone={onDone} />}
          </Loaded>
        )}
    </Outside>
  )
}
