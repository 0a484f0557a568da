/** The fields for the buttons of a template. */
import { placeholdersOf } from "@wac/core/templates/Placeholders"
import * as MaxItems from "../generated/MaxItems.ts"
import * as MaxLength from "../generated/MaxLength.ts"
import { Button } from "../ui/Button.tsx"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field, TextField } from "../ui/Field.tsx"
import { type ButtonDraft, type ButtonField, buttonFields, type ButtonKind } from "./Draft.ts"

const kinds: ReadonlyArray<readonly [kind: ButtonKind, name: string]> = [
  ["QUICK_REPLY", "Quick reply"],
  ["URL", "Opens a page"],
  ["PHONE_NUMBER", "Calls a number"],
  ["COPY_CODE", "Copies an offer code"],
  ["VOICE_CALL", "Calls you in the app"],
  ["FLOW", "Opens a flow"],
  ["CATALOG", "Shows the catalogue"],
  ["MPM", "Shows several products"],
  ["SPM", "Shows one product"]
]

interface FieldWords {
  readonly label: string
  readonly maxLength: number
  readonly hint?: string
  readonly placeholder?: string
}

const words: { readonly [Field in ButtonField]: FieldWords } = {
  text: { label: "Label", maxLength: MaxLength.buttonComponentText },
  url: {
    label: "Address",
    maxLength: MaxLength.buttonComponentUrl,
    hint: "It may end with {{1}}, which each message fills.",
    placeholder: "https://shop.example/orders/{{1}}"
  },
  phone_number: {
    label: "Phone number",
    maxLength: MaxLength.buttonComponentPhoneNumber,
    placeholder: "+15551234567"
  },
  example: { label: "Example", maxLength: MaxLength.buttonComponentExample },
  flow_id: { label: "Id of the flow", maxLength: MaxLength.buttonComponentFlowId }
}

/** The fields of a button: the address's example too, once it has a placeholder. */
const fieldsOf = ({ kind, values }: ButtonDraft): ReadonlyArray<ButtonField> =>
  kind === "URL" && placeholdersOf(values.url ?? "").length > 0
    ? [...buttonFields.URL, "example"]
    : buttonFields[kind]

export const ButtonFields = (
  { buttons, error, onChange, path }: {
    readonly buttons: ReadonlyArray<ButtonDraft>
    readonly onChange: (buttons: ReadonlyArray<ButtonDraft>) => void
    readonly error: unknown
    /** The path of the list in the request. */
    readonly path: string
  }
) => {
  const change = (key: number, changes: Partial<ButtonDraft>) =>
    onChange(buttons.map((button) => button.key === key ? { ...button, ...changes } : button))
  const shown = buttons.flatMap((button, i) => ["type", ...fieldsOf(button)].map((field) => `${path}[${i}].${field}`))
  const ofList = elsewhere(error, path) === null ? elsewhere(error, ...shown) : null
  return (
    <fieldset className="space-y-3">
      <legend className="mb-1 font-medium">Buttons</legend>
      {buttons.map((button, i) => (
        <fieldset key={button.key} className="space-y-3 rounded-md border border-line p-3">
          <legend className="px-1 text-[13px] text-muted">Button {i + 1}</legend>
          <Field label="Kind" error={error} param={`${path}[${i}].type`}>
            {(control) => (
              <select
                {...control}
                className="field"
                value={button.kind}
                onChange={(event) => change(button.key, { kind: event.target.value as ButtonKind, rest: {} })}
              >
                {kinds.map(([kind, name]) => <option key={kind} value={kind}>{name}</option>)}
              </select>
            )}
          </Field>
          {fieldsOf(button).map((field) => {
            const { hint, label, maxLength, placeholder } = words[field]
            return (
              <TextField
                key={field}
                label={label}
                error={error}
                param={`${path}[${i}].${field}`}
                {...(hint === undefined ? {} : { hint })}
                required
                maxLength={maxLength}
                placeholder={placeholder}
                value={button.values[field] ?? ""}
                onChange={(text) => change(button.key, { values: { ...button.values, [field]: text } })}
              />
            )
          })}
          <Button small onClick={() => onChange(buttons.filter(({ key }) => key !== button.key))}>
            Remove button {i + 1}
          </Button>
        </fieldset>
      ))}
      <Failure error={ofList} />
      <Button
        small
        refusal={buttons.length < MaxItems.buttonsComponentButtons
          ? undefined
          : `A template has at most ${MaxItems.buttonsComponentButtons} buttons.`}
        onClick={() =>
          onChange([...buttons, {
            key: Math.max(-1, ...buttons.map(({ key }) => key)) + 1,
            kind: "QUICK_REPLY",
            values: {},
            rest: {}
          }])}
      >
        Add a button
      </Button>
    </fieldset>
  )
}
