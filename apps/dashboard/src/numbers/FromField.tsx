/** The choice of the number that something is sent from, where a workspace has more than one. */
import { useQuery } from "@tanstack/react-query"
import { Field } from "../ui/Field.tsx"
import { phoneNumbersQuery } from "./Queries.ts"

export const FromField = ({ error, label = "From", onChange, param = "from", value }: {
  /** The number's id; empty for the default number. */
  readonly value: string
  readonly onChange: (id: string) => void
  readonly error: unknown
  readonly label?: string
  /** The name that the service calls the field by. */
  readonly param?: string
}) => {
  const { data = [] } = useQuery(phoneNumbersQuery)
  return data.length < 2 ? null : (
    <Field label={label} error={error} param={param}>
      {(control) => (
        <select
          {...control}
          className="field"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          <option value="">The default number</option>
          {data.map(({ id, phoneNumber }) => <option key={id} value={id}>{phoneNumber}</option>)}
        </select>
      )}
    </Field>
  )
}
