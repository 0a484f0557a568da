/** A lost password: the form that requests a link by mail, and the page of the link, which sets a new password. */
import { useMutation } from "@tanstack/react-query"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, emailInput, Field } from "../ui/Field.tsx"
import { Notice } from "../ui/Notice.tsx"
import { pages, sendsMail } from "./Document.ts"
import { tokenOfLink } from "./Link.ts"
import { PasswordField, PasswordForm } from "./PasswordForm.tsx"
import { api } from "./Service.ts"
import { Outside } from "./SignIn.tsx"

/** The page of the link, which sets a new password. */
export const PasswordResetPage = () => {
  const reset = useMutation({
    mutationFn: (form: FormData) =>
      api.account.resetPassword({ token: tokenOfLink(), password: String(form.get("password")) })
  })
  return (
    <Outside title="Choose another password">
      {reset.isSuccess
        ? (
          <>
            <Notice tone="good" role="status">Your password was changed, and all your sessions have ended.</Notice>
            <a href={pages} className={buttonClass("primary")}>Sign in</a>
          </>
        )
        : (
          <PasswordForm isPending={reset.isPending} onSubmit={(form) => reset.mutate(form)}>
            <PasswordField label="New password" isNew error={reset.error} />
            <Failure error={elsewhere(reset.error, "password")} />
            <Button look="primary" type="submit" isPending={reset.isPending} className="w-full">Set password</Button>
          </PasswordForm>
        )}
    </Outside>
  )
}

/** The form that requests the link; if the service sends no mail, it shows the operator's command instead. */
export const LostPassword = () => {
  const request = useMutation({
    mutationFn: (form: FormData) => api.account.requestPasswordReset({ email: String(form.get("email")) })
  })
  return (
    <details className="text-[13px]">
      <summary className="text-muted underline">Lost your password?</summary>
      <div className="mt-3 space-y-3">
        {!sendsMail
          ? (
            <Notice>
              This service sends no mail. Its operator has a command:{" "}
              <code className="font-mono">wac members reset-password</code>
            </Notice>
          )
          : request.isSuccess
          ? <Notice role="status">If there is an account with this address, a link is on its way to it.</Notice>
          : (
            <form
              className="space-y-3"
              onSubmit={(event) => {
                event.preventDefault()
                if (!request.isPending) request.mutate(new FormData(event.currentTarget))
              }}
            >
              <Field label="E-mail of your account" error={request.error} param="email">
                {(control) => (
                  <input {...control} name="email" {...emailInput} required autoComplete="username" className="field" />
                )}
              </Field>
              <Failure error={elsewhere(request.error, "email")} />
              <Button type="submit" isPending={request.isPending}>Send a link</Button>
            </form>
          )}
      </div>
    </details>
  )
}
