/**
 * The fields for what fills the placeholders of a campaign's template: a column of the file, or the same text for
 * everyone.
 */
import type { TemplateDetail } from "@wac/client/internal"
import * as MaxLength from "../generated/MaxLength.ts"
import { placeholderParams } from "../templates/Names.ts"
import { Field, TextField } from "../ui/Field.tsx"
import { Problem } from "../ui/Problem.ts"
import { fallbackOf, type Filling, type Fillings } from "./Draft.ts"

/** The filling for a chosen option of the field. */
const chosenBy = (option: string, before: Filling): Filling =>
  option === "kept" ? before : option === "text" ? { by: "text", text: "" } : { by: "column", column: option.slice(1) }

/** The option for a column; its prefix keeps it apart from the other options. */
const optionOf = (column: string): string => `c${column}`

const Choice = (
  { columns, error, filling, label, onChange, param }: {
    readonly label: string
    readonly param: string
    readonly error: unknown
    readonly columns: ReadonlyArray<string>
    readonly filling: Filling
    readonly onChange: (filling: Filling) => void
  }
) => {
  const missing = filling.by === "column" && !columns.includes(filling.column) ? filling.column : undefined
  return (
    <Field
      label={label}
      param={param}
      error={missing === undefined
        ? error
        : new Problem(
          param,
          `The file has no column “${missing}” that can fill this placeholder. Choose another one.`
        )}
    >
      {(control) => (
        <select
          {...control}
          className="field"
          value={filling.by === "column" ? optionOf(filling.column) : filling.by}
          onChange={({ target }) => onChange(chosenBy(target.value, filling))}
        >
          <option value="text">The same text for everyone</option>
          {filling.by === "kept" ? <option value="kept">As it is: {fallbackOf(filling.value)}</option> : null}
          {missing === undefined ? null : <option value={optionOf(missing)}>Column {missing}, which is missing</option>}
          {columns.map((column) => <option key={column} value={optionOf(column)}>Column {column}</option>)}
        </select>
      )}
    </Field>
  )
}

export const TemplateValues = (
  { columns, error, fillings, of = "", onChange, param, template }: {
    readonly template: TemplateDetail
    /** The template's field in the API. */
    readonly param: string
    /** An error of the whole form, of which each field shows what is about it. */
    readonly error: unknown
    /** The columns that can fill placeholders. */
    readonly columns: ReadonlyArray<string>
    /** What fills each placeholder. */
    readonly fillings: Fillings
    /** A suffix of the labels, which keeps these fields apart from those of another template. */
    readonly of?: string
    readonly onChange: (variable: string, filling: Filling) => void
  }
) => {
  const params = placeholderParams(template, param)
  return (
    <>
      {Object.entries(fillings).map(([variable, filling]) => {
        const place = params[template.variables.indexOf(variable)]!
        return (
          <div key={`${template.name} ${template.language} ${variable}`} className="grid gap-3 sm:grid-cols-2">
            <Choice
              label={`Placeholder ${variable}${of}`}
              param={place}
              error={filling.by === "text" ? undefined : error}
              columns={columns}
              filling={filling}
              onChange={(filling) => onChange(variable, filling)}
            />
            {filling.by === "text"
              ? (
                <TextField
                  label={`Text for ${variable}${of}`}
                  error={error}
                  param={place}
                  required
                  maxLength={MaxLength.templateValue}
                  value={filling.text}
                  onChange={(text) => onChange(variable, { by: "text", text })}
                />
              )
              : null}
          </div>
        )
      })}
    </>
  )
}
