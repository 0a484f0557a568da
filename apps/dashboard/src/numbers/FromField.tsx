/** The field for the phone number to send from; it is shown only if the workspace has more than one number. */
import { useQuery } from "@tanstack/react-query"
import { Field } from "../ui/Field.tsx"
import { phoneNumbersQuery } from "./Queries.ts"

export const FromField = ({ error, label = "From", onChange, param = "from", value }: {
  /** The number, by id or in E.164; empty for the default number. */
  readonly value: string
  readonly onChange: (number: string) => void
  readonly error: unknown
  readonly label?: string
  /** The field's name in the API, to which errors refer. */
  readonly param?: string
}) => {
  const { data } = useQuery(phoneNumbersQuery)
  if (data === undefined) return null
  const isKnown = value === "" || data.some(({ id, phoneNumber }) => value === id || value === phoneNumber)
  return data.length < 2 && isKnown ? null : (
    <Field label={label} error={error} param={param}>
      {(control) => (
        <select
          {...control}
          className="field"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          <option value="">The default number</option>
          {isKnown ? null : <option value={value}>{value}</option>}
          {data.map(({ id, phoneNumber }) => (
            <option key={id} value={value === phoneNumber ? phoneNumber : id}>{phoneNumber}</option>
          ))}
        </select>
      )}
    </Field>
  )
}
