/** The form around a password field, and the field. */
import type { ReactNode } from "react"
import * as MinLength from "../generated/MinLength.ts"
import { Field } from "../ui/Field.tsx"

/**
 * A form that passes its fields to `onSubmit`, unless a submission is pending. Its method is POST, so that no password
 * gets into an address even if the script fails.
 */
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

/**
 * The field for the person's password or, if `isNew`, for a new one. It is submitted as `password`, and shows an error
 * of that parameter.
 */
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
