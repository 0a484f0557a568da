/** The field for the customer who gets a message: a phone number or a user id. */
import { TextField } from "../ui/Field.tsx"

export const ToField = (
  props: {
    readonly label: string
    readonly hint: string
    readonly error: unknown
    readonly value: string
    readonly onChange: (value: string) => void
  }
) => <TextField {...props} param="to" type="text" required placeholder="+15551234567" className="tabular-nums" />
