/** The second step of a sign-in: a code, once the password was right. */
import { useMutation } from "@tanstack/react-query"
import { type Session, WacError } from "@wac/client/internal"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere } from "../ui/Field.tsx"
import { CodeField } from "./CodeField.tsx"
import { PasswordForm } from "./PasswordForm.tsx"
import { api } from "./Service.ts"

/** The challenge of a sign-in that needs a second factor; `undefined` for another error. */
export const challengeIn = (error: unknown): string | undefined =>
  error instanceof WacError && error.reason === "second_factor_required" ? error.challenge : undefined

/** `onBack` begins the sign-in again: a challenge does not last. */
export const FactorForm = ({ challenge, onBack, onDone }: {
  readonly challenge: string
  readonly onBack: () => void
  readonly onDone: (session: Session) => void
}) => {
  const end = useMutation({
    mutationFn: (form: FormData) => api.session.endSignIn({ challenge, code: String(form.get("code")) }),
    onSuccess: onDone
  })
  return (
    <PasswordForm isPending={end.isPending} onSubmit={(form) => end.mutate(form)}>
      <CodeField error={end.error} />
      <Failure error={elsewhere(end.error, "code")} />
      <Button look="primary" type="submit" isPending={end.isPending} className="w-full">Continue</Button>
      <Button onClick={onBack} className="w-full">Begin again</Button>
    </PasswordForm>
  )
}
