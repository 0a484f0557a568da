/** The first workspace and its owner, by the one-time link that the log shows. */
import { useMutation } from "@tanstack/react-query"
import type { Session } from "@wac/client/internal"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field } from "../ui/Field.tsx"
import { api, isSetUp, pages } from "./Service.ts"
import { Outside } from "./SignIn.tsx"

export const SetUpPage = ({ onDone }: { readonly onDone: (session: Session) => void }) => {
  const setUp = useMutation({
    mutationFn: (form: FormData) =>
      api.session.setUp({
        // browsers send the fragment of an address to nobody
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
        <p>This service has its workspace and its owner. The set-up link works once.</p>
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
      <form
        method="post"
        className="space-y-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!setUp.isPending) setUp.mutate(new FormData(event.currentTarget))
        }}
      >
        <Field label="Workspace" error={error} param="workspaceName">
          {(control) => (
            <input
              {...control}
              name="workspaceName"
              required
              maxLength={100}
              autoComplete="organization"
              className="field"
            />
          )}
        </Field>
        <Field label="E-mail" error={error} param="email">
          {(control) => (
            <input {...control} name="email" type="email" required autoComplete="username" className="field" />
          )}
        </Field>
        <Field label="Password" hint="At least 8 characters." error={error} param="password">
          {(control) => (
            <input
              {...control}
              name="password"
              type="password"
              required
              minLength={8}
              autoComplete="new-password"
              className="field"
            />
          )}
        </Field>
        <Failure error={elsewhere(error, "workspaceName", "email", "password")} />
        <Button look="primary" type="submit" isPending={setUp.isPending} className="w-full">Create</Button>
      </form>
    </Outside>
  )
}
