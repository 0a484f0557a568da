/** The field for a code of the second factor. It is submitted as `code`. */
import * as MaxLength from "../generated/MaxLength.ts"
import { Field } from "../ui/Field.tsx"

export const CodeField = ({ error, isFirst = false }: { readonly error?: unknown; readonly isFirst?: boolean }) => (
  <Field
    label="Code"
    hint={isFirst ? "The six digits that your app shows now." : "From your authenticator app, or a recovery code."}
    error={error}
    param="code"
  >
    {(control) => (
      <input
        {...control}
        name="code"
        required
        autoFocus={!isFirst}
        autoComplete="one-time-code"
        autoCapitalize="none"
        spellCheck={false}
        inputMode={isFirst ? "numeric" : "text"}
        maxLength={MaxLength.endSignInCode}
        className="field tabular-nums"
      />
    )}
  </Field>
)
