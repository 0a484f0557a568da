/** Forms with a password, and the field that it is written into. */
import type { ReactNode } from "react"
import * as MinLength from "../generated/MinLength.ts"
import { Field } from "../ui/Field.tsx"

/** By POST: even if a script fails, no password gets into an address. Submits what is filled in, once at a time. */
export const PasswordForm = ({ children, isPending, onSubmit }: {
  readonly isPending: boolean
  readonly onSubmit: (form: FormData) => void
  readonly children: ReactNode
}) => (
  <form
    method="post"
    className="space-y-4"
    onSubmit={(event) => {
      event.preventDefault()
      if (!isPending) onSubmit(new FormData(event.currentTarget))
    }}
  >
    {children}
  </form>
)

/** The person's password; or a new one, which the service may find wrong. It is submitted as `password`. */
export const PasswordField = ({ error, isNew = false, label = "Password" }: {
  readonly label?: string
  readonly isNew?: boolean
  readonly error?: unknown
}) => (
  <Field
    label={label}
    hint={isNew ? `At least ${MinLength.setUpPassword} characters.` : undefined}
    error={error}
    param="password"
  >
    {(control) => (
      <input
        {...control}
        name="password"
        type="password"
        required
        minLength={isNew ? MinLength.setUpPassword : undefined}
        autoComplete={isNew ? "new-password" : "current-password"}
        className="field"
      />
    )}
  </Field>
)
