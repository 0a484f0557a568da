/** The page that creates the first workspace and its owner, opened by the one-time link in the service's log. */
import { useMutation } from "@tanstack/react-query"
import type { Session } from "@wac/client/internal"
import * as MaxLength from "../generated/MaxLength.ts"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, emailInput, Field } from "../ui/Field.tsx"
import { isSetUp, pages } from "./Document.ts"
import { PasswordField, PasswordForm } from "./PasswordForm.tsx"
import { api } from "./Service.ts"
import { Outside } from "./SignIn.tsx"

export const SetUpPage = ({ onDone }: { readonly onDone: (session: Session) => void }) => {
  const setUp = useMutation({
    mutationFn: (form: FormData) =>
      api.session.setUp({
        // the fragment of the address, which browsers do not send
        token: location.hash.slice(1),
        email: String(form.get("email")),
        password: String(form.get("password")),
        workspaceName: String(form.get("workspaceName"))
      }),
    onSuccess: (session) => {
      history.replaceState(null, "", `${pages}/start`)
      onDone(session)
    }
  })
  if (isSetUp === true) {
    return (
      <Outside title="Already set up">
        <p>This service is already set up. The set-up link can be used only once.</p>
        <a href={pages} className={buttonClass("primary")}>Sign in</a>
        <p className="text-[13px] text-muted">
          For a lost password, the operator of the service has a command:{" "}
          <code className="font-mono">wac members reset-password</code>
        </p>
      </Outside>
    )
  }
  const error = setUp.error
  return (
    <Outside title="Set up wac">
      <p className="text-muted">Create the first workspace and its owner. The link works once.</p>
      <PasswordForm isPending={setUp.isPending} onSubmit={(form) => setUp.mutate(form)}>
        <Field label="Workspace" error={error} param="workspaceName">
          {(control) => (
            <input
              {...control}
              name="workspaceName"
              required
              maxLength={MaxLength.setUpWorkspaceName}
              autoComplete="organization"
              className="field"
            />
          )}
        </Field>
        <Field label="E-mail" error={error} param="email">
          {(control) => (
            <input {...control} name="email" {...emailInput} required autoComplete="username" className="field" />
          )}
        </Field>
        <PasswordField isNew error={error} />
        <Failure error={elsewhere(error, "workspaceName", "email", "password")} />
        <Button look="primary" type="submit" isPending={setUp.isPending} className="w-full">Create</Button>
      </PasswordForm>
    </Outside>
  )
}
