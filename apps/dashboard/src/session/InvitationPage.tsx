/** Becoming a member of a workspace, by the link of an invitation. */
import { useMutation } from "@tanstack/react-query"
import type { Session } from "@wac/client/internal"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field } from "../ui/Field.tsx"
import { tokenOfLink } from "./Link.ts"
import { PasswordForm } from "./PasswordForm.tsx"
import { api, pages } from "./Service.ts"
import { Outside } from "./SignIn.tsx"

export const InvitationPage = ({ onDone }: { readonly onDone: (session: Session) => void }) => {
  const accept = useMutation({
    mutationFn: (form: FormData) => {
      const password = String(form.get("password"))
      return api.members.accept({ token: tokenOfLink(), ...(password === "" ? {} : { password }) })
    },
    onSuccess: (session) => {
      history.replaceState(null, "", pages)
      onDone(session)
    }
  })
  return (
    <Outside title="Join a workspace">
      <p className="text-muted">You were invited to a workspace. The link works once.</p>
      <PasswordForm isPending={accept.isPending} onSubmit={(form) => accept.mutate(form)}>
        <Field
          label="Password"
          hint="Choose one, of at least 8 characters. If you have an account here already, this is its password; leave it empty if you are signed in."
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
    </Outside>
  )
}
